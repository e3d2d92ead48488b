import { createPrivateKey, createPublicKey, generateKeyPairSync, hash } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

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

/** The prefixes of Standard Webhooks: a private key (64 bytes, seed and public key) and a public one. */
const privateKeyPrefix = 'whsk_';
export const publicKeyPrefix = 'whpk_';

// Bytes of the seed and of the public key (RFC 8032 §5.1.5).
const partBytes = 32;

/**
 * A text is not `whsk_` plus the base64 of 64 bytes, or `whpk_` plus the base64 of 32 bytes. Its message does
 * not repeat the text.
 */
export class InvalidKeyError extends Error {
  override readonly name = 'InvalidKeyError';
}

/** A new private key of an ed25519 pair, as `whsk_` and the base64 of its seed and its public key. */
export function generatePrivateKey(): string {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const bytes = Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]);
  return privateKeyPrefix + bytes.toString('base64');
}

/** Whether a text names itself a private or a public ed25519 key; pure. */
export function isEd25519Text(text: string): boolean {
  return text.startsWith(privateKeyPrefix) || text.startsWith(publicKeyPrefix);
}

/** Reads a private key to sign with. Throws InvalidKeyError. */
export function parsePrivateKey(text: string): KeyObject {
  const bytes = bytesOf(text, privateKeyPrefix, 2 * partBytes);
  const [d, x] = [bytes.subarray(0, partBytes), bytes.subarray(partBytes)];
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: d.toString('base64url'), x: x.toString('base64url') };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}

/** Reads a public key to verify with. Throws InvalidKeyError. */
export function parsePublicKey(text: string): KeyObject {
  const x = bytesOf(text, publicKeyPrefix, partBytes).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

/** The public key that belongs to a private one; a public one stays as it is. Throws InvalidKeyError. */
export function publicKeyOf(text: string): string {
  if (!text.startsWith(privateKeyPrefix)) {
    bytesOf(text, publicKeyPrefix, partBytes);
    return text;
  }
  const bytes = bytesOf(text, privateKeyPrefix, 2 * partBytes);
  return publicKeyPrefix + bytes.subarray(partBytes).toString('base64');
}

/** A public key (`whpk_…`) as a JSON Web Key. Throws InvalidKeyError. */
export function toJwk(publicKey: string): PublicJwk {
  const x = bytesOf(publicKey, publicKeyPrefix, partBytes).toString('base64url');
  // The members that the thumbprint covers, in the order of their names and without blanks (RFC 7638 §3).
  const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x });
  const kid = hash('sha256', members, 'base64url');
  return { kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA', kid, x };
}

function bytesOf(text: string, prefix: string, length: number): Buffer {
  const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length === length && bytes.toString('base64') === encoded) return bytes;
  throw new InvalidKeyError(`a key of ed25519 is ${prefix} and the base64 of ${length} bytes`);
}
