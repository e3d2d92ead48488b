"""A receiver that mypy has to understand."""

import sqlite3
from typing import Optional

from filing_webhooks import Delivery, Event, FilingData, MemoryStore, Receiver


def handle(event: Event, delivery: Delivery) -> None:
    if event["type"] == "filing.rejected":
        data: FilingData = event["data"]
        reason: Optional[str] = data["rejectionReason"]
        connection: sqlite3.Connection = delivery.transaction
        connection.execute("insert into tasks values (?, ?)", (delivery.id, reason))
    elif event["type"] == "filing.stalled":
        since: str = event["data"]["stalled"]["since"]
        print(since)
    elif event["type"] == "subscription.fell_behind":
        events: int = event["data"]["events"]
        print(events)


Receiver(handle, secrets=["whsec_"], store=MemoryStore())
