import { createPrivateKey, createPublicKey, createSecretKey } from 'node:crypto';
import { generateKeyPairSync, hash, randomBytes, type KeyObject } from 'node:crypto';

/** The signatures of Standard Webhooks: `v1` is HMAC-SHA256, `v1a` is ed25519. In the order of the header. */
export const signatureVersions = ['v1', 'v1a'] as const;

/** The version of a signature, which names its algorithm. */
export type SignatureVersion = (typeof signatureVersions)[number];

/** The setting as it is stored: null or absent for `v1` alone. */
export type Signatures = readonly SignatureVersion[] | null;

/** The signatures of a subscription's callbacks, at least one, in the order of the header. */
export function signaturesOf(settings: { readonly signatures?: Signatures }): readonly SignatureVersion[] {
  return settings.signatures ?? ['v1'];
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

/** A public key that verifies callbacks until `until`: milliseconds, or null if it is the current key. */
export interface PublicKey {
  /** `whpk_` + base64. */
  readonly text: string;
  readonly kid: string;
  readonly since: number;
  readonly until: number | null;
}

/** A public key as a JSON Web Key (RFC 8037 §2). */
export interface PublicJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly use: 'sig';
  readonly alg: 'EdDSA';
  /** The thumbprint of the key (RFC 7638, with the members of RFC 8037 §2). */
  readonly kid: string;
  /** The 32 bytes in base64url. */
  readonly x: string;
}

// The prefixes of Standard Webhooks name the algorithm: a shared secret, and a private key of ed25519 (64
// bytes, seed and public key).
const secretPrefix = 'whsec_';
const privateKeyPrefix = 'whsk_';
/** The prefix of a public key of ed25519 (Standard Webhooks). */
export const publicKeyPrefix = 'whpk_';

// Bytes of a shared secret: the least and the most that are accepted, and those of a generated one.
const secretBytes = { min: 24, max: 64, generated: 32 };
// Bytes of the seed and of the public key (RFC 8032 §5.1.5).
const partBytes = 32;

/**
 * Maximum number of secrets of an algorithm that are valid at once: each costs a signature of every callback.
 */
const validSecretsMax = 5;

/**
 * A text is no signing secret, private key or public key as Standard Webhooks writes it. Its message says how
 * one looks, and does not repeat the text.
 */
export class InvalidKeyError extends Error {
  override readonly name = 'InvalidKeyError';
}

/**
 * Reads a secret as Standard Webhooks writes it, padded base64 of 24 to 64 bytes without line breaks. Keep
 * the key while it is used: reading it costs nearly as much as a signature. Throws InvalidKeyError.
 */
export function parseSecret(text: string): KeyObject {
  const { min, max } = secretBytes;
  const bytes = bytesOf(text, secretPrefix);
  if (bytes !== null && bytes.length >= min && bytes.length <= max) return createSecretKey(bytes);
  throw new InvalidKeyError(`a secret is ${secretPrefix} and the base64 of ${min} to ${max} bytes`);
}

/** A new random secret of 32 bytes. */
export function generateSecret(): string {
  return secretPrefix + randomBytes(secretBytes.generated).toString('base64');
}

/** A new private key of an ed25519 pair, as `whsk_` and the base64 of its seed and its public key. */
export function generatePrivateKey(): string {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const bytes = Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]);
  return privateKeyPrefix + bytes.toString('base64');
}

/** Reads a private key to sign with. Throws InvalidKeyError. */
export function parsePrivateKey(text: string): KeyObject {
  const bytes = keyBytes(text, privateKeyPrefix, 2 * partBytes);
  const [d, x] = [bytes.subarray(0, partBytes), bytes.subarray(partBytes)];
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: d.toString('base64url'), x: x.toString('base64url') };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}

/** Reads a public key to verify with. Throws InvalidKeyError. */
export function parsePublicKey(text: string): KeyObject {
  const { kty, crv, x } = toJwk(text);
  return createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
}

