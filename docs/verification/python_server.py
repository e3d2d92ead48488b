# pip install standardwebhooks
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook

webhook = Webhook(os.environ["WEBHOOK_SECRET"])  # raises without a secret


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            length = min(abs(int(self.headers["content-length"])), 1_000_000)
            event = webhook.verify(self.rfile.read(length), dict(self.headers))
            print(event["type"], event["data"].get("filingId"))  # store the event here, and work on it later
            self.send_response(204)
        except Exception:
            self.send_response(401)
        self.end_headers()


ThreadingHTTPServer(("", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()
