"""Receives the callbacks of filing-webhooks.

It verifies each callback, drops repeats and what is older than what was handled, calls your function, and answers so
that the daemon sends again what failed. It needs Python 3.9 and nothing else; signatures with public keys (v1a) need
the package `cryptography`. Copy this folder, or install it with pip.

    from filing_webhooks import Receiver, SqlStore

    def handle(event, delivery):
        if event["type"] == "filing.rejected":
            print(event["data"]["filingId"], event["data"]["rejectionReason"])

    receiver = Receiver(handle, secrets=["whsec_…"], store=SqlStore.sqlite("webhooks.db"))
    application = receiver.wsgi
"""

from __future__ import annotations

import argparse
import base64
import binascii
import contextlib
import decimal
import hashlib
import hmac
import http
import http.server
import json
import logging
import os
import random
import re
import sqlite3
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, replace
from typing import (
    Any,
    Callable,
    Iterable,
    Iterator,
    Literal,
    Mapping,
    Optional,
    Protocol,
    Sequence,
    TypedDict,
    Union,
)

__version__ = "0.1.0"

logger = logging.getLogger("filing_webhooks")

# Maximum seconds between the signature of a callback and its arrival.
TOLERANCE_SECONDS = 300
# Maximum bytes of a body; an event of an ordinary filing has about one kilobyte.
BODY_BYTES_MAX = 1 << 20
# Maximum number of signatures of one kind that are looked at, as many as the daemon sends: each costs work before
# anything is verified.
SIGNATURES_MAX = 5
# Days for which ids are remembered: longer than the daemon's log keeps events (EVENT_RETENTION_MS).
REMEMBERED_DAYS = 35

# --- Event types: written by generate.py ---


class Doubt(TypedDict):
    """Only in `account.doubtful`: the findings that are held back."""

    reason: str
    # Known filings before that poll.
    known: int
    # The known filings that its lists showed.
    shown: int
    # Filings on its lists that were never seen before.
    unknown: int
    # Known filings that answered 404 when last asked for.
    gone: int
    # Known filings of which `completedAt` has changed and the status has not.
    moved: int


class Late(TypedDict):
    """Only in `account.stale`, and only where polls wait for PARTNER_TOTAL_RPS."""

    reason: str
    waitedMs: int
    detail: str


class _AccountData(TypedDict):
    account: str
    # When everything was last read.
    lastCompletePollAt: Optional[str]
    # Why the last poll failed.
    lastError: Optional[str]


class AccountData(_AccountData, total=False):
    # The page of what the event is about. Missing where the daemon has no PUBLIC_URL.
    url: str
    # Only in `account.doubtful`: the findings that are held back.
    doubt: Doubt
    # Only in `account.stale`, and only where polls wait for PARTNER_TOTAL_RPS.
    late: Late


class AccountAuthFailedEvent(TypedDict):
    """The partner service refuses the key of the account."""

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["account.auth_failed"]
    # When the change was seen.
    timestamp: str
    data: AccountData


class _AccountCertificateExpiringData(TypedDict):
    account: str
    subscription: str
    # Origin of the URL that is called.
    endpoint: str
    # `cert`: the one that callbacks show; `ca`: the first to end of the authorities.
    certificate: Literal["cert", "ca"]
    # Null where the settings cannot be opened.
    subject: Optional[str]
    # When it ends.
    notAfter: str
    # Whether it has ended.
    expired: bool


class AccountCertificateExpiringData(_AccountCertificateExpiringData, total=False):
    # The page of what the event is about. Missing where the daemon has no PUBLIC_URL.
    url: str


class AccountCertificateExpiringEvent(TypedDict):
    """A certificate of a subscription, or of the authorities that it trusts, ends within 30 days; and once
    more when it has ended.
    """

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["account.certificate_expiring"]
    # When the change was seen.
    timestamp: str
    data: AccountCertificateExpiringData


class Counts(TypedDict):
    """Numbers of rejections, and of endpoints."""

    # Filings that are rejected and not answered.
    open: int
    # Those that have become so since the digest before, of the 5 000 most urgent.
    new: int
    # Those that are past their due date, of the 5 000 most urgent.
    overdue: int
    # Those that nobody has seen, of the 5 000 most urgent.
    unseen: int
    # Rejected filings that a later one answers.
    answered: int
    # Open ones that no subscription has acknowledged, of the 5 000 most urgent.
    toldToNobody: int
    # Subscriptions whose endpoint fails, or that were disabled for it.
    failingEndpoints: int


class Rejections(TypedDict):
    filingId: str
    policyNumber: Optional[str]
    insuredsName: Optional[str]
    stateAbbr: Optional[str]
    # At most 300 characters of it.
    rejectionReason: Optional[str]
    # Since when it is rejected, as far as polls can tell.
    since: str
    # When it is due by the account's `due`; null for never.
    dueAt: Optional[str]
    # Whether somebody has seen it.
    seen: bool


class _AccountDigestData(TypedDict):
    account: str
    # The local date.
    date: str
    # When the digest before was made; null for the first.
    since: Optional[str]
    # When everything was last read.
    asOf: str
    # Numbers of rejections, and of endpoints.
    counts: Counts
    # The most urgent of them, at most 50: those that are due first, then those that wait for longest.
    rejections: list[Rejections]


class AccountDigestData(_AccountDigestData, total=False):
    # The page of what the event is about. Missing where the daemon has no PUBLIC_URL.
    url: str


class AccountDigestEvent(TypedDict):
    """The time of day of the account's `digest` has come: what is rejected, and what is new since the digest
    before. Once a local day.
    """

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["account.digest"]
    # When the change was seen.
    timestamp: str
    data: AccountDigestData


