# python3 python.py HEADERS_FILE BODY_FILE, with the public keys in WEBHOOK_PUBLIC_KEYS, separated by spaces
import base64
import os
import re
import sys
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

TOLERANCE_SECONDS = 5 * 60


def verify(keys: list, headers: dict, body: bytes) -> None:
    """Raises ValueError unless body (the bytes as received) was signed for one of keys just now.

    Header names are in lower case."""
    webhook_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "")
    if not webhook_id or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise ValueError("a webhook header is missing or malformed")
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("the timestamp is more than five minutes away")
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    # Only v1a counts: whoever learnt a secret could make a v1. During a rotation there are several.
    given = [text[4:] for text in signatures.split(" ") if text.startswith("v1a,")]
    if not any(matches(read_key(key), text, signed) for key in keys for text in given):
        raise ValueError("no signature matches")


def matches(key: Ed25519PublicKey, signature: str, signed: bytes) -> bool:
    try:
        key.verify(base64.b64decode(signature, validate=True), signed)
        return True
    except (InvalidSignature, ValueError):
        return False


def read_key(text: str) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(base64.b64decode(re.sub(r"^whpk_", "", text), validate=True))


def read_headers(file: str) -> dict:
    with open(file, encoding="latin-1") as lines:
        pairs = [line.split(":", 1) for line in lines if ":" in line]
    return {name.lower(): value.strip() for name, value in pairs}


if __name__ == "__main__":
    try:
        with open(sys.argv[2], "rb") as body:
            verify(os.environ.get("WEBHOOK_PUBLIC_KEYS", "").split(), read_headers(sys.argv[1]), body.read())
    except ValueError as error:
        sys.exit(f"refused: {error}")
    print("ok")
