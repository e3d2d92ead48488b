// go get github.com/standard-webhooks/standard-webhooks/libraries/go
package receiver

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Callbacks are far smaller, unless the operator has raised FILING_MAX_BYTES.
const bodyBytesMax = 1 << 20

// Receive returns the body of a callback once it is verified.
func Receive(request *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(request.Body, bodyBytesMax+1))
	if err != nil {
		return nil, err
	}
	if len(body) > bodyBytesMax {
		return nil, errors.New("the body is too large")
	}
	// The library takes an empty secret, and then anybody could sign.
	secret := os.Getenv("WEBHOOK_SECRET")
	if len(secret) < 38 || !strings.HasPrefix(secret, "whsec_") {
		return nil, errors.New("WEBHOOK_SECRET is not set to a secret")
	}
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return nil, err
	}
	return body, webhook.Verify(body, request.Header)
}
