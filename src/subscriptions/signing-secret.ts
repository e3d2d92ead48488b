import { createSecretKey, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { generatePrivateKey, isEd25519Text, parsePrivateKey, publicKeyOf, toJwk } from './ed25519-key.ts';

/** The signatures of Standard Webhooks: `v1` is HMAC-SHA256, `v1a` is ed25519. In the order of the header. */
export const signatureVersions = ['v1', 'v1a'] as const;

/** The version of a signature, which names its algorithm. */
export type SignatureVersion = (typeof signatureVersions)[number];

/** The setting as it is stored: null or absent for `v1` alone. */
export type Signatures = readonly SignatureVersion[] | null;

/** The signatures of a subscription's callbacks, at least one, in the order of the header. */
export function signaturesOf({
  signatures = null,
}: {
  readonly signatures?: Signatures;
}): readonly SignatureVersion[] {
  return signatures ?? ['v1'];
}

/** Whether callbacks carry a signature that a public key verifies. */
export function hasPublicKeys(settings: { readonly signatures?: Signatures }): boolean {
  return signaturesOf(settings).includes('v1a');
}

/**
 * A signing secret; callbacks are signed with every one that has not expired, the newest of each algorithm
 * first.
 */
export interface SigningSecret {
  /** `whsec_` + base64 for `v1`, `whsk_` + base64 for `v1a`; in clear in memory only. */
  readonly text: string;
  /** Milliseconds since the epoch; null for the current one. */
  readonly expiresAt: number | null;
  /** Milliseconds since the epoch at which it was made; only of `whsk_`. */
  readonly since?: number;
}

/** A public key that verifies callbacks until `until`, in milliseconds; null while it is the current one. */
export interface PublicKey {
  /** `whpk_` + base64. */
  readonly text: string;
  readonly kid: string;
  readonly since: number;
  readonly until: number | null;
}

/** The prefix of a secret names its algorithm: `whsec_` is HMAC-SHA256, `whsk_` is ed25519. */
const prefix = 'whsec_';

/** Bytes of a secret: the least and the most that are accepted, and those of a generated one. */
const bytesMin = 24;
const bytesMax = 64;
const bytesGenerated = 32;

/**
 * Maximum number of secrets of an algorithm that are valid at once: each costs a signature of every callback.
 */
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

/** The signature that a secret makes, by its prefix; pure. */
export function versionOf(text: string): SignatureVersion {
  return isEd25519Text(text) ? 'v1a' : 'v1';
}

/** The key to sign with, of a secret of either algorithm. Throws InvalidSecretError and InvalidKeyError. */
export function parseSigner(text: string): KeyObject {
  return versionOf(text) === 'v1a' ? parsePrivateKey(text) : parseSecret(text);
}

/** A new secret of 32 random bytes (`v1`) or a new private key (`v1a`), made at `now` (ms). */
export function makeSecret(version: SignatureVersion, now: number): SigningSecret {
  return version === 'v1'
    ? { text: generateSecret(), expiresAt: null }
    : { text: generatePrivateKey(), expiresAt: null, since: now };
}

/**
 * The secrets for these signatures: those of other algorithms end at once, and an algorithm without a current
 * secret gets a new one. The same array where nothing changes.
 */
export function secretsFor(
  secrets: readonly SigningSecret[],
  versions: readonly SignatureVersion[],
  now: number,
): readonly SigningSecret[] {
  const kept = secrets.filter(({ text }) => versions.includes(versionOf(text)));
  const missing = versions.filter((version) => currentOf(kept, version) === null);
  if (missing.length === 0 && kept.length === secrets.length) return secrets;
  return inOrder([...missing.map((version) => makeSecret(version, now)), ...kept]);
}

/** The secret of an algorithm that does not expire; null where there is none; pure. */
export function currentOf(secrets: readonly SigningSecret[], version: SignatureVersion): string | null {
  const current = secrets.find(({ text, expiresAt }) => expiresAt === null && versionOf(text) === version);
  return current?.text ?? null;
}

/**
 * Puts a new secret first and lets the current ones of its algorithm expire `graceMs` from now. Beyond
 * `validSecretsMax` the oldest ends at once. Secrets of another algorithm stay.
 */
export function rotateSecrets(
  secrets: readonly SigningSecret[],
  next: string | SigningSecret,
  graceMs: number,
  now: number,
): SigningSecret[] {
  const added = typeof next === 'string' ? { text: next, expiresAt: null } : next;
  const isSame = ({ text }: SigningSecret) => versionOf(text) === versionOf(added.text);
  const kept = secrets
    .filter(isSame)
    .map((secret) => ({ ...secret, expiresAt: Math.min(secret.expiresAt ?? Infinity, now + graceMs) }))
    .filter(({ text: old, expiresAt }) => old !== added.text && expiresAt > now);
  const others = secrets.filter((secret) => !isSame(secret));
  return inOrder([...[added, ...kept].slice(0, validSecretsMax), ...others]);
}

/** The public keys that verify callbacks at a time (ms), newest first; pure. */
export function publicKeysOf(secrets: readonly SigningSecret[], now: number): PublicKey[] {
  return secrets
    .filter(({ text, expiresAt }) => versionOf(text) === 'v1a' && (expiresAt === null || expiresAt > now))
    .map(({ text: secret, since = 0, expiresAt: until }) => {
      const text = publicKeyOf(secret);
      return { text, kid: toJwk(text).kid, since, until };
    });
}

// The order of the signatures in the header: by algorithm, and as given within one.
function inOrder(secrets: readonly SigningSecret[]): SigningSecret[] {
  return signatureVersions.flatMap((version) => secrets.filter(({ text }) => versionOf(text) === version));
}
