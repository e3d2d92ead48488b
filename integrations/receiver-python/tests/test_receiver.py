"""Receivers that are called with callbacks of the tests' own, over HTTP where that matters."""

from __future__ import annotations

import base64
import decimal
import hashlib
import hmac
import http.client
import http.server
import importlib.util
import json
import logging
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Optional
from urllib.parse import urlsplit

from stage import Heard, listening

import filing_webhooks
from filing_webhooks import EVENT_TYPES, Delivery, KeySet, MemoryStore, Receiver, SqlStore, judge

KEY = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(KEY).decode()
OTHER_SECRET = "whsec_" + base64.b64encode(bytes(24)).decode()
# With REQUIRE_TOOLS=1, which .ci/run sets, a missing package is a failure.
HAS_CRYPTOGRAPHY = (
    importlib.util.find_spec("cryptography") is not None or os.environ.get("REQUIRE_TOOLS") == "1"
)


def setUpModule() -> None:
    logging.getLogger("filing_webhooks").setLevel(logging.CRITICAL)


def body_of(sequence: int, event_type: str = "filing.paid", filing_id: str = "f_1", **more: Any) -> bytes:
    data = {"account": "default", "filingId": filing_id, "sequence": sequence, "status": "PAID", **more}
    return json.dumps({"type": event_type, "timestamp": "2026-11-21T10:00:03.120Z", "data": data}).encode()


def signed(body: bytes, webhook_id: str = "evt_1", key: bytes = KEY, age: float = 0) -> dict[str, str]:
    timestamp = str(int(time.time() - age))
    digest = hmac.new(key, f"{webhook_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return {
        "Webhook-Id": webhook_id,
        "Webhook-Timestamp": timestamp,
        "Webhook-Signature": "v1," + base64.b64encode(digest).decode(),
    }


