"""A full cycle with the client that openapi-generator makes for Python: prints one line of JSON."""

import json
import os

import client

configuration = client.Configuration(host=os.environ["API_URL"], access_token=os.environ["API_TOKEN"])
with client.ApiClient(configuration) as api:
    accounts, subscriptions, events = client.AccountsApi(api), client.SubscriptionsApi(api), client.EventsApi(api)
    saved = accounts.put_account(
        "made-in-python", client.PutAccountInput(baseUrl=os.environ["PARTNER_URL"], partnerKey="sandbox-key")
    )
    made = subscriptions.create_subscription(
        "default",
        client.CreateSubscriptionInput(
            url="https://example.com/python", eventTypes=["filing.rejected"], enabled=False
        ),
    )
    listed = subscriptions.list_subscriptions("default")
    changed = subscriptions.update_subscription(
        "default", made.id, client.UpdateSubscriptionInput(description="changed")
    )
    rejected = [event.actual_instance for event in events.list_events("default", types="filing.rejected").items]
    try:
        subscriptions.get_subscription("default", "sub_00000000000000000000000000000000")
        error = None
    except client.ApiException as problem:
        error = [problem.status, problem.data.code]

print(
    json.dumps(
        {
            "account": saved.account,
            "hasSecret": isinstance(made.secret, str),
            "isListed": any(one.id == made.id for one in listed.items),
            "description": changed.description,
            "rejections": [event.data.rejection_reason for event in rejected if isinstance(event, client.FilingRejectedEvent)],
            "error": error,
        }
    )
)
