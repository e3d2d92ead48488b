"""The program of the README, run as it stands but for its port."""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from stage import HERE, Stage, until


class Readme(unittest.TestCase):
    def test_its_own_receiver_writes_a_rejection_down(self) -> None:
        readme = (HERE.parent / "README.md").read_text("utf-8")
        [program] = [text for text in re.findall(r"```python\n(.*?)```", readme, re.S) if "serve_forever" in text]
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        stage = Stage()
        self.addCleanup(stage.close)
        subscription = stage.subscribe(f"http://127.0.0.1:{port}/filings")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        receiver = subprocess.Popen(
            [sys.executable, "-c", program.replace("8080", str(port))],
            cwd=folder.name,
            env={**os.environ, "PYTHONPATH": str(HERE.parent), "WEBHOOK_SECRET": subscription["secret"]},
        )
        self.addCleanup(receiver.wait)
        self.addCleanup(receiver.kill)
        until(lambda: answers(port), "the receiver listens")

        stage.set_filing("f_readme", status="PENDING")
        stage.set_filing("f_readme", status="REJECTED", rejectionReason="Affidavit is not signed")
        path = f"/subscriptions/{subscription['id']}/attempts"

        def tries() -> list[Any]:
            return [each for each in stage.call("GET", path)["items"] if each["eventType"] == "filing.rejected"]

        [attempt, *_] = until(tries, "the rejection is sent")
        self.assertEqual((attempt["outcome"], attempt["statusCode"]), ("delivered", 204))
        database = sqlite3.connect(Path(folder.name) / "filings.db")
        self.addCleanup(database.close)
        self.assertEqual(
            database.execute("select filing, reason from tasks").fetchall(),
            [("f_readme", "Affidavit is not signed")],
        )


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
