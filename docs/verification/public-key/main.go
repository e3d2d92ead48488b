// go run main.go HEADERS_FILE BODY_FILE, with the public keys in WEBHOOK_PUBLIC_KEYS, separated by spaces
package main

import (
	"bufio"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const tolerance = 5 * time.Minute

// verify returns an error unless body (the bytes as received) was signed for one of keys just now. Header names are in
// lower case.
func verify(keys []string, headers map[string]string, body []byte) error {
	id := headers["webhook-id"]
	timestamp := headers["webhook-timestamp"]
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if id == "" || err != nil {
		return errors.New("a webhook header is missing or malformed")
	}
	age := time.Since(time.Unix(int64(seconds), 0))
	if age > tolerance || age < -tolerance {
		return errors.New("the timestamp is more than five minutes away")
	}
	signed := append([]byte(id+"."+timestamp+"."), body...)
	for _, text := range keys {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "whpk_"))
		if err != nil || len(key) != ed25519.PublicKeySize {
			return errors.New("a public key is not whpk_ and the base64 of 32 bytes")
		}
		// During a rotation there are several signatures, one for each key.
		for _, given := range strings.Split(headers["webhook-signature"], " ") {
			// Only v1a counts: whoever learnt a secret could make a v1.
			version, encoded, _ := strings.Cut(given, ",")
			signature, err := base64.StdEncoding.DecodeString(encoded)
			if version == "v1a" && err == nil && ed25519.Verify(key, signed, signature) {
				return nil
			}
		}
	}
	return errors.New("no signature matches")
}

func readHeaders(file string) (map[string]string, error) {
	lines, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	headers := map[string]string{}
	scanner := bufio.NewScanner(lines)
	for scanner.Scan() {
		if name, value, found := strings.Cut(scanner.Text(), ":"); found {
			headers[strings.ToLower(name)] = strings.TrimSpace(value)
		}
	}
	return headers, scanner.Err()
}

func run(headersFile, bodyFile string) error {
	headers, err := readHeaders(headersFile)
	if err != nil {
		return err
	}
	body, err := os.ReadFile(bodyFile)
	if err != nil {
		return err
	}
	return verify(strings.Fields(os.Getenv("WEBHOOK_PUBLIC_KEYS")), headers, body)
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "refused:", err)
		os.Exit(1)
	}
	fmt.Println("ok")
}
