// A full cycle with the client that openapi-generator makes for Go: prints one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"

	"example.com/filings/client"
)

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Getenv("API_URL")}}
	api := client.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), client.ContextAccessToken, os.Getenv("API_TOKEN"))

	account := client.NewPutAccountInput(os.Getenv("PARTNER_URL"), "sandbox-key")
	saved, _, err := api.AccountsAPI.PutAccount(ctx, "made-in-go").PutAccountInput(*account).Execute()
	check(err)

	wanted := client.NewCreateSubscriptionInput("https://example.com/go")
	wanted.SetEventTypes([]string{"filing.rejected"})
	wanted.SetEnabled(false)
	made, _, err := api.SubscriptionsAPI.CreateSubscription(ctx, "default").CreateSubscriptionInput(*wanted).Execute()
	check(err)

	listed, _, err := api.SubscriptionsAPI.ListSubscriptions(ctx, "default").Execute()
	check(err)
	isListed := false
	for _, one := range listed.Items {
		isListed = isListed || one.Id == made.Id
	}

	change := client.NewUpdateSubscriptionInput()
	change.SetDescription("changed")
	changed, _, err := api.SubscriptionsAPI.UpdateSubscription(ctx, "default", made.Id).UpdateSubscriptionInput(*change).Execute()
	check(err)

	events, _, err := api.EventsAPI.ListEvents(ctx, "default").Types("filing.rejected").Execute()
	check(err)
	rejections := []string{}
	for _, event := range events.Items {
		if event.FilingRejectedEvent != nil {
			rejections = append(rejections, event.FilingRejectedEvent.Data.GetRejectionReason())
		}
	}

	_, response, err := api.SubscriptionsAPI.GetSubscription(ctx, "default", "sub_00000000000000000000000000000000").Execute()
	var failure *client.GenericOpenAPIError
	if !errors.As(err, &failure) {
		log.Fatalf("the error has no body: %v", err)
	}
	problem := failure.Model().(client.Problem)

	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"account":     saved.Account,
		"hasSecret":   made.GetSecret() != "",
		"isListed":    isListed,
		"description": changed.GetDescription(),
		"rejections":  rejections,
		"error":       []any{response.StatusCode, problem.Code},
	}))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
