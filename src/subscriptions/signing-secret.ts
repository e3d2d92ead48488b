import { createSecretKey, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** A signing secret; callbacks are signed with every one that has not expired, the newest first. */
export interface SigningSecret {
  /** `whsec_` + base64; in clear in memory only. */
  readonly text: string;
  /** Milliseconds since the epoch; null for the current one. */
  readonly expiresAt: number | null;
}

/** The prefix of a secret names its algorithm: `whsec_` is HMAC-SHA256. */
const prefix = 'whsec_';

/** Bytes of a secret: the least and the most that are accepted, and those of a generated one. */
const bytesMin = 24;
const bytesMax = 64;
const bytesGenerated = 32;

/** Maximum number of secrets that are valid at once: each costs a signature of every callback. */
const validSecretsMax = 5;

/**
 * A signing secret is not `whsec_` plus the base64 of 24–64 bytes. Its message does not repeat the secret.
 */
export class InvalidSecretError extends Error {
  override readonly name = 'InvalidSecretError';

  constructor() {
    super(`a secret is ${prefix} and the base64 of ${bytesMin} to ${bytesMax} bytes`);
  }
}

/**
 * Reads a secret as Standard Webhooks writes it, padded base64 without line breaks. Keep the key while it is
 * used: reading it costs nearly as much as a signature. Throws InvalidSecretError.
 */
export function parseSecret(text: string): KeyObject {
  const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  const bytes = Buffer.from(encoded, 'base64');
  const isCanonical = bytes.toString('base64') === encoded;
  if (!isCanonical || bytes.length < bytesMin || bytes.length > bytesMax) throw new InvalidSecretError();
  return createSecretKey(bytes);
}

/** A new random secret of 32 bytes. */
export function generateSecret(): string {
  return prefix + randomBytes(bytesGenerated).toString('base64');
}

/** The secrets to sign with at a time (ms), newest first. */
export function validSecrets(secrets: readonly SigningSecret[], now: number): string[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > now).map(({ text }) => text);
}

/**
 * Puts a new secret first and lets the current ones expire `graceMs` from now. Beyond `validSecretsMax` the
 * oldest ends at once.
 */
export function rotateSecrets(
  secrets: readonly SigningSecret[],
  text: string,
  graceMs: number,
  now: number,
): SigningSecret[] {
  const kept = secrets
    .map((secret) => ({ ...secret, expiresAt: Math.min(secret.expiresAt ?? Infinity, now + graceMs) }))
    .filter(({ text: old, expiresAt }) => old !== text && expiresAt > now);
  return [{ text, expiresAt: null }, ...kept].slice(0, validSecretsMax);
}
