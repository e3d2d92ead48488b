"""Receivers that a real daemon calls."""

from __future__ import annotations

import base64
import hashlib
import hmac
import importlib.util
import json
import logging
import os
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Optional

from stage import Heard, Stage, listening, until

from filing_webhooks import KeySet, MemoryStore, Receiver, SqlStore

stage: Stage
# With REQUIRE_TOOLS=1, which .ci/run sets, a missing package is a failure.
HAS_CRYPTOGRAPHY = (
    importlib.util.find_spec("cryptography") is not None or os.environ.get("REQUIRE_TOOLS") == "1"
)


def setUpModule() -> None:
    global stage
    # What the receivers say about failures that the tests cause.
    logging.getLogger("filing_webhooks").setLevel(logging.CRITICAL)
    stage = Stage()


def tearDownModule() -> None:
    stage.close()


class Subscribed(unittest.TestCase):
    """A receiver with a subscription, for each test."""

    def subscribe(self, store: Any, heard: Any, wsgi: bool = False, **settings: Any) -> Any:
        self.receiver: Optional[Receiver] = None

        def made() -> Receiver:
            # The first callback may come before the secret is known here: it waits, as it would for a 401.
            return until(lambda: self.receiver, "the receiver is made")

        context = listening(made, wsgi)
        url = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        subscription = stage.subscribe(url, **settings)
        self.addCleanup(stage.call, "DELETE", f"/subscriptions/{subscription['id']}")
        self.receiver = self.make(subscription, store, heard)
        return subscription

    def make(self, subscription: Any, store: Any, heard: Any) -> Receiver:
        return Receiver(heard, secrets=[subscription["secret"]], store=store)

    def until_settled(self, subscription: Any) -> None:
        def settled() -> bool:
            shown = stage.call("GET", f"/subscriptions/{subscription['id']}")
            return bool(shown["lag"] == 0)

        until(settled, "the subscription has no lag")


class DaemonTest(Subscribed):
    def test_hands_a_rejection_to_the_handler_once(self) -> None:
        for wsgi in (False, True):
            with self.subTest(wsgi=wsgi):
                heard, filing = Heard(), f"f_once_{wsgi}"
                subscription = self.subscribe(MemoryStore(), heard, wsgi)
                stage.set_filing(filing, status="PENDING")
                stage.set_filing(filing, status="REJECTED", rejectionReason="Affidavit is not signed")
                until(lambda heard=heard, filing=filing: len(heard.sequences(filing)) == 2, "two events")
                event = heard.events[-1]
                self.assertEqual(event["type"], "filing.rejected")
                self.assertEqual(event["data"]["rejectionReason"], "Affidavit is not signed")
                self.until_settled(subscription)
                attempts = stage.call("GET", f"/subscriptions/{subscription['id']}/attempts")["items"]
                self.assertEqual([a["statusCode"] for a in attempts], [204, 204])

    def test_gets_again_what_the_handler_failed_at(self) -> None:
        heard = Heard()
        heard.failures = 2
        with tempfile.TemporaryDirectory() as folder:
            store = SqlStore.sqlite(str(Path(folder, "webhooks.db")))
            subscription = self.subscribe(store, heard)
            stage.set_filing("f_fails", status="PENDING")
            until(lambda: heard.sequences("f_fails"), "the event comes again")
            self.until_settled(subscription)
            attempts = stage.call("GET", f"/subscriptions/{subscription['id']}/attempts")["items"]
            self.assertEqual([a["statusCode"] for a in attempts], [204, 500, 500])
            self.assertEqual(heard.sequences("f_fails"), [1])

    def test_drops_the_repeats_of_a_replay_until_it_is_told_to_forget(self) -> None:
        heard = Heard()
        with tempfile.TemporaryDirectory() as folder:
            store = SqlStore.sqlite(str(Path(folder, "webhooks.db")))
            subscription = self.subscribe(store, heard)
            for status in ("UNPAID", "PAID", "PENDING"):
                stage.set_filing("f_replayed", status=status)
            until(lambda: len(heard.sequences("f_replayed")) == 3, "three events")
            self.until_settled(subscription)
            self.replay(subscription)
            self.assertEqual(heard.sequences("f_replayed"), [1, 2, 3])
            store.forget("default", "f_replayed")
            self.replay(subscription)
            self.assertEqual(heard.sequences("f_replayed"), [1, 2, 3, 1, 2, 3])

    def replay(self, subscription: Any) -> None:
        replays = f"/subscriptions/{subscription['id']}/replay"
        begun = stage.call("POST", replays, {"filingId": "f_replayed"})
        self.assertEqual(begun["matched"], 3)
        shown = f"/subscriptions/{subscription['id']}/replays/{begun['id']}"
        until(lambda: stage.call("GET", shown)["state"] == "finished", "the replay has ended")

    def test_answers_the_challenge(self) -> None:
        heard = Heard()
        subscription = self.subscribe(MemoryStore(), heard, verification="challenge")

        def verified() -> Any:
            return stage.call("GET", f"/subscriptions/{subscription['id']}")["verified"]

        self.assertEqual(until(verified, "verified")["method"], "challenge")
        stage.set_filing("f_1_verified", status="PENDING")
        until(lambda: heard.sequences("f_1_verified"), "an event")

    def make(self, subscription: Any, store: Any, heard: Any) -> Receiver:
        return Receiver(heard, secrets=[subscription["secret"]], store=store)