/** The public key that belongs to a private one; a public one stays as it is. Throws InvalidKeyError. */
export function publicKeyOf(text: string): string {
  const isPrivate = text.startsWith(privateKeyPrefix);
  const bytes = isPrivate
    ? keyBytes(text, privateKeyPrefix, 2 * partBytes)
    : keyBytes(text, publicKeyPrefix, partBytes);
  return publicKeyPrefix + bytes.subarray(-partBytes).toString('base64');
}

/** A public key (`whpk_…`) as a JSON Web Key. Throws InvalidKeyError. */
export function toJwk(publicKey: string): PublicJwk {
  const x = keyBytes(publicKey, publicKeyPrefix, partBytes).toString('base64url');
  // The members that the thumbprint covers, in the order of their names and without blanks (RFC 7638 §3).
  const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x });
  const kid = hash('sha256', members, 'base64url');
  return { kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA', kid, x };
}

function keyBytes(text: string, prefix: string, length: number): Buffer {
  const bytes = bytesOf(text, prefix);
  if (bytes?.length === length) return bytes;
  throw new InvalidKeyError(`a key of ed25519 is ${prefix} and the base64 of ${length} bytes`);
}

// Null for another prefix, and for what is no padded base64.
function bytesOf(text: string, prefix: string): Buffer | null {
  const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes : null;
}

// The signature that a secret makes, by its prefix.
function versionOf(text: string): SignatureVersion {
  return text.startsWith(privateKeyPrefix) || text.startsWith(publicKeyPrefix) ? 'v1a' : 'v1';
}

/** The key to sign with, of a secret of either algorithm. Throws InvalidKeyError. */
export function parseSigner(text: string): KeyObject {
  return versionOf(text) === 'v1a' ? parsePrivateKey(text) : parseSecret(text);
}

/** The secrets to sign with at a time (ms), newest first. */
export function validSecrets(secrets: readonly SigningSecret[], now: number): string[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > now).map(({ text }) => text);
}

/** The secret of an algorithm that does not expire, or null if there is none; pure. */
export function currentOf(secrets: readonly SigningSecret[], version: SignatureVersion): string | null {
  const current = secrets.find(({ text, expiresAt }) => expiresAt === null && versionOf(text) === version);
  return current?.text ?? null;
}

/** A change of the secrets of a subscription. */
export interface Renewal {
  /** The signatures from now on; secrets of others end at once. */
  readonly versions: readonly SignatureVersion[];
  /** The new shared secret, of `v1`. */
  readonly secret?: string | undefined;
  /** Signatures that get a new secret although they have one. */
  readonly renewed?: readonly SignatureVersion[];
  /** Milliseconds for which replaced secrets stay valid; 0 by default. */
  readonly graceMs?: number;
}

/**
 * The secrets after a renewal, in the order of the header, the newest of each algorithm first. An algorithm
 * without a current secret gets a new one. Beyond `validSecretsMax` the oldest ends at once.
 */
export function renewSecrets(
  former: readonly SigningSecret[],
  { versions, secret, renewed = [], graceMs = 0 }: Renewal,
  now: number,
): readonly SigningSecret[] {
  const inOrder = signatureVersions.filter((version) => versions.includes(version));
  return inOrder.flatMap((version) => {
    const own = former.filter(({ text }) => versionOf(text) === version);
    const isKept = !renewed.includes(version) && currentOf(own, version) !== null;
    const given = version === 'v1' ? secret : undefined;
    if (isKept && given === undefined) return own;
    const next = given === undefined ? makeSecret(version, now) : { text: given, expiresAt: null };
    const ending = own
      .map((each) => ({ ...each, expiresAt: Math.min(each.expiresAt ?? Infinity, now + graceMs) }))
      .filter(({ text, expiresAt }) => text !== next.text && expiresAt > now);
    return [next, ...ending].slice(0, validSecretsMax);
  });
}

function makeSecret(version: SignatureVersion, now: number): SigningSecret {
  return version === 'v1'
    ? { text: generateSecret(), expiresAt: null }
    : { text: generatePrivateKey(), expiresAt: null, since: now };
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