class AccountDoubtfulEvent(TypedDict):
    """What polls find is not believed to be the account's own, and is held back until it is, or until the
    operator accepts it.
    """

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["account.doubtful"]
    # When the change was seen.
    timestamp: str
    data: AccountData


class AccountRecoveredEvent(TypedDict):
    """Polls complete again, and nothing is held back."""

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["account.recovered"]
    # When the change was seen.
    timestamp: str
    data: AccountData


class AccountStaleEvent(TypedDict):
    """For several poll intervals no poll could be completed."""

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["account.stale"]
    # When the change was seen.
    timestamp: str
    data: AccountData


class Observed(TypedDict):
    """When the change happened, as far as polls can tell."""

    # The filing was still as before then.
    notBefore: str
    # The change was seen then.
    notAfter: str


class _Filing(TypedDict):
    id: str
    status: str


class Filing(_Filing, total=False):
    """The filing exactly as the partner service returned it; null in filing.removed; left out with the payload
    `thin`, and where `omitted` says why.
    """

    filingType: Any
    policyNumber: Any
    insuredsName: Any
    carriersName: Any
    premium: Any
    filingState: Any


class Details(TypedDict):
    """Only with `not_kept`: what is kept of the filing; null for COMPLETED filings."""

    policyNumber: Optional[str]
    insuredsName: Optional[str]
    stateAbbr: Optional[str]
    filingType: Optional[str]
    premium: Optional[float]
    carriersName: Optional[str]
    createdAt: Optional[str]
    policyEffectiveDate: Optional[str]
    endorsementEffectiveDate: Optional[str]
    endorsementNumber: Optional[str]


class _FilingData(TypedDict):
    account: str
    filingId: str
    # As the partner service wrote it.
    status: str
    # Null in filing.created.
    previousStatus: Optional[str]
    rejectionReason: Optional[str]
    completedAt: Optional[str]
    # Counts the events of this filing from 1 without gaps.
    sequence: int
    # What differs from before: `status`, `completedAt`, `rejectionReason`; later versions may name more.
    changed: list[str]
    # When the change happened, as far as polls can tell.
    observed: Observed
    # True where what was seen proves a round trip that no poll saw.
    inferred: bool


class FilingData(_FilingData, total=False):
    # The page of what the event is about. Missing where the daemon has no PUBLIC_URL.
    url: str
    # In filing.resubmitted, and in other events of a rejection that is answered: the filing that answers it.
    # Null = none does any more.
    answeredBy: Optional[str]
    # By the account's `due`; null where the filing has no date or its state no rule, and of a COMPLETED
    # filing that was not read for the event. Only where the account has `due`.
    dueAt: Optional[str]
    # The filing exactly as the partner service returned it; null in filing.removed; left out with the payload
    # `thin`, and where `omitted` says why.
    filing: Optional[Filing]
    # Why an event has no `filing`, whatever the payload: it is larger than FILING_MAX_BYTES or has more than
    # 50 000 values, or the other fields are larger than 128 KiB and were cut; or (`not_kept`, in
    # filing.snapshot) the log no longer holds the last event of the filing, or (in filing.resubmitted and
    # filing.noted) it was not read for the event.
    omitted: str
    # Only with `not_kept`: what is kept of the filing; null for COMPLETED filings.
    details: Optional[Details]


class FilingCompletedEvent(TypedDict):
    """The status became COMPLETED; or `completedAt` moved while it was, and `inferred` says whether that
    proves an unseen round trip.
    """

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.completed"]
    # When the change was seen.
    timestamp: str
    data: FilingData


class FilingCreatedEvent(TypedDict):
    """A filing was first seen, after the baseline; `previousStatus` is null."""

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.created"]
    # When the change was seen.
    timestamp: str
    data: FilingData


class Due(TypedDict):
    """The due date that comes near or is passed."""

    # The effective date and the account's `due` for the state.
    dueAt: str
    # Which of the `dueWarnings` this is: how long before, an ISO 8601 duration.
    threshold: str
    # Whether somebody has taken note of the present rejection.
    seen: bool


class _FilingDueData(TypedDict):
    account: str
    filingId: str
    # As the partner service wrote it.
    status: str
    # Null in filing.created.
    previousStatus: Optional[str]
    rejectionReason: Optional[str]
    completedAt: Optional[str]
    # Counts the events of this filing from 1 without gaps.
    sequence: int
    # What differs from before: `status`, `completedAt`, `rejectionReason`; later versions may name more.
    changed: list[str]
    # When the change happened, as far as polls can tell.
    observed: Observed
    # True where what was seen proves a round trip that no poll saw.
    inferred: bool
    # The due date that comes near or is passed.
    due: Due


class FilingDueData(_FilingDueData, total=False):
    # The page of what the event is about. Missing where the daemon has no PUBLIC_URL.
    url: str
    # In filing.resubmitted, and in other events of a rejection that is answered: the filing that answers it.
    # Null = none does any more.
    answeredBy: Optional[str]
    # By the account's `due`; null where the filing has no date or its state no rule, and of a COMPLETED
    # filing that was not read for the event. Only where the account has `due`.
    dueAt: Optional[str]
    # The filing exactly as the partner service returned it; null in filing.removed; left out with the payload
    # `thin`, and where `omitted` says why.
    filing: Optional[Filing]
    # Why an event has no `filing`, whatever the payload: it is larger than FILING_MAX_BYTES or has more than
    # 50 000 values, or the other fields are larger than 128 KiB and were cut; or (`not_kept`, in
    # filing.snapshot) the log no longer holds the last event of the filing, or (in filing.resubmitted and
    # filing.noted) it was not read for the event.
    omitted: str
    # Only with `not_kept`: what is kept of the filing; null for COMPLETED filings.
    details: Optional[Details]


