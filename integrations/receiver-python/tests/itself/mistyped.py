"""Each line here is a mistake that mypy has to find."""

from filing_webhooks import Event


def handle(event: Event) -> None:
    if event["type"] == "filing.rejectd":
        return
    if event["type"] == "ping":
        print(event["data"]["filingId"])
    if event["type"] == "filing.rejected":
        print(event["data"]["rejectionReason"].upper())
