"""The installed package beside mypy, Flask, FastAPI and PostgreSQL; run.py installs them."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Callable, Iterator

HERE = Path(__file__).resolve().parent
# Behind what is installed, so that the package comes from there.
sys.path.append(str(HERE.parent))

import filing_webhooks  # noqa: E402
from filing_webhooks import MemoryStore, Receiver, SqlStore  # noqa: E402

INSTALLED = Path(filing_webhooks.__file__)

# What the receivers say about failures that the tests cause.
logging.getLogger("filing_webhooks").setLevel(logging.CRITICAL)

from stage import Heard, Stage, listening, until  # noqa: E402
from test_receiver import SECRET, body_of, signed  # noqa: E402


class InstalledTest(unittest.TestCase):
    def test_is_installed(self) -> None:
        self.assertIn("site-packages", str(INSTALLED))


class LibraryTest(unittest.TestCase):
    def test_agrees_with_the_library_of_standard_webhooks(self) -> None:
        from standardwebhooks import Webhook, WebhookVerificationError

        receiver = Receiver(Heard(), secrets=[SECRET], store=MemoryStore())
        body = body_of(1)
        good = signed(body)
        cases = [
            good,
            signed(body, key=b"wrong" * 6),
            signed(body, age=290),
            signed(body, age=310),
            {**good, "Webhook-Id": "evt_2"},
            {**good, "Webhook-Signature": f"v1,AAAA {good['Webhook-Signature']}"},
        ]
        for number, headers in enumerate(cases):
            with self.subTest(case=number):
                try:
                    Webhook(SECRET).verify(body, headers)
                    expected = 204
                except WebhookVerificationError:
                    expected = 401
                self.assertEqual(receiver.respond("POST", headers, body).status, expected)


class TypesTest(unittest.TestCase):
    def mypy(self, *files: Path) -> str:
        command = [sys.executable, "-m", "mypy", "--strict"]
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(
                [*command, "--cache-dir", os.devnull, *map(str, files)],
                cwd=folder,
                capture_output=True,
                text=True,
            )
            return ended.stdout + ended.stderr

    def test_mypy_understands_the_package_and_a_receiver(self) -> None:
        for file in (HERE.parent.parent / "filing_webhooks", HERE / "typed.py"):
            self.assertIn("Success", self.mypy(file))

    def test_mypy_understands_what_the_readme_shows_of_frameworks(self) -> None:
        for title, app, imports in (
            ("Flask", "flask.Flask(__name__)", ["import flask"]),
            (
                "FastAPI",
                "fastapi.FastAPI()",
                ["import fastapi", "from fastapi.concurrency import run_in_threadpool"],
            ),
        ):
            program = [
                *imports,
                "from filing_webhooks import MemoryStore, Receiver",
                f"app = {app}",
                "receiver = Receiver(print, secrets=[], store=MemoryStore())",
                snippet(title),
            ]
            with self.subTest(title), tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "program.py")
                file.write_text("\n".join(program), "utf-8")
                found = self.mypy(file)
                self.assertIn("Success", found, found)

    def test_mypy_finds_mistakes(self) -> None:
        found = self.mypy(HERE / "mistyped.py")
        self.assertEqual(len(re.findall(r"mistyped.py:\d+: error", found)), 3, found)


def snippet(title: str) -> str:
    """A program of the README, by the comment that it begins with."""
    readme = (HERE.parent.parent / "README.md").read_text("utf-8")
    found = re.search(rf"```python\n# {title}\n(.*?)```", readme, re.DOTALL)
    assert found is not None
    return found[1]


class FrameworksTest(unittest.TestCase):
    def setUp(self) -> None:
        self.heard = Heard()
        self.receiver = Receiver(self.heard, secrets=[SECRET], store=MemoryStore())

    def check(self, call: Callable[[str, bytes, dict[str, str]], Any]) -> None:
        body = body_of(1)
        self.assertEqual(call("POST", body, signed(body)).status_code, 204)
        self.assertEqual(call("POST", body + b" ", signed(body)).status_code, 401)
        self.assertEqual(self.heard.ids, ["evt_1"])

    def test_flask(self) -> None:
        import flask

        app = flask.Flask("receiver")
        exec(snippet("Flask"), {"app": app, "flask": flask, "receiver": self.receiver})
        client = app.test_client()
        self.check(
            lambda method, body, headers: client.open("/filings", method=method, data=body, headers=headers)
        )

    def test_fastapi(self) -> None:
        import fastapi
        from fastapi.concurrency import run_in_threadpool
        from fastapi.testclient import TestClient

        app = fastapi.FastAPI()
        names = {
            "app": app,
            "fastapi": fastapi,
            "receiver": self.receiver,
            "run_in_threadpool": run_in_threadpool,
        }
        exec(snippet("FastAPI"), names)
        client = TestClient(app)
        self.check(
            lambda method, body, headers: client.request(method, "/filings", content=body, headers=headers)
        )


def postgres_programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not found:
        raise unittest.SkipTest("there is no PostgreSQL of Debian")
    return found[-1]


@contextlib.contextmanager
def private_postgres() -> Iterator[str]:
    programs = postgres_programs()
    as_nobody = (
        ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] if os.getuid() == 0 else []
    )

    def run(program: str, *arguments: str) -> None:
        command = [*as_nobody, str(programs / program), *arguments]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)

    with tempfile.TemporaryDirectory() as folder:
        if as_nobody:
            import shutil

            shutil.chown(folder, "nobody", "nogroup")
        data = f"{folder}/data"
        run(
            "initdb",
            "--pgdata",
            data,
            "--username",
            "agency",
            "--auth",
            "trust",
            "--encoding",
            "UTF8",
            "--no-sync",
        )
        settings = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
        run("pg_ctl", "start", "--pgdata", data, "--wait", "--log", f"{folder}/log", "--options", settings)
        try:
            yield f"host={folder} user=agency dbname=postgres"
        finally:
            run("pg_ctl", "stop", "--pgdata", data, "--mode", "immediate", "--wait")


class PostgresTest(unittest.TestCase):
    def test_handles_each_event_once_in_its_transaction(self) -> None:
        import psycopg

        with private_postgres() as address:
            store = SqlStore(lambda: psycopg.connect(address))
            store.create_tables()
            with psycopg.connect(address) as connection:
                connection.execute("create table heard (id text, sequence int)")
            fails = [True]

            def handle(event: Any, delivery: Any) -> None:
                delivery.transaction.execute(
                    "insert into heard values (%s, %s)", (delivery.id, event["data"]["sequence"])
                )
                if fails:
                    fails.pop()
                    raise RuntimeError("the first one fails")
                time.sleep(0.02)

            receiver = Receiver(handle, secrets=[SECRET], store=store)
            odd = "f_\0\ud83d"

            def send(number: int, sequence: int) -> int:
                body = body_of(sequence, filing_id=odd)
                return receiver.respond("POST", signed(body, f"evt_{number}"), body).status

            self.assertEqual([send(1, 1), send(1, 1)], [500, 204])
            threads = [threading.Thread(target=send, args=(2 + n % 3, 2 + n % 3)) for n in range(12)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            with psycopg.connect(address) as connection:
                found = [row[0] for row in connection.execute("select sequence from heard order by ctid")]
            self.assertEqual(found, sorted(set(found)))
            self.assertEqual((found[0], found[-1]), (1, 4))


class KilledDaemonTest(unittest.TestCase):
    def test_loses_nothing_and_repeats_nothing_when_the_daemon_is_killed(self) -> None:
        with contextlib.closing(Stage()) as stage, tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "webhooks.db"))
            store = SqlStore.sqlite(path)
            with contextlib.closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("create table heard (id text, filing text, sequence int)")

            def handle(event: Any, delivery: Any) -> None:
                data = event["data"]
                delivery.transaction.execute(
                    "insert into heard values (?, ?, ?)", (delivery.id, data["filingId"], data["sequence"])
                )
                time.sleep(0.1)

            receiver = Receiver(handle, secrets=[SECRET], store=store)
            with listening(lambda: receiver) as url:
                subscription = stage.subscribe(url, secret=SECRET)
                filings = [f"f_killed_{n}" for n in range(5)]
                for filing in filings:
                    stage.set_filing(filing, status="UNPAID")
                stage.restart()
                for filing in filings:
                    stage.set_filing(filing, status="PAID")
                shown = f"/subscriptions/{subscription['id']}"
                until(lambda: stage.call("GET", shown)["lag"] == 0, "the subscription has no lag", 30)
            with contextlib.closing(sqlite3.connect(path)) as connection:
                rows = connection.execute("select filing, sequence from heard order by 1, 2").fetchall()
            self.assertEqual(rows, [(filing, n) for filing in filings for n in (1, 2)])


if __name__ == "__main__":
    unittest.main()