class VerificationTest(unittest.TestCase):
    def setUp(self) -> None:
        self.heard = Heard()
        self.receiver = Receiver(self.heard, secrets=[OTHER_SECRET, SECRET], store=MemoryStore())

    def status(self, headers: dict[str, str], body: bytes) -> int:
        return self.receiver.respond("POST", headers, body).status

    def test_takes_what_one_of_its_secrets_signed(self) -> None:
        body = body_of(1)
        self.assertEqual(self.status(signed(body), body), 204)
        self.assertEqual(self.heard.ids, ["evt_1"])

    def test_takes_one_of_several_signatures(self) -> None:
        body = body_of(1)
        headers = signed(body)
        headers["Webhook-Signature"] = f"v1,AAAA v1a,AAAA v2 {headers['Webhook-Signature']}"
        self.assertEqual(self.status(headers, body), 204)

    def test_refuses_everything_else(self) -> None:
        body = body_of(1)
        good = signed(body)
        cases = [
            (400, {}, body),
            (400, {**good, "Webhook-Id": ""}, body),
            (400, {**good, "Webhook-Timestamp": "nan"}, body),
            (400, {**good, "Webhook-Timestamp": "1e9"}, body),
            (400, {**good, "Webhook-Timestamp": good["Webhook-Timestamp"] + "\n"}, body),
            (400, {**good, "Webhook-Signature": ""}, body),
            (401, {**good, "Webhook-Signature": "v1"}, body),
            (401, {**good, "Webhook-Signature": "v1,ä"}, body),
            (401, {**good, "Webhook-Signature": good["Webhook-Signature"].replace("v1,", "v2,")}, body),
            (401, good, body + b" "),
            (401, {**good, "Webhook-Id": "evt_2"}, body),
            (401, signed(body, key=b"wrong" * 6), body),
            (401, signed(body, age=301), body),
            (401, signed(body, age=-310), body),
            (400, signed(b"\xff\xfe"), b"\xff\xfe"),
            (400, signed(b"[]"), b"[]"),
            (400, signed(b'{"text": "a message for Slack"}'), b'{"text": "a message for Slack"}'),
            (413, signed(b" " * (2**20 + 1)), b" " * (2**20 + 1)),
        ]
        for number, (status, headers, given) in enumerate(cases):
            with self.subTest(case=number):
                self.assertEqual(self.status(headers, given), status)
        self.assertEqual(self.heard.events, [])

    def test_does_not_start_without_a_usable_secret(self) -> None:
        for secrets in ([], [""], ["whsec_"], ["whsec_c2hvcnQ="], [SECRET[6:]], ["whsec_" + "!" * 44]):
            with self.subTest(secrets=secrets), self.assertRaisesRegex(ValueError, "secret"):
                Receiver(self.heard, secrets=secrets, store=MemoryStore())
        with self.assertRaises(TypeError):
            Receiver(self.heard, secrets=SECRET, store=MemoryStore())

    def test_reads_the_format_cloudevents_as_the_same_event(self) -> None:
        standard = {**json.loads(body_of(1)), "id": "evt_1"}
        context = {"specversion": "1.0", "id": "evt_1", "source": "/accounts/default", "subject": "f_1"}
        cloud = {"type": standard["type"], "time": standard["timestamp"], "data": standard["data"]}
        body = json.dumps({**context, **cloud}).encode()
        self.assertEqual(self.status(signed(body), body), 204)
        self.assertEqual(self.heard.events, [standard])

    def test_says_which_formats_it_reads(self) -> None:
        for body in (b'{"text": "a message"}', b'{"specversion": "1.0", "type": "ping", "data": {}}'):
            answer = self.receiver.respond("POST", signed(body), body)
            self.assertEqual(answer.status, 400)
            self.assertIn(b"set format of the subscription to standard or cloudevents", answer.body)

    def test_keeps_the_digits_of_numbers(self) -> None:
        receiver = Receiver(self.heard, secrets=[SECRET], store=MemoryStore(), parse_float=decimal.Decimal)
        long = "9" * 5000
        body = body_of(1, premium="P", long="L").replace(b'"P"', b"18250.50").replace(b'"L"', long.encode())
        self.assertEqual(receiver.respond("POST", signed(body), body).status, 204)
        data = self.heard.events[0]["data"]
        self.assertEqual(str(data["premium"]), "18250.50")
        self.assertEqual(str(data["long"]), long)


