import type { KeyObject } from 'node:crypto';
import { isSignedWith, type SignedHeaders } from '../../callbacks/sign.ts';

/** A callback as it was captured. Header names are in lower case. */
export interface CapturedCallback {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** Whether a callback is genuine; if not, the reason and its usual cause. */
export type Verification =
  | { readonly ok: true; readonly id: string; readonly sentAt: number }
  | { readonly ok: false; readonly reason: string };

const toleranceMs = 300_000;

/**
 * Verifies as a receiver has to (Standard Webhooks, "Verifying webhook authenticity"): all three headers, a
 * right signature of one of the keys, a timestamp within five minutes of `nowMs` unless that is null. Public
 * keys verify `v1a` alone, so that no leaked secret stands in for them.
 */
export function verifyCallback(
  callback: CapturedCallback,
  keys: KeyObject | readonly KeyObject[],
  nowMs: number | null,
): Verification {
  const held = [keys].flat();
  const given = (name: keyof SignedHeaders): string => callback.headers.get(name) ?? '';
  const headers: SignedHeaders = {
    'webhook-id': given('webhook-id'),
    'webhook-timestamp': given('webhook-timestamp'),
    'webhook-signature': given('webhook-signature'),
  };
  const missing = Object.entries(headers).flatMap(([name, value]) => (value === '' ? [name] : []));
  if (missing.length > 0)
    return wrong(`${missing.join(' and ')} missing: give every header of the callback.`);
  if (!/^\d{1,12}$/.test(headers['webhook-timestamp']))
    return wrong('webhook-timestamp is no number of seconds.');
  const isSigned = (body: Buffer): boolean => held.some((key) => isSignedWith(key, headers, body));
  if (!isSigned(callback.body))
    return wrong(
      missingVersion(held, headers['webhook-signature']) ?? mismatch(callback.body, isSigned, held),
    );
  const sentAt = Number(headers['webhook-timestamp']) * 1000;
  const ageMs = nowMs === null ? 0 : nowMs - sentAt;
  if (Math.abs(ageMs) > toleranceMs) return wrong(tooOld(ageMs));
  return { ok: true, id: headers['webhook-id'], sentAt };
}

/** Reads the header lines (`name: value`) of a captured request; other lines are left out. */
export function parseHeaders(lines: readonly string[]): Map<string, string> {
  const pairs = lines.flatMap((line) => {
    const [, name = '', value = ''] = /^[<>*\s]*([\w-]+):(.*)$/.exec(line.trimEnd()) ?? [];
    return name === '' ? [] : [[name.toLowerCase(), value.trimStart()] as const];
  });
  return new Map(pairs);
}

// The problem if there are only signatures of the kind that the keys cannot verify; null otherwise.
function missingVersion(keys: readonly KeyObject[], signatures: string): string | null {
  const [wanted, other] = isPublic(keys) ? ['v1a', 'v1'] : ['v1', 'v1a'];
  const has = (version: string) => signatures.split(' ').some((text) => text.startsWith(`${version},`));
  if (has(wanted) || !has(other)) return null;
  const takes = other === 'v1a' ? 'a public key (--key, --keys)' : 'the secret';
  return `it has no ${wanted} signature, only ${other}, which ${takes} verifies: "signatures" of the subscription says which are sent.`;
}

function isPublic(keys: readonly KeyObject[]): boolean {
  return keys.every(({ type }) => type === 'public');
}

function mismatch(body: Buffer, isSigned: (body: Buffer) => boolean, keys: readonly KeyObject[]): string {
  const trimmed = Buffer.from(body.toString().replace(/\r?\n$/, ''));
  if (trimmed.length < body.length && isSigned(trimmed))
    return 'the body has a line break at its end that was not sent: capture the bytes as they came.';
  if (isSigned(rewritten(body)))
    return 'the body was parsed and written again: verify the bytes as they came, before any JSON parser.';
  const other = isPublic(keys) ? 'another key' : 'another secret';
  return `the signature does not fit: ${other}, or a header or byte of the body that is not as it came.`;
}

// The most common mistake of receivers: JSON.stringify(request.body).
function rewritten(body: Buffer): Buffer {
  try {
    return Buffer.from(JSON.stringify(JSON.parse(body.toString())));
  } catch {
    return body;
  }
}

function tooOld(ageMs: number): string {
  const minutes = Math.round(Math.abs(ageMs) / 60_000);
  const when = ageMs > 0 ? `${minutes} minutes ago` : `${minutes} minutes in the future`;
  return `the signature is right, but was made ${when}, and receivers take five minutes: set the clock, or give --ignore-age for a callback captured earlier.`;
}

function wrong(reason: string): Verification {
  return { ok: false, reason };
}
