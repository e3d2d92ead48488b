import { createHmac, sign, timingSafeEqual, verify } from 'node:crypto';
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
 * one `v1,<base64>` for each secret key and one `v1a,<base64>` for each private key of ed25519, in the given
 * order and separated by spaces.
 */
export function signedHeaders(
  keys: readonly KeyObject[],
  id: string,
  timestampSeconds: number,
  body: Uint8Array,
): SignedHeaders {
  const timestamp = String(timestampSeconds);
  const signatures = keys.map((key) =>
    key.type === 'secret'
      ? symmetric(key, id, timestamp, body)
      : `v1a,${sign(null, signedContent(id, timestamp, body), key).toString('base64')}`,
  );
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/**
 * Whether one of the signatures in the headers is the key's over exactly these bytes: a secret key verifies
 * `v1`, a public key of ed25519 verifies `v1a`, and neither looks at the other's.
 */
export function isSignedWith(key: KeyObject, headers: SignedHeaders, body: Uint8Array): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  const given = signatures.split(' ', signaturesMax);
  if (key.type !== 'secret') {
    const content = signedContent(id, timestamp, body);
    return given.some((text) => isEd25519Signature(key, content, text));
  }
  const right = Buffer.from(symmetric(key, id, timestamp, body));
  return given.some((text) => {
    const signature = Buffer.from(text);
    return signature.length === right.length && timingSafeEqual(signature, right);
  });
}

// Maximum number of signatures of a header that are looked at; one of ed25519 takes 0.2 ms.
const signaturesMax = 32;

// In one piece, because ed25519 reads its content twice (RFC 8032 §5.1.6).
function signedContent(id: string, timestamp: string, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
}

function isEd25519Signature(key: KeyObject, content: Buffer, text: string): boolean {
  const encoded = text.startsWith('v1a,') ? text.slice('v1a,'.length) : '';
  const signature = Buffer.from(encoded, 'base64');
  return signature.toString('base64') === encoded && verify(null, content, key, signature);
}

function symmetric(key: KeyObject, id: string, timestamp: string, body: Uint8Array): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}
