# python3 python.py HEADERS_FILE BODY_FILE, with the secret in WEBHOOK_SECRET
import base64
import hashlib
import hmac
import os
import re
import sys
import time

TOLERANCE_SECONDS = 5 * 60


def verify(secret: str, headers: dict, body: bytes) -> None:
    """Raises ValueError unless body (the bytes as received) was signed with secret just now.

    Header names are in lower case."""
    webhook_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "")
    if not webhook_id or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise ValueError("a webhook header is missing or malformed")
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("the timestamp is more than five minutes away")
    key = base64.b64decode(re.sub(r"^whsec_", "", secret), validate=True)
    if len(key) < 24:
        raise ValueError("the secret is not whsec_ and base64")
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    # During a rotation there are several signatures, one for each secret.
    if not any(hmac.compare_digest(given.encode(), expected) for given in signatures.split(" ")):
        raise ValueError("no signature matches")


def read_headers(file: str) -> dict:
    with open(file, encoding="latin-1") as lines:
        pairs = [line.split(":", 1) for line in lines if ":" in line]
    return {name.lower(): value.strip() for name, value in pairs}


if __name__ == "__main__":
    try:
        with open(sys.argv[2], "rb") as body:
            verify(os.environ.get("WEBHOOK_SECRET", ""), read_headers(sys.argv[1]), body.read())
    except ValueError as error:
        sys.exit(f"refused: {error}")
    print("ok")