@unittest.skipUnless(HAS_CRYPTOGRAPHY, "the package cryptography is not installed")
class PublicKeyTest(unittest.TestCase):
    def setUp(self) -> None:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self.private = Ed25519PrivateKey.generate()
        self.public = self.private.public_key().public_bytes(
            serialization.Encoding.Raw, serialization.PublicFormat.Raw
        )

    def signed(self, body: bytes) -> dict[str, str]:
        headers = signed(body)
        content = f"{headers['Webhook-Id']}.{headers['Webhook-Timestamp']}.".encode() + body
        signature = base64.b64encode(self.private.sign(content)).decode()
        return {**headers, "Webhook-Signature": f"{headers['Webhook-Signature']} v1a,{signature}"}

    def test_verifies_v1a_with_a_key_and_no_other(self) -> None:
        body = body_of(1)
        for key, status in ((self.public, 204), (bytes(range(32)), 401)):
            text = "whpk_" + base64.b64encode(key).decode()
            receiver = Receiver(Heard(), public_keys=[text], store=MemoryStore())
            self.assertEqual(receiver.respond("POST", self.signed(body), body).status, status)
            self.assertEqual(receiver.respond("POST", signed(body), body).status, 401)

    def test_looks_at_no_more_signatures_than_the_daemon_sends(self) -> None:
        body = body_of(1)
        headers = self.signed(body)
        right = headers["Webhook-Signature"].split(" ")[-1]
        receiver = Receiver(
            Heard(), public_keys=["whpk_" + base64.b64encode(self.public).decode()], store=MemoryStore()
        )
        for others, status in ((5, 401), (4, 204)):
            signatures = " ".join(["v1,AAAA", *["v1a,AAAA"] * others, right])
            given = {**headers, "Webhook-Signature": signatures}
            self.assertEqual(receiver.respond("POST", given, body).status, status)

    def test_refuses_settings_that_verify_less_than_they_seem_to(self) -> None:
        with self.assertRaisesRegex(ValueError, "either"):
            Receiver(Heard(), secrets=[SECRET], public_keys=["whpk_"], store=MemoryStore())
        with self.assertRaisesRegex(ValueError, "whpk_"):
            Receiver(Heard(), public_keys=["whpk_AAAA"], store=MemoryStore())
        with self.assertRaisesRegex(ValueError, "https"):
            KeySet("http://filings.example.com/.well-known/webhook-keys?subscription=sub_1")
        with self.assertRaisesRegex(ValueError, "subscription"):
            KeySet("https://filings.example.com/.well-known/webhook-keys")

    def test_keeps_the_published_keys_while_the_daemon_does_not_answer(self) -> None:
        jwk = {
            "kty": "OKP",
            "crv": "Ed25519",
            "x": base64.urlsafe_b64encode(self.public).decode().rstrip("="),
        }
        with KeyServer([jwk]) as server:
            keys = KeySet(f"{server.url}?subscription=sub_1", insecure=True)
            keys.RETRY_SECONDS = 0
            receiver = Receiver(Heard(), public_keys=keys, store=MemoryStore())
            body = body_of(1)
            server.status = 503
            self.assertEqual(receiver.respond("POST", self.signed(body), body).status, 500)
            server.status = 200
            self.assertEqual(receiver.respond("POST", self.signed(body), body).status, 204)
            self.assertEqual(receiver.respond("POST", self.signed(body), body).status, 204)
            self.assertEqual(server.requests, ["", ""])
            keys.KEPT_SECONDS = 0
            self.assertEqual(receiver.respond("POST", self.signed(body), body).status, 204)
            self.assertEqual(server.requests, ["", "", '"1"'], "the third asks whether the keys have changed")
            server.status = 503
            self.assertEqual(receiver.respond("POST", self.signed(body), body).status, 204)
            server.status = 404
            self.assertEqual(receiver.respond("POST", self.signed(body), body).status, 401)


class KeyServer:
    """A daemon that publishes keys."""

    def __init__(self, keys: list[Any]):
        self.status = 200
        self.requests: list[str] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = self.headers.get("if-none-match", "")
                outer.requests.append(asked)
                status = 304 if outer.status == 200 and asked == '"1"' else outer.status
                self.send_response(status)
                self.send_header("etag", '"1"')
                self.end_headers()
                if status != 304:
                    self.wfile.write(json.dumps({"keys": keys}).encode())

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/keys"

    def __enter__(self) -> KeyServer:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class WithoutPackagesTest(unittest.TestCase):
    def test_says_what_to_install_for_public_keys(self) -> None:
        code = (
            "import sys; sys.modules['cryptography'] = None\n"
            "from filing_webhooks import MemoryStore, Receiver\n"
            f"Receiver(print, secrets=['{SECRET}'], store=MemoryStore())\n"
            "try: Receiver(print, public_keys=['whpk_' + 'A' * 43 + '='], store=MemoryStore())\n"
            "except ImportError as error: print(error)\n"
        )
        folder = Path(__file__).resolve().parent.parent
        ended = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
        )
        self.assertIn("pip install cryptography", ended.stdout)


