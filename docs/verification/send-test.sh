#!/bin/sh
# sh send-test.sh URL BODY_FILE, with the secret in WEBHOOK_SECRET: sends a callback of your own to your receiver
set -eu
id="evt_$(date +%s)"
timestamp="$(date +%s)"
case "${WEBHOOK_SECRET:-}" in whsec_*) ;; *) echo "WEBHOOK_SECRET is not set to a secret (whsec_…)" >&2; exit 1 ;; esac
key="$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')"
# 24 bytes are the shortest key.
[ "${#key}" -ge 48 ] || { echo "WEBHOOK_SECRET is not whsec_ and the base64 of 24 to 64 bytes" >&2; exit 1; }
signature="$( (printf '%s.%s.' "$id" "$timestamp"; cat "$2") |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)"
curl --silent --show-error --include --max-time 15 --data-binary "@$2" \
  -H 'content-type: application/json' -H "webhook-id: $id" -H "webhook-timestamp: $timestamp" \
  -H "webhook-signature: v1,$signature" "$1"
