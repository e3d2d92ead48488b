"""The daemon as its users run it, and receivers that it calls."""

from __future__ import annotations

import contextlib
import http.server
import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import wsgiref.simple_server
from pathlib import Path
from typing import Any, Callable, Iterator, Optional, TypeVar

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from filing_webhooks import Receiver  # noqa: E402

INTEGRATIONS = HERE.parent.parent
T = TypeVar("T")


class Stage:
    """A sandbox, a Redis and a daemon in processes of their own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            ["node", str(INTEGRATIONS / "testing" / "serve.ts"), "PUBLIC_URL=https://filings.example.com"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        about = json.loads(self._line())
        self.url: str = about["url"]
        self._token: str = about["token"]
        self._sandbox: str = about["sandboxUrl"]
        self._account: str = f"/v1/accounts/{about['account']}"

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def restart(self) -> None:
        """Kills the daemon and starts it again."""
        assert self._process.stdin is not None
        self._process.stdin.write("restart\n")
        self._process.stdin.flush()
        if self._line() != "done\n":
            raise RuntimeError("the daemon did not start again")

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The API below the account, as the operator."""
        return request_json(method, f"{self.url}{self._account}{path}", body, self._token)

    def subscribe(self, url: str, **settings: Any) -> Any:
        return self.call("POST", "/subscriptions", {"url": url, **settings})

    def set_filing(self, filing_id: str, **fields: Any) -> None:
        """Sets a filing of the partner service; the daemon has seen it when this returns."""
        request_json("PUT", f"{self._sandbox}/_sandbox/filings/{filing_id}", fields)
        until(lambda: self._shows(filing_id, fields), f"the daemon sees {filing_id} as {fields}")

    def _shows(self, filing_id: str, fields: dict[str, Any]) -> bool:
        try:
            shown = self.call("GET", f"/filings/{filing_id}")
        except urllib.error.HTTPError as error:
            error.close()
            return False
        return all(shown.get(name, value) == value for name, value in fields.items())

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


class Heard:
    """A handler that keeps what it is called with, and fails as long as `failures` says so."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.ids: list[str] = []
        self.failures = 0

    def __call__(self, event: Any, delivery: Any) -> None:
        if self.failures > 0:
            self.failures -= 1
            raise RuntimeError("the handler fails, as the test wants it to")
        self.events.append(event)
        self.ids.append(delivery.id)

    def sequences(self, filing_id: str) -> list[int]:
        return [e["data"]["sequence"] for e in self.events if e["data"].get("filingId") == filing_id]


class _SilentHandler(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def listening(receiver: Callable[[], Receiver], wsgi: bool = False) -> Iterator[str]:
    """Serves the receiver, which may be made later than the address is known."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def __new__(cls, *arguments: Any) -> Any:
            return receiver().handler_class()(*arguments)

    def application(environ: Any, start_response: Any) -> Any:
        return receiver().wsgi(environ, start_response)

    server: http.server.HTTPServer = (
        wsgiref.simple_server.make_server("127.0.0.1", 0, application, handler_class=_SilentHandler)
        if wsgi
        else http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/hooks"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def request_json(method: str, url: str, body: Any = None, token: Optional[str] = None) -> Any:
    request = urllib.request.Request(url, method=method)
    if token is not None:
        request.add_header("authorization", f"Bearer {token}")
    if body is not None:
        request.add_header("content-type", "application/json")
        request.data = json.dumps(body).encode()
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.loads(response.read() or b"null")


def until(condition: Callable[[], T], what: str, seconds: float = 15) -> T:
    """Waits for a condition; raises after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} seconds: {what}")
        time.sleep(0.02)
