#!/bin/sh
# sh send-test.sh URL BODY_FILE, with the secret in WEBHOOK_SECRET: sends a callback of your own to your receiver
set -eu
id="evt_$(date +%s)"
timestamp="$(date +%s)"
key="$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')"
signature="$( (printf '%s.%s.' "$id" "$timestamp"; cat "$2") |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)"
curl --silent --show-error --include --max-time 15 --data-binary "@$2" \
  -H 'content-type: application/json' -H "webhook-id: $id" -H "webhook-timestamp: $timestamp" \
  -H "webhook-signature: v1,$signature" "$1"