class FilingDueEvent(TypedDict):
    """A filing that is not COMPLETED comes near its due date by the account's `due`, or passes it; once for
    each of `dueWarnings` and due date.
    """

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.due"]
    # When the change was seen.
    timestamp: str
    data: FilingDueData


class Note(TypedDict):
    """What a person noted."""

    by: str
    # `seen`: took note of the rejection; `undone`: took that back; `note`: wrote a note; `assigned`: assigned
    # the filing.
    kind: Literal["seen", "note", "assigned", "undone"]
    # What is done about it.
    text: Optional[str]
    # To whom the filing is assigned from now on; null = to nobody.
    assignee: Optional[str]


class _FilingNotedData(TypedDict):
    account: str
    filingId: str
    # As the partner service wrote it.
    status: str
    # Null in filing.created.
    previousStatus: Optional[str]
    rejectionReason: Optional[str]
    completedAt: Optional[str]
    # Counts the events of this filing from 1 without gaps.
    sequence: int
    # What differs from before: `status`, `completedAt`, `rejectionReason`; later versions may name more.
    changed: list[str]
    # When the change happened, as far as polls can tell.
    observed: Observed
    # True where what was seen proves a round trip that no poll saw.
    inferred: bool
    # What a person noted.
    note: Note


class FilingNotedData(_FilingNotedData, total=False):
    # The page of what the event is about. Missing where the daemon has no PUBLIC_URL.
    url: str
    # In filing.resubmitted, and in other events of a rejection that is answered: the filing that answers it.
    # Null = none does any more.
    answeredBy: Optional[str]
    # By the account's `due`; null where the filing has no date or its state no rule, and of a COMPLETED
    # filing that was not read for the event. Only where the account has `due`.
    dueAt: Optional[str]
    # The filing exactly as the partner service returned it; null in filing.removed; left out with the payload
    # `thin`, and where `omitted` says why.
    filing: Optional[Filing]
    # Why an event has no `filing`, whatever the payload: it is larger than FILING_MAX_BYTES or has more than
    # 50 000 values, or the other fields are larger than 128 KiB and were cut; or (`not_kept`, in
    # filing.snapshot) the log no longer holds the last event of the filing, or (in filing.resubmitted and
    # filing.noted) it was not read for the event.
    omitted: str
    # Only with `not_kept`: what is kept of the filing; null for COMPLETED filings.
    details: Optional[Details]


class FilingNotedEvent(TypedDict):
    """A person took note of a filing, took that back, wrote a note or assigned the filing. Only subscriptions
    with `filing.noted` or `*` get it: `filing.*` leaves it out.
    """

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.noted"]
    # When the change was seen.
    timestamp: str
    data: FilingNotedData


class FilingPaidEvent(TypedDict):
    """The status became PAID."""

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.paid"]
    # When the change was seen.
    timestamp: str
    data: FilingData


class FilingPendingEvent(TypedDict):
    """The status became PENDING."""

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.pending"]
    # When the change was seen.
    timestamp: str
    data: FilingData


class FilingRejectedEvent(TypedDict):
    """The status became REJECTED; or `rejectionReason` moved while it was, or `completedAt`, which proves an
    unseen round trip (`inferred`).
    """

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.rejected"]
    # When the change was seen.
    timestamp: str
    data: FilingData


class FilingRemovedEvent(TypedDict):
    """The partner service no longer knows the filing: it answered 404 on two polls."""

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.removed"]
    # When the change was seen.
    timestamp: str
    data: FilingData


class FilingReopenedEvent(TypedDict):
    """COMPLETED became PENDING (in place of `filing.pending`)."""

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.reopened"]
    # When the change was seen.
    timestamp: str
    data: FilingData


class FilingRestoredEvent(TypedDict):
    """The partner service knows a removed filing again."""

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.restored"]
    # When the change was seen.
    timestamp: str
    data: FilingData


class FilingResubmittedEvent(TypedDict):
    """A later filing answers the rejection: it has the same policy number, state, type and endorsement number,
    or a person said so. With `answeredBy` null it answers it no more.
    """

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.resubmitted"]
    # When the change was seen.
    timestamp: str
    data: FilingData


class FilingSnapshotEvent(TypedDict):
    """A subscription with `from: "state"` begins: the filing as it is, once for each. It is in no log."""

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.snapshot"]
    # When the change was seen.
    timestamp: str
    data: FilingData


class Stalled(TypedDict):
    """What lasts for longer than it should."""

    # The status that lasts.
    status: str
    # When it was first seen in that status; for a filing of the baseline, when that was read.
    since: str
    # The account's limit for that status, an ISO 8601 duration.
    after: str
    # Whether somebody has seen the rejection; false in other statuses.
    seen: bool


class _FilingStalledData(TypedDict):
    account: str
    filingId: str
    # As the partner service wrote it.
    status: str
    # Null in filing.created.
    previousStatus: Optional[str]
    rejectionReason: Optional[str]
    completedAt: Optional[str]
    # Counts the events of this filing from 1 without gaps.
    sequence: int
    # What differs from before: `status`, `completedAt`, `rejectionReason`; later versions may name more.
    changed: list[str]
    # When the change happened, as far as polls can tell.
    observed: Observed
    # True where what was seen proves a round trip that no poll saw.
    inferred: bool
    # What lasts for longer than it should.
    stalled: Stalled


