# pip install standardwebhooks
import os

from standardwebhooks import Webhook


def receive(headers: dict, body: bytes) -> dict:
    """The event of a callback; raises WebhookVerificationError. body is as received."""
    return Webhook(os.environ["WEBHOOK_SECRET"]).verify(body, headers)
