import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';

/** A callback as it was captured. Header names are in lower case. */
export interface CapturedCallback {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** Whether a callback is genuine; if not, why, and what usually causes that. */
export type Verification =
  | { readonly ok: true; readonly id: string; readonly sentAt: number }
  | { readonly ok: false; readonly reason: string };

const toleranceMs = 300_000;

/**
 * Verifies as a receiver has to (Standard Webhooks, "Verifying webhook authenticity"): every header there,
 * one of the `v1` signatures right, the timestamp within five minutes of `nowMs` unless that is null. Pure.
 */
export function verifyCallback(
  callback: CapturedCallback,
  key: KeyObject,
  nowMs: number | null,
): Verification {
  const missing = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].filter(
    (name) => !callback.headers.get(name),
  );
  if (missing.length > 0)
    return wrong(`${missing.join(' and ')} missing: give every header of the callback.`);
  const id = callback.headers.get('webhook-id') ?? '';
  const timestamp = callback.headers.get('webhook-timestamp') ?? '';
  if (!/^\d{1,12}$/.test(timestamp)) return wrong('webhook-timestamp is no number of seconds.');
  const given = (callback.headers.get('webhook-signature') ?? '').split(' ');
  const isSigned = (body: Buffer): boolean =>
    given.some((text) => equal(text, signatureOf(key, id, timestamp, body)));
  if (!isSigned(callback.body)) return wrong(mismatch(callback.body, isSigned));
  const ageMs = nowMs === null ? 0 : nowMs - Number(timestamp) * 1000;
  if (Math.abs(ageMs) > toleranceMs) return wrong(tooOld(ageMs));
  return { ok: true, id, sentAt: Number(timestamp) * 1000 };
}

/** Reads header lines (`name: value`) as they stand in a captured request; other lines are left out. Pure. */
export function parseHeaders(lines: readonly string[]): Map<string, string> {
  const pairs = lines.flatMap((line) => {
    const [, name = '', value = ''] = /^[<>*\s]*([\w-]+):\s*(.*?)\s*$/.exec(line) ?? [];
    return name === '' ? [] : [[name.toLowerCase(), value] as const];
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

// The commonest mistake of receivers: JSON.stringify(request.body).
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

function signatureOf(key: KeyObject, id: string, timestamp: string, body: Buffer): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

function equal(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function wrong(reason: string): Verification {
  return { ok: false, reason };
}
