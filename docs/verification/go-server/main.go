// go get github.com/standard-webhooks/standard-webhooks/libraries/go
package main

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil || len(secret) < 38 { // the library takes an empty secret, with which anyone could sign
		log.Fatal("WEBHOOK_SECRET is not set to a secret")
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1_000_000))
		if err != nil || webhook.Verify(body, r.Header) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Println(string(body)) // store the event here, and work on it later
		w.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe(":"+cmp.Or(os.Getenv("PORT"), "8080"), nil))
}