class JudgeTest(unittest.TestCase):
    def test_takes_a_greater_sequence_and_a_snapshot_of_the_same(self) -> None:
        cases: list[tuple[str, Optional[int], bool, Optional[int], str]] = [
            ("filing.paid", 1, False, None, "handled"),
            ("filing.paid", 2, False, 1, "handled"),
            ("filing.paid", 9, False, 1, "handled"),
            ("filing.paid", 2, True, 1, "repeated"),
            ("filing.paid", 2, False, 2, "stale"),
            ("filing.paid", 1, False, 2, "stale"),
            ("filing.snapshot", 0, False, None, "handled"),
            ("filing.snapshot", 2, False, 2, "handled"),
            ("filing.snapshot", 1, False, 2, "stale"),
            ("filing.snapshot", 2, True, 2, "repeated"),
            ("account.stale", None, False, None, "handled"),
            ("account.stale", None, True, None, "repeated"),
        ]
        for event_type, sequence, is_known, last, expected in cases:
            with self.subTest(type=event_type, sequence=sequence, is_known=is_known, last=last):
                data = {
                    "account": "a",
                    **({} if sequence is None else {"filingId": "f", "sequence": sequence}),
                }
                event: Any = {"type": event_type, "timestamp": "", "data": data}
                self.assertEqual(judge(Delivery("evt_1", event), is_known, last), expected)


class StoreTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = str(Path(self.folder.name, "webhooks.db"))

    def stores(self) -> list[Any]:
        return [MemoryStore(), SqlStore.sqlite(self.path)]

    def test_forgets_an_event_whose_handler_failed(self) -> None:
        for store in self.stores():
            with self.subTest(store=type(store).__name__):
                heard = Heard()
                heard.failures = 1
                receiver = Receiver(heard, secrets=[SECRET], store=store)
                body = body_of(1)
                answers = [receiver.respond("POST", signed(body), body).status for _ in range(3)]
                self.assertEqual(answers, [500, 204, 204])
                self.assertEqual(heard.ids, ["evt_1"])

    def test_drops_repeats_and_stale_events_until_told_to_forget(self) -> None:
        for store in self.stores():
            with self.subTest(store=type(store).__name__):
                heard = Heard()
                receiver = Receiver(heard, secrets=[SECRET], store=store)

                def send(webhook_id: str, body: bytes, receiver: Receiver = receiver) -> None:
                    self.assertEqual(receiver.respond("POST", signed(body, webhook_id), body).status, 204)

                odd = "f_\0\ud83d"
                for filing in ("f_1", odd):
                    send(f"evt_2{filing == odd}", body_of(2, filing_id=filing))
                    send(f"evt_1{filing == odd}", body_of(1, filing_id=filing))
                    send(f"evt_2{filing == odd}", body_of(2, filing_id=filing))
                    self.assertEqual(heard.sequences(filing), [2])
                store.forget("default", "f_1")
                send("evt_2False", body_of(2))
                send("evt_2True", body_of(2, filing_id=odd))
                self.assertEqual(heard.sequences("f_1"), [2, 2])
                self.assertEqual(heard.sequences(odd), [2])
                store.forget("default")
                send("evt_2True", body_of(2, filing_id=odd))
                self.assertEqual(heard.sequences(odd), [2, 2])

    def test_handles_an_event_once_that_comes_many_times_at_once(self) -> None:
        for store in self.stores():
            with self.subTest(store=type(store).__name__):
                handled: list[int] = []

                def handle(event: Any, _: Any, handled: list[int] = handled) -> None:
                    time.sleep(0.02)
                    handled.append(event["data"]["sequence"])

                receiver = Receiver(handle, secrets=[SECRET], store=store)
                bodies = [body_of(1 + number % 2) for number in range(8)]
                threads = [
                    threading.Thread(
                        target=receiver.respond,
                        args=("POST", signed(body, f"evt_{number % 2}"), body),
                    )
                    for number, body in enumerate(bodies)
                ]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                self.assertEqual(handled, sorted(set(handled)))
                self.assertIn(2, handled)

    def test_has_nothing_of_an_event_during_which_the_process_was_killed(self) -> None:
        SqlStore.sqlite(self.path)
        with sqlite3.connect(self.path) as connection:
            connection.execute("create table heard (id text)")
        connection.close()
        body = body_of(1)
        folder = Path(__file__).resolve().parent.parent
        for kill, rows in ((True, 0), (False, 1), (False, 1)):
            code = (
                "import os, signal, sys, json\n"
                "from filing_webhooks import Receiver, SqlStore\n"
                "def handle(event, delivery):\n"
                "    delivery.transaction.execute('insert into heard values (?)', (delivery.id,))\n"
                f"    if {kill}: os.kill(os.getpid(), signal.SIGKILL)\n"
                f"store = SqlStore.sqlite({self.path!r})\n"
                f"receiver = Receiver(handle, secrets=['{SECRET}'], store=store)\n"
                f"print(receiver.respond('POST', {signed(body)!r}, {body!r}).status)\n"
            )
            ended = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
            self.assertEqual(ended.returncode, -signal.SIGKILL if kill else 0, ended.stderr)
            with sqlite3.connect(self.path) as connection:
                found = connection.execute("select count(*) from heard").fetchone()[0]
            connection.close()
            self.assertEqual(found, rows)