class FilingStalledData(_FilingStalledData, total=False):
    # The page of what the event is about. Missing where the daemon has no PUBLIC_URL.
    url: str
    # In filing.resubmitted, and in other events of a rejection that is answered: the filing that answers it.
    # Null = none does any more.
    answeredBy: Optional[str]
    # By the account's `due`; null where the filing has no date or its state no rule, and of a COMPLETED
    # filing that was not read for the event. Only where the account has `due`.
    dueAt: Optional[str]
    # The filing exactly as the partner service returned it; null in filing.removed; left out with the payload
    # `thin`, and where `omitted` says why.
    filing: Optional[Filing]
    # Why an event has no `filing`, whatever the payload: it is larger than FILING_MAX_BYTES or has more than
    # 50 000 values, or the other fields are larger than 128 KiB and were cut; or (`not_kept`, in
    # filing.snapshot) the log no longer holds the last event of the filing, or (in filing.resubmitted and
    # filing.noted) it was not read for the event.
    omitted: str
    # Only with `not_kept`: what is kept of the filing; null for COMPLETED filings.
    details: Optional[Details]


class FilingStalledEvent(TypedDict):
    """A filing has been in its status for longer than the account's `stalledAfter` allows; once per stay and
    limit.
    """

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.stalled"]
    # When the change was seen.
    timestamp: str
    data: FilingStalledData


class FilingStatusChangedEvent(TypedDict):
    """The status became a value that this version does not know; it is passed on verbatim."""

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.status_changed"]
    # When the change was seen.
    timestamp: str
    data: FilingData


class FilingUnpaidEvent(TypedDict):
    """The status became UNPAID."""

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["filing.unpaid"]
    # When the change was seen.
    timestamp: str
    data: FilingData


class _PingData(TypedDict):
    account: str
    subscription: str


class PingData(_PingData, total=False):
    # Of the subscription; missing without one.
    description: str
    # The page of what the event is about. Missing where the daemon has no PUBLIC_URL.
    url: str


class PingEvent(TypedDict):
    """A test call; it is in no log."""

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["ping"]
    # When the change was seen.
    timestamp: str
    data: PingData


class _SubscriptionDisabledData(TypedDict):
    account: str
    subscription: str
    # Origin of the URL that is called.
    endpoint: str
    reason: str


class SubscriptionDisabledData(_SubscriptionDisabledData, total=False):
    # The page of what the event is about. Missing where the daemon has no PUBLIC_URL.
    url: str


class SubscriptionDisabledEvent(TypedDict):
    """A subscription was disabled: its endpoint answered 410, failed for too long or could not be verified, or
    it has expired.
    """

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["subscription.disabled"]
    # When the change was seen.
    timestamp: str
    data: SubscriptionDisabledData


class _SubscriptionFellBehindData(TypedDict):
    account: str
    subscription: str
    # Origin of the URL that is called.
    endpoint: str
    # How many, of all types: the log no longer holds them to compare.
    events: int


class SubscriptionFellBehindData(_SubscriptionFellBehindData, total=False):
    # The page of what the event is about. Missing where the daemon has no PUBLIC_URL.
    url: str


class SubscriptionFellBehindEvent(TypedDict):
    """Events left the log, for their age or for room, before a subscription got them."""

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["subscription.fell_behind"]
    # When the change was seen.
    timestamp: str
    data: SubscriptionFellBehindData


class _SubscriptionRecoveredData(TypedDict):
    account: str
    subscription: str
    # Origin of the URL that is called.
    endpoint: str
    # When it was disabled.
    disabledAt: str
    # How many events waited and are delivered now, the one that the endpoint has just accepted included. Over
    # 2000, all events of the log count.
    waiting: int
    # How many events, of all types, had left the log before they could be delivered; 0 = the log still held
    # all that was missed.
    lost: int


class SubscriptionRecoveredData(_SubscriptionRecoveredData, total=False):
    # The page of what the event is about. Missing where the daemon has no PUBLIC_URL.
    url: str


class SubscriptionRecoveredEvent(TypedDict):
    """A subscription that was disabled for failing was enabled again, because its endpoint accepted a callback
    when it was asked.
    """

    # Id of the event: the `webhook-id` of its callbacks.
    id: str
    type: Literal["subscription.recovered"]
    # When the change was seen.
    timestamp: str
    data: SubscriptionRecoveredData


# Every event of this version. Later versions send others, too: acknowledge what you do not know.
Event = Union[
    AccountAuthFailedEvent,
    AccountCertificateExpiringEvent,
    AccountDigestEvent,
    AccountDoubtfulEvent,
    AccountRecoveredEvent,
    AccountStaleEvent,
    FilingCompletedEvent,
    FilingCreatedEvent,
    FilingDueEvent,
    FilingNotedEvent,
    FilingPaidEvent,
    FilingPendingEvent,
    FilingRejectedEvent,
    FilingRemovedEvent,
    FilingReopenedEvent,
    FilingRestoredEvent,
    FilingResubmittedEvent,
    FilingSnapshotEvent,
    FilingStalledEvent,
    FilingStatusChangedEvent,
    FilingUnpaidEvent,
    PingEvent,
    SubscriptionDisabledEvent,
    SubscriptionFellBehindEvent,
    SubscriptionRecoveredEvent,
]

