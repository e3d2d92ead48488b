# pip install standardwebhooks
import os

from standardwebhooks import Webhook, WebhookVerificationError


def receive(headers: dict, body: bytes) -> dict:
    """The event of a callback; raises WebhookVerificationError. body is as received."""
    webhook = Webhook(os.environ["WEBHOOK_SECRET"])
    try:
        return webhook.verify(body, headers)
    except ValueError as error:  # a signature without a comma, a body that is not UTF-8
        raise WebhookVerificationError(str(error)) from error