class HttpTest(unittest.TestCase):
    def request(self, url: str, method: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)
        try:
            connection.putrequest(method, "/hooks")
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders(body or None)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def test_answers_over_http(self) -> None:
        receiver = Receiver(Heard(), secrets=[SECRET], store=MemoryStore())
        body = body_of(1)
        challenge = {"type": "subscription.challenge", "timestamp": "2026-11-21T10:00:03.120Z"}
        question = json.dumps({**challenge, "data": {"challenge": "abc"}}).encode()
        for wsgi in (False, True):
            with self.subTest(wsgi=wsgi), listening(lambda: receiver, wsgi) as url:

                def post(given: bytes, headers: dict[str, str], url: str = url) -> tuple[int, bytes]:
                    return self.request(url, "POST", given, {"Content-Length": str(len(given)), **headers})

                self.assertEqual(post(body, signed(body)), (204, b""))
                status, answer = post(question, signed(question))
                self.assertEqual((status, json.loads(answer)), (200, {"challenge": "abc"}))
                self.assertEqual(post(question, signed(body))[0], 401)
                self.assertEqual(post(b"", {**signed(body), "Content-Length": str(2**20 + 1)})[0], 413)
                self.assertEqual(self.request(url, "GET", b"", {})[0], 405)
                self.assertEqual(self.request(url, "POST", b"", signed(b""))[0], 411)


class ProgramTest(unittest.TestCase):
    def test_prints_events_and_needs_a_secret(self) -> None:
        program = [sys.executable, "-m", "filing_webhooks"]
        folder = Path(filing_webhooks.__file__).parent.parent
        ended = subprocess.run(
            program, cwd=folder, env={**os.environ, "WEBHOOK_SECRET": ""}, capture_output=True, text=True
        )
        self.assertEqual(ended.returncode, 78)
        self.assertIn("WEBHOOK_SECRET", ended.stderr)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            ended = subprocess.run(
                [*program, "--port", port],
                cwd=folder,
                env={**os.environ, "WEBHOOK_SECRET": SECRET},
                capture_output=True,
                text=True,
                timeout=30,
            )
        self.assertEqual(ended.returncode, 69)
        self.assertRegex(ended.stderr, f"^127.0.0.1 port {port}: .*; choose others with --host and --port\n$")
        process = subprocess.Popen(
            [*program, "--port", "0"],
            cwd=folder,
            env={**os.environ, "WEBHOOK_SECRET": f"{OTHER_SECRET} {SECRET}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None and process.stderr is not None
        try:
            url = process.stderr.readline().split()[-1]
            body = body_of(1, reason="\x1b[31m")
            connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)
            connection.request("POST", "/", body, signed(body))
            self.assertEqual(connection.getresponse().status, 204)
            connection.close()
            line = process.stdout.readline()
            self.assertEqual(json.loads(line)["data"]["sequence"], 1)
            self.assertNotIn("\x1b", line)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()


class EventTypesTest(unittest.TestCase):
    def test_has_the_types_of_the_schemas(self) -> None:
        schemas = Path(__file__).resolve().parents[3] / "schemas" / "events"
        self.assertEqual(sorted(path.stem for path in schemas.glob("*.json")), sorted(EVENT_TYPES))


if __name__ == "__main__":
    unittest.main()