EVENT_TYPES = (
    "account.auth_failed",
    "account.certificate_expiring",
    "account.digest",
    "account.doubtful",
    "account.recovered",
    "account.stale",
    "filing.completed",
    "filing.created",
    "filing.due",
    "filing.noted",
    "filing.paid",
    "filing.pending",
    "filing.rejected",
    "filing.removed",
    "filing.reopened",
    "filing.restored",
    "filing.resubmitted",
    "filing.snapshot",
    "filing.stalled",
    "filing.status_changed",
    "filing.unpaid",
    "ping",
    "subscription.disabled",
    "subscription.fell_behind",
    "subscription.recovered",
)

# --- End of the event types ---


class Refused(Exception):
    """A callback that is not taken, with the status of the answer."""

    def __init__(self, status: int, reason: str):
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True)
class Delivery:
    """A verified callback."""

    # The webhook-id: the same on every attempt and every replay.
    id: str
    event: Event
    # What the store gives, such as the connection on which its transaction is open; None with MemoryStore.
    transaction: Any = None

    @property
    def account(self) -> str:
        return str(self.event["data"].get("account", ""))

    @property
    def filing_id(self) -> Optional[str]:
        """Null where the event is about no filing."""
        data: Mapping[str, Any] = self.event["data"]
        return str(data["filingId"]) if "filingId" in data else None

    @property
    def sequence(self) -> Optional[int]:
        """The number of the event among those of its filing; None where the event is about no filing."""
        sequence = self.event["data"].get("sequence")
        return sequence if isinstance(sequence, int) and self.filing_id is not None else None


# `handled`: now, for the first time. `repeated`: before, under the same id. `stale`: a later event of the filing was.
Taken = Literal["handled", "repeated", "stale"]


def judge(delivery: Delivery, is_known: bool, last: Optional[int]) -> Taken:
    """What to do with a delivery: whether its id was handled, and the sequence that was handled last of its filing."""
    if is_known:
        return "repeated"
    if delivery.sequence is None or last is None or delivery.sequence > last:
        return "handled"
    # A snapshot shows the filing after the event with the same sequence.
    is_snapshot = delivery.event["type"] == "filing.snapshot"
    return "handled" if is_snapshot and delivery.sequence == last else "stale"


# --- What was handled ---


class Store(Protocol):
    """Remembers what was handled."""

    def take(self, delivery: Delivery, handle: Callable[[Any], None]) -> Taken:
        """Calls `handle` with a transaction if `judge` says so, and remembers the delivery once that has returned.

        What `handle` raises is raised, and then nothing is remembered. Two deliveries of one filing are never handled
        at the same time."""


class MemoryStore:
    """A store that forgets with its process: for tests, and where handling an event twice does no harm."""

    def __init__(self) -> None:
        self._ids: dict[str, tuple[float, str, Optional[str]]] = {}
        self._sequences: dict[tuple[str, Optional[str]], int] = {}
        self._guard = threading.Lock()
        # A delivery holds one of them while it is handled; those of one filing hold the same.
        self._locks = [threading.Lock() for _ in range(64)]

    def take(self, delivery: Delivery, handle: Callable[[Any], None]) -> Taken:
        filing = (delivery.account, delivery.filing_id)
        with self._locks[hash(delivery.id if delivery.filing_id is None else filing) % len(self._locks)]:
            with self._guard:
                taken = judge(delivery, delivery.id in self._ids, self._sequences.get(filing))
            if taken == "handled":
                handle(None)
                with self._guard:
                    self._remember(delivery)
            return taken

    def forget(self, account: str, filing_id: Optional[str] = None) -> None:
        """Forgets a filing, or all filings of an account, so that their events are handled again."""

        def kept(of: str, filing: Optional[str]) -> bool:
            return of != account or filing_id not in (None, filing)

        with self._guard:
            self._ids = {known: value for known, value in self._ids.items() if kept(*value[1:])}
            self._sequences = {key: value for key, value in self._sequences.items() if kept(*key)}

    def _remember(self, delivery: Delivery) -> None:
        now = time.time()
        self._ids[delivery.id] = (now, delivery.account, delivery.filing_id)
        if delivery.sequence is not None:
            self._sequences[(delivery.account, delivery.filing_id)] = delivery.sequence
        # A dictionary keeps its order: the first is the oldest.
        while next(iter(self._ids.values()))[0] < now - REMEMBERED_DAYS * 86_400:
            del self._ids[next(iter(self._ids))]


