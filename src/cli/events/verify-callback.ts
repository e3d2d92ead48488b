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
 * right signature, a timestamp within five minutes of `nowMs` unless that is null.
 */
export function verifyCallback(
  callback: CapturedCallback,
  key: KeyObject,
  nowMs: number | null,
): Verification {
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
  const isSigned = (body: Buffer): boolean => isSignedWith(key, headers, body);
  if (!isSigned(callback.body)) return wrong(mismatch(callback.body, isSigned));
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

function mismatch(body: Buffer, isSigned: (body: Buffer) => boolean): string {
  const trimmed = Buffer.from(body.toString().replace(/\r?\n$/, ''));
  if (trimmed.length < body.length && isSigned(trimmed))
    return 'the body has a line break at its end that was not sent: capture the bytes as they came.';
  if (isSigned(rewritten(body)))
    return 'the body was parsed and written again: verify the bytes as they came, before any JSON parser.';
  return 'the signature does not fit: another secret, or a header or byte of the body that is not as it came.';
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
