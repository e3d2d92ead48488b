// go get github.com/standard-webhooks/standard-webhooks/libraries/go
package receiver

import (
	"io"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Receive returns the body of a callback once it is verified.
func Receive(request *http.Request) ([]byte, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		return nil, err
	}
	return body, webhook.Verify(body, request.Header)
}