class SqlStore:
    """A store in two tables of a database, `webhook_ids` and `webhook_filings`.

    The handler gets the open connection as `delivery.transaction`. What it writes there is committed together with
    the mark that the event was handled, or not at all: exactly once, wherever the process is killed. The handler must
    neither commit nor roll back.

    `connect` opens a connection of the DB-API, which is closed after the callback; `placeholder` is `%s` for psycopg
    and `?` for sqlite3. The database has to know `insert … on conflict`, as PostgreSQL and SQLite do."""

    def __init__(self, connect: Callable[[], Any], placeholder: str = "%s"):
        self._connect = connect
        self._placeholder = placeholder

    @classmethod
    def sqlite(cls, path: str) -> SqlStore:
        """A store in a file of SQLite; creates the file and its tables where they are not there."""
        store = cls(lambda: sqlite3.connect(path, timeout=10, isolation_level="IMMEDIATE"), "?")
        store.create_tables()
        return store

    def create_tables(self) -> None:
        """Creates the two tables where they are not there."""
        with self._transaction() as (_, run):
            run(
                "create table if not exists webhook_ids (id text primary key, account text not null, filing text,"
                " handled_at bigint not null)"
            )
            run(
                "create table if not exists webhook_filings (account text, filing text, sequence bigint not null,"
                " primary key (account, filing))"
            )

    def take(self, delivery: Delivery, handle: Callable[[Any], None]) -> Taken:
        # As JSON it is ASCII, also where the id has characters that a database refuses.
        filing = None if delivery.filing_id is None else json.dumps(delivery.filing_id)
        now = int(time.time())
        with self._transaction() as (connection, run):
            # Another delivery of this event, or of this filing, waits here until the transaction has ended.
            added = run(
                "insert into webhook_ids (id, account, filing, handled_at) values (?, ?, ?, ?) on conflict do nothing",
                delivery.id,
                delivery.account,
                filing,
                now,
            )
            last = None if filing is None else self._lock_filing(run, delivery.account, filing)
            taken = judge(delivery, added.rowcount == 0, last)
            if taken == "handled":
                handle(connection)
                if delivery.sequence is not None:
                    run(
                        "update webhook_filings set sequence = ? where account = ? and filing = ?",
                        delivery.sequence,
                        delivery.account,
                        filing,
                    )
            if random.random() < 0.001:
                run("delete from webhook_ids where handled_at < ?", now - REMEMBERED_DAYS * 86_400)
            return taken

    def forget(self, account: str, filing_id: Optional[str] = None) -> None:
        """Forgets a filing, or all filings of an account, so that their events are handled again."""
        with self._transaction() as (_, run):
            for table in ("webhook_ids", "webhook_filings"):
                if filing_id is None:
                    run(f"delete from {table} where account = ?", account)
                else:
                    run(
                        f"delete from {table} where account = ? and filing = ?",
                        account,
                        json.dumps(filing_id),
                    )

    @staticmethod
    def _lock_filing(run: Callable[..., Any], account: str, filing: str) -> Optional[int]:
        """Locks the row of a filing until the end of the transaction; the sequence that was handled last."""
        run(
            "insert into webhook_filings (account, filing, sequence) values (?, ?, -1) on conflict do nothing",
            account,
            filing,
        )
        run(
            "update webhook_filings set sequence = sequence where account = ? and filing = ?", account, filing
        )
        found = run("select sequence from webhook_filings where account = ? and filing = ?", account, filing)
        sequence = int(found.fetchone()[0])
        return None if sequence == -1 else sequence

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[tuple[Any, Callable[..., Any]]]:
        connection = self._connect()

        def run(statement: str, *values: object) -> Any:
            cursor = connection.cursor()
            cursor.execute(statement.replace("?", self._placeholder), values)
            return cursor

        try:
            yield connection, run
            connection.commit()
        except BaseException:
            connection.rollback()
            raise
        finally:
            connection.close()


# --- Signatures ---


class Secrets:
    """Verifies signatures `v1` with the secrets of the subscription; one match is enough."""

    def __init__(self, secrets: Iterable[str]):
        self._keys = [_decode_key(secret, "whsec_", range(24, 65), "a signing secret") for secret in secrets]
        if not self._keys:
            raise ValueError("there is no signing secret: give the `secret` of the subscription, whsec_…")

    def matches(self, content: bytes, signatures: Sequence[str]) -> bool:
        given = [text[3:].encode() for text in signatures if text.startswith("v1,")][:SIGNATURES_MAX]
        expected = [base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()) for key in self._keys]
        return any(hmac.compare_digest(one, other) for one in given for other in expected)


class PublicKeys:
    """Verifies signatures `v1a` with public keys (whpk_…), and passes over `v1`: whoever learnt a secret could make one."""

    def __init__(self, keys: Iterable[str]):
        self._keys = [
            _read_public_key(_decode_key(key, "whpk_", range(32, 33), "a public key")) for key in keys
        ]
        if not self._keys:
            raise ValueError(
                "there is no public key: give a `key` of the subscription's `publicKeys`, whpk_…"
            )

    def matches(self, content: bytes, signatures: Sequence[str]) -> bool:
        return _verified_by(self._keys, content, signatures)


class KeySet:
    """Verifies signatures `v1a` with the public keys that the daemon publishes for the subscription.

    `url` is `https://…/.well-known/webhook-keys?subscription=sub_…`. Keys are kept for five minutes, and longer while
    the daemon does not answer. After a signature that none of them verifies they are fetched once more, at most every
    half minute. `insecure` permits `http:`, for a daemon that is reached over a private network."""

    KEPT_SECONDS = 300
    AGAIN_SECONDS = 30
    # Seconds between two requests while there are no keys.
    RETRY_SECONDS = 1
    TIMEOUT_SECONDS = 5

    def __init__(self, url: str, insecure: bool = False):
        address = urllib.parse.urlsplit(url)
        if address.scheme != "https" and not (insecure and address.scheme == "http"):
            raise ValueError(
                "the address of the public keys has to begin with https:// (insecure=True permits http://)"
            )
        if not urllib.parse.parse_qs(address.query).get("subscription"):
            raise ValueError(
                "the address of the public keys has to end in ?subscription=sub_…: others are signed for others"
            )
        _load_ed25519()
        self._url = url
        self._lock = threading.Lock()
        self._keys: Optional[list[Any]] = None
        self._etag = ""
        self._asked_at = float("-inf")

    def matches(self, content: bytes, signatures: Sequence[str]) -> bool:
        if not any(text.startswith("v1a,") for text in signatures):
            return False
        if _verified_by(self._known(self.KEPT_SECONDS), content, signatures):
            return True
        return _verified_by(self._known(self.AGAIN_SECONDS), content, signatures)

    def _known(self, kept_seconds: float) -> list[Any]:
        """The keys, fetched where the last request is longer ago than that. Raises OSError without any keys."""
        with self._lock:
            wait = kept_seconds if self._keys is not None else self.RETRY_SECONDS
            if time.monotonic() - self._asked_at > wait:
                try:
                    self._fetch()
                except (OSError, ValueError) as error:
                    logger.warning("the public keys could not be fetched: %s", error)
                self._asked_at = time.monotonic()
            if self._keys is None:
                raise OSError("the public keys could not be fetched")
            return self._keys

    def _fetch(self) -> None:
        headers = {"accept": "application/json", **({"if-none-match": self._etag} if self._etag else {})}
        request = urllib.request.Request(self._url, headers=headers)
        try:
            with _opener.open(request, timeout=self.TIMEOUT_SECONDS) as response:
                listed = json.loads(response.read(BODY_BYTES_MAX))["keys"]
                self._etag = response.headers.get("etag", "")
        except urllib.error.HTTPError as error:
            if error.code == 304:
                return
            if error.code != 404:
                raise
            # No such subscription is signed with v1a, or no longer.
            listed, self._etag = [], ""
        except (KeyError, TypeError) as error:
            raise ValueError("the answer is no set of keys") from error
        self._keys = [
            _read_public_key(_decode_url(key["x"])) for key in listed if key.get("crv") == "Ed25519"
        ]


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def _decode_key(text: str, prefix: str, lengths: range, what: str) -> bytes:
    try:
        key = base64.b64decode(text[len(prefix) :], validate=True) if text.startswith(prefix) else b""
    except binascii.Error:
        key = b""
    if len(key) not in lengths:
        # The text is not shown: it may be a secret.
        raise ValueError(f"{what} has to be {prefix} and the base64 of {lengths[0]} to {lengths[-1]} bytes")
    return key


