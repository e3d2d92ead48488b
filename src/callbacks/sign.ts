import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** The headers by which a receiver knows a callback (Standard Webhooks, "Webhook headers"). */
export interface SignedHeaders {
  readonly 'webhook-id': string;
  /** Whole seconds since the epoch. */
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

/**
 * The headers of one attempt. Signed are exactly the bytes of the body behind `id.timestamp.`; the signature
 * is one `v1,<base64>` per key in the order given, separated by spaces.
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

/** Whether one of the signatures in the headers is that of the key over exactly these bytes. */
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
