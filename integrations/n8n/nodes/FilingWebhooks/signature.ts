import { createHmac, timingSafeEqual } from 'node:crypto';

/** Headers of a callback, by their names in lower case. */
export type CallbackHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Seconds by which the time of a callback may differ from the clock of n8n. */
const toleranceSeconds = 300;

/**
 * Verifies a callback as Standard Webhooks says: the signature (`v1`) over id, timestamp and the bytes of the body, compared in constant
 * time, and a timestamp within five minutes of `now` (milliseconds). Returns null for a genuine callback, otherwise what is wrong with it.
 */
export function refusal(secret: string, headers: CallbackHeaders, body: Buffer, now: number): string | null {
  const id = single(headers['webhook-id']);
  const timestamp = single(headers['webhook-timestamp']);
  const signatures = single(headers['webhook-signature']);
  if (id === null || timestamp === null || signatures === null)
    return 'webhook-id, webhook-timestamp or webhook-signature is missing';
  if (!/^\d{1,12}$/.test(timestamp)) return 'webhook-timestamp is not a time in Unix seconds';
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds)
    return 'webhook-timestamp is more than five minutes off: check the clock of the machine that n8n runs on';
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (key.length < keyBytesMin)
    return 'the secret of the subscription is not known: publish the workflow anew';
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  const genuine = signatures.split(' ').some((signature) => {
    const given = signature.startsWith('v1,') ? Buffer.from(signature.slice(3), 'base64') : Buffer.alloc(0);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  return genuine ? null : 'no signature matches the secret of the subscription';
}

/** Minimum number of bytes of a key (Standard Webhooks). */
const keyBytesMin = 24;

function single(value: string | string[] | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