def _decode_url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _load_ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise ImportError(
            "signatures with public keys (v1a) need the package cryptography: pip install cryptography"
        ) from error
    return ed25519


def _read_public_key(key: bytes) -> Any:
    return _load_ed25519().Ed25519PublicKey.from_public_bytes(key)


def _verified_by(keys: Iterable[Any], content: bytes, signatures: Sequence[str]) -> bool:
    given = [text[4:] for text in signatures if text.startswith("v1a,")][:SIGNATURES_MAX]
    return any(_is_signed(key, text, content) for key in keys for text in given)


def _is_signed(key: Any, signature: str, content: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(base64.b64decode(signature, validate=True), content)
        return True
    except (InvalidSignature, ValueError):
        return False


# --- The receiver ---


class Headers(Protocol):
    """The headers of a request: a dict, or the headers of Flask, Django, FastAPI and `http.server`. The case of their
    names does not matter."""

    def items(self) -> Iterable[tuple[str, str]]: ...


@dataclass(frozen=True)
class Answer:
    """What to answer over HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""


class Receiver:
    """Takes callbacks and answers them.

    `handle(event, delivery)` is called for each event that is new; what it raises is logged and answered with 500, and
    the daemon sends the event again. It has to return within 15 seconds.

    Give either `secrets` (all that may sign: during a change of the secret two) or `public_keys`: a list of whpk_…, or
    a KeySet. `store` remembers what was handled. `parse_float=decimal.Decimal` keeps the digits of amounts.

    An instance may be used by several threads."""

    def __init__(
        self,
        handle: Callable[[Event, Delivery], object],
        *,
        store: Store,
        secrets: Sequence[str] = (),
        public_keys: Union[Sequence[str], KeySet] = (),
        tolerance_seconds: float = TOLERANCE_SECONDS,
        body_bytes_max: int = BODY_BYTES_MAX,
        parse_float: Callable[[str], Any] = float,
    ):
        if isinstance(secrets, str) or isinstance(public_keys, str):
            raise TypeError("secrets and public_keys are lists")
        if bool(secrets) and bool(public_keys):
            raise ValueError(
                "give either secrets or public_keys: a receiver that accepts both is as safe as the secret"
            )
        self._handle = handle
        self._store = store
        self._verifier = (
            public_keys
            if isinstance(public_keys, KeySet)
            else PublicKeys(public_keys)
            if public_keys
            else Secrets(secrets)
        )
        self._tolerance_seconds = tolerance_seconds
        self.body_bytes_max = body_bytes_max
        self._parse_float = parse_float

    def verify(self, headers: Headers, body: bytes) -> Delivery:
        """The delivery, once its signature and time are right; `body` has the bytes as received. Raises Refused, and
        OSError while there are no public keys."""
        lower = {name.lower(): value for name, value in headers.items()}
        webhook_id, timestamp = lower.get("webhook-id", ""), lower.get("webhook-timestamp", "")
        signatures = lower.get("webhook-signature", "")
        if not webhook_id or not signatures or not re.fullmatch(r"[0-9]{1,12}", timestamp):
            raise Refused(400, "webhook-id, webhook-timestamp or webhook-signature is missing or malformed")
        if abs(time.time() - int(timestamp)) > self._tolerance_seconds:
            raise Refused(401, "webhook-timestamp is too far from the clock of this receiver")
        content = f"{webhook_id}.{timestamp}.".encode() + body
        if not self._verifier.matches(content, signatures.split(" ")):
            raise Refused(401, "no signature matches")
        return Delivery(webhook_id, _read_event(body, self._parse_float))

    def respond(self, method: str, headers: Headers, body: bytes) -> Answer:
        """The answer to a request; never raises."""
        try:
            return self._respond(method, headers, body)
        except Refused as refused:
            logger.warning("refused with %d: %s", refused.status, refused)
            return _text(refused.status, str(refused))
        except Exception:
            logger.exception("a callback could not be handled; the daemon sends it again")
            return _text(500, "the event could not be handled")

    def _respond(self, method: str, headers: Headers, body: bytes) -> Answer:
        if method != "POST":
            return _text(405, "callbacks are sent with POST", {"allow": "POST"})
        if len(body) > self.body_bytes_max:
            raise Refused(413, f"the body has more than {self.body_bytes_max} bytes")
        delivery = self.verify(headers, body)
        name, data = str(delivery.event["type"]), dict(delivery.event["data"])
        if name == "subscription.challenge":
            answer = json.dumps({"challenge": data.get("challenge")}).encode()
            return Answer(200, {"content-type": "application/json"}, answer)
        taken = self._store.take(delivery, lambda transaction: self._call(delivery, transaction))
        logger.info("%s %s %s", taken, name, delivery.id)
        return Answer(204, {})

    def _call(self, delivery: Delivery, transaction: Any) -> None:
        self._handle(delivery.event, replace(delivery, transaction=transaction))

    def wsgi(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        """The receiver as a WSGI application (PEP 3333)."""
        headers = {
            name[5:].replace("_", "-"): value for name, value in environ.items() if name.startswith("HTTP_")
        }
        answer = self._read_and_respond(
            str(environ["REQUEST_METHOD"]),
            headers,
            str(environ.get("CONTENT_LENGTH") or ""),
            environ["wsgi.input"],
        )
        reason = http.HTTPStatus(answer.status).phrase
        start_response(f"{answer.status} {reason}", list(_with_length(answer).items()))
        return [answer.body]

    def handler_class(self) -> type[http.server.BaseHTTPRequestHandler]:
        """The receiver as a handler for `http.server.ThreadingHTTPServer`."""
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Seconds that a client may be silent.
            timeout = 30

            def handle(self) -> None:
                # A client that went away, such as a daemon that was killed, is no failure of the receiver.
                with contextlib.suppress(ConnectionError):
                    super().handle()

            def answer(self) -> None:
                answer = receiver._read_and_respond(
                    self.command,
                    dict(self.headers.items()),
                    self.headers.get("content-length", ""),
                    self.rfile,
                )
                if answer.status >= 400:
                    # The body may not have been read.
                    self.close_connection = True
                self.send_response(answer.status)
                for name, value in _with_length(answer).items():
                    self.send_header(name, value)
                if self.close_connection:
                    self.send_header("connection", "close")
                self.end_headers()
                self.wfile.write(answer.body)

            do_POST = do_GET = do_PUT = answer

            def log_message(self, format: str, *args: Any) -> None:
                logger.debug(format, *args)

        return Handler

    def _read_and_respond(self, method: str, headers: Mapping[str, str], length: str, stream: Any) -> Answer:
        """Reads the body, but not one that is too long, and answers."""
        if method != "POST":
            return self.respond(method, headers, b"")
        if not re.fullmatch(r"[0-9]{1,12}", length):
            return _text(411, "content-length is missing")
        if int(length) > self.body_bytes_max:
            return _text(413, f"the body has more than {self.body_bytes_max} bytes")
        body = bytearray()
        while len(body) < int(length):
            chunk = stream.read(int(length) - len(body))
            if not chunk:
                return _text(400, "the body is shorter than content-length says")
            body += chunk
        return self.respond(method, headers, bytes(body))


def _read_event(body: bytes, parse_float: Callable[[str], Any]) -> Any:
    """The event of a verified body, of the format `standard` or `cloudevents` (structured JSON). The body itself says
    which: the content type is not signed. Raises Refused for every other body."""
    try:
        event = json.loads(body, parse_float=parse_float, parse_int=_read_int)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "the body is not JSON") from error
    if not isinstance(event, dict):
        raise Refused(400, "the body is no object")
    if "specversion" in event:
        fields = {"id": event.get("id"), "type": event.get("type"), "timestamp": event.get("time")}
        event = {**fields, "data": event.get("data")}
    if (
        not isinstance(event.get("type"), str)
        or not isinstance(event.get("timestamp"), str)
        or not isinstance(event.get("data"), dict)
    ):
        raise Refused(
            400, "the body has no type, timestamp and data: set format of the subscription to standard or cloudevents"
        )
    return event


def _read_int(text: str) -> Any:
    # Python refuses longer ones (sys.set_int_max_str_digits).
    return int(text) if len(text) <= 640 else decimal.Decimal(text)


def _text(status: int, text: str, headers: Optional[Mapping[str, str]] = None) -> Answer:
    return Answer(status, {"content-type": "text/plain; charset=utf-8", **(headers or {})}, text.encode())


def _with_length(answer: Answer) -> dict[str, str]:
    # RFC 9110 §8.6: a 204 has no content-length.
    return (
        dict(answer.headers)
        if answer.status == 204
        else {**answer.headers, "content-length": str(len(answer.body))}
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python3 -m filing_webhooks",
        description="Prints each event as a line of JSON. The signing secret is in WEBHOOK_SECRET; several are separated by spaces."
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--database", help="file of SQLite that remembers what was printed; default: memory")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        receiver = Receiver(
            lambda event, _: print(json.dumps(event, default=str), flush=True),
            secrets=os.environ.get("WEBHOOK_SECRET", "").split(),
            store=MemoryStore() if options.database is None else SqlStore.sqlite(options.database),
        )
    except ValueError as error:
        parser.exit(78, f"WEBHOOK_SECRET: {error}\n")
    try:
        server = http.server.ThreadingHTTPServer((options.host, options.port), receiver.handler_class())
    except OSError as error:
        parser.exit(69, f"{options.host} port {options.port}: {error.strerror}; choose others with --host and --port\n")
    logger.info("listening on http://%s:%d/", *server.server_address[:2])
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()
