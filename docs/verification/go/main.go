// go run main.go HEADERS_FILE BODY_FILE, with the secret in WEBHOOK_SECRET
package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const tolerance = 5 * time.Minute

// verify returns an error unless body (the bytes as received) was signed with secret just now.
func verify(secret string, headers http.Header, body []byte) error {
	id := headers.Get("webhook-id")
	timestamp := headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if id == "" || err != nil {
		return errors.New("a webhook header is missing or malformed")
	}
	age := time.Since(time.Unix(int64(seconds), 0))
	if age > tolerance || age < -tolerance {
		return errors.New("the timestamp is more than five minutes away")
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) < 24 {
		return errors.New("the secret is not whsec_ and base64")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	// During a rotation there are several signatures, one for each secret.
	for _, given := range strings.Split(headers.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(given), expected) {
			return nil
		}
	}
	return errors.New("no signature matches")
}

func readHeaders(file string) (http.Header, error) {
	lines, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	headers := http.Header{}
	scanner := bufio.NewScanner(lines)
	for scanner.Scan() {
		if name, value, found := strings.Cut(scanner.Text(), ":"); found {
			headers.Set(name, strings.TrimSpace(value))
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
	return verify(os.Getenv("WEBHOOK_SECRET"), headers, body)
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "refused:", err)
		os.Exit(1)
	}
	fmt.Println("ok")
}
