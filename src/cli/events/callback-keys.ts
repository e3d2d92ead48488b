import { type KeyObject } from 'node:crypto';
import {
  InvalidKeyError,
  parsePublicKey,
  parseSecret,
  publicKeyPrefix,
} from '../../subscriptions/signing-secret.ts';
import { CliError, readNamed } from '../cli-error.ts';

// Milliseconds within which a server must have answered.
const timeoutMs = 10_000;

/** Reads a secret (`whsec_…`) or a public key (`whpk_…`). Throws a CliError that describes a valid one. */
export function readKey(kind: 'secret' | 'public key', text: string): KeyObject {
  try {
    return kind === 'secret' ? parseSecret(text) : parsePublicKey(text);
  } catch (error) {
    if (!(error instanceof InvalidKeyError)) throw error;
    throw new CliError('usage', `The ${kind} is not valid: ${error.message}.`);
  }
}

/**
 * Reads the ed25519 keys of a JWK Set (RFC 7517, RFC 8037) from a file or an address; other keys are left
 * out. Throws a CliError if there is none.
 */
export async function readKeySet(source: string, signal: AbortSignal): Promise<KeyObject[]> {
  const text = /^https?:\/\//i.test(source)
    ? await fetchText(source, signal)
    : String(await readNamed(source));
  const keys = keysIn(text);
  if (keys.length === 0)
    throw new CliError('no', `${source} has no ed25519 key: it must be a JWKS, {"keys":[{"kty":"OKP",…}]}.`);
  return keys;
}

function keysIn(text: string): KeyObject[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return [];
  }
  const { keys } = (parsed ?? {}) as { keys?: unknown };
  return (Array.isArray(keys) ? keys : []).flatMap((key: unknown) => {
    const { kty, crv, x } = (key ?? {}) as Record<string, unknown>;
    if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') return [];
    return readKey('public key', publicKeyPrefix + Buffer.from(x, 'base64url').toString('base64'));
  });
}

async function fetchText(address: string, signal: AbortSignal): Promise<string> {
  let status: string;
  try {
    const response = await fetch(address, {
      headers: { accept: 'application/jwk-set+json, application/json' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const text = await response.text();
    if (response.ok) return text;
    status = `it answered ${response.status}`;
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error };
    status = cause?.message ?? message;
  }
  throw new CliError('unavailable', `The keys at ${address} cannot be read (${status}): check the address.`);
}
