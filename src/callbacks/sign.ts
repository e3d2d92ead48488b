import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;
const GENERATED_SECRET_BYTES = 32;

/**
 * A signing secret is not `whsec_` plus the base64 of 24–64 bytes. Its message does not repeat the secret.
 */
export class InvalidSecretError extends Error {
  override readonly name = 'InvalidSecretError';

  constructor() {
    super(`a secret is ${SECRET_PREFIX} and the base64 of ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX} bytes`);
  }
}

/**
 * Reads a secret as Standard Webhooks writes it, padded base64 without line breaks. Keep the key while it is
 * used: reading it costs nearly as much as a signature. Throws InvalidSecretError.
 */
export function parseSecret(text: string): KeyObject {
  const encoded = text.startsWith(SECRET_PREFIX) ? text.slice(SECRET_PREFIX.length) : '';
  const bytes = Buffer.from(encoded, 'base64');
  const isCanonical = bytes.toString('base64') === encoded;
  if (!isCanonical || bytes.length < SECRET_BYTES_MIN || bytes.length > SECRET_BYTES_MAX) {
    throw new InvalidSecretError();
  }
  return createSecretKey(bytes);
}

/** A new random secret of 32 bytes. */
export function generateSecret(): string {
  return SECRET_PREFIX + randomBytes(GENERATED_SECRET_BYTES).toString('base64');
}

/**
 * The value of `webhook-signature`: one `v1,<base64>` per key in the order given, separated by spaces. Signed
 * are exactly the bytes of the body behind `id.timestamp.`, with the timestamp of this attempt in whole
 * seconds (Standard Webhooks, "Signature scheme").
 */
export function sign(
  keys: readonly KeyObject[],
  id: string,
  timestampSeconds: number,
  body: Uint8Array,
): string {
  const head = `${id}.${timestampSeconds}.`;
  return keys
    .map((key) => `v1,${createHmac('sha256', key).update(head).update(body).digest('base64')}`)
    .join(' ');
}
