import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** The headers that identify and sign a callback (Standard Webhooks, "Webhook headers"). */
export interface SignedHeaders {
  readonly 'webhook-id': string;
  /** Whole seconds since the epoch. */
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

/**
 * The headers of one attempt. The signature covers `id.timestamp.` and exactly the bytes of the body. It has
 * one `v1,<base64>` per key in the given order, separated by spaces.
 */
export function signedHeaders(
  keys: readonly KeyObject[],
  id: string,
  timestampSeconds: number,
  body: Uint8Array,
): SignedHeaders {
  const timestamp = String(timestampSeconds);
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.map((key) => signature(key, id, timestamp, body)).join(' '),
  };
}

/** Whether one of the signatures in the headers is the key's over exactly these bytes. */
export function isSignedWith(key: KeyObject, headers: SignedHeaders, body: Uint8Array): boolean {
  const right = Buffer.from(signature(key, headers['webhook-id'], headers['webhook-timestamp'], body));
  return headers['webhook-signature'].split(' ').some((text) => {
    const given = Buffer.from(text);
    return given.length === right.length && timingSafeEqual(given, right);
  });
}

function signature(key: KeyObject, id: string, timestamp: string, body: Uint8Array): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}