class RotationTest(Subscribed):
    def make(self, subscription: Any, store: Any, heard: Any) -> Receiver:
        self.secret = "whsec_" + base64.b64encode(bytes(range(32))).decode()
        return Receiver(heard, secrets=[subscription["secret"], self.secret], store=store)

    def test_takes_both_secrets_while_one_replaces_the_other(self) -> None:
        heard = Heard()
        subscription = self.subscribe(MemoryStore(), heard)
        stage.set_filing("f_rotated", status="UNPAID")
        body = {"secret": self.secret, "graceMs": 0}
        stage.call("POST", f"/subscriptions/{subscription['id']}/rotate-secret", body)
        stage.set_filing("f_rotated", status="PAID")
        until(lambda: heard.sequences("f_rotated") == [1, 2], "both events")
        self.until_settled(subscription)


@unittest.skipUnless(HAS_CRYPTOGRAPHY, "the package cryptography is not installed")
class PublicKeyTest(Subscribed):
    def make(self, subscription: Any, store: Any, heard: Any) -> Receiver:
        address = f"{stage.url}/.well-known/webhook-keys?subscription={subscription['id']}"
        keys = KeySet(address, insecure=True)
        keys.AGAIN_SECONDS = 0
        return Receiver(heard, public_keys=keys, store=store)

    def test_verifies_with_the_published_keys_also_after_they_were_replaced(self) -> None:
        heard = Heard()
        subscription = self.subscribe(MemoryStore(), heard, signatures=["v1a"])
        stage.set_filing("f_v1a", status="UNPAID")
        until(lambda: heard.sequences("f_v1a") == [1], "the first event")
        stage.call("POST", f"/subscriptions/{subscription['id']}/rotate-secret", {"graceMs": 0})
        stage.set_filing("f_v1a", status="PAID")
        until(lambda: heard.sequences("f_v1a") == [1, 2], "the second event")

    def test_passes_over_a_signature_that_the_secret_made(self) -> None:
        heard = Heard()
        subscription = self.subscribe(MemoryStore(), heard, signatures=["v1", "v1a"])
        stage.set_filing("f_both", status="UNPAID")
        until(lambda: heard.sequences("f_both") == [1], "the event, with both signatures")
        body = json.dumps({"type": "filing.paid", "timestamp": "", "data": {}}).encode()
        now = str(int(time.time()))
        key = base64.b64decode(subscription["secret"][len("whsec_") :])
        digest = hmac.new(key, f"evt_forged.{now}.".encode() + body, hashlib.sha256).digest()
        headers = {
            "webhook-id": "evt_forged",
            "webhook-timestamp": now,
            "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
        }
        request = urllib.request.Request(subscription["url"], data=body, headers=headers)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=5)
        refused.exception.close()
        self.assertEqual(refused.exception.code, 401)
        self.assertEqual(len(heard.events), 1)


if __name__ == "__main__":
    unittest.main()
