import { jitter } from '../waiting/jitter.ts';
import { meaningOf, type PartnerError } from './partner-error.ts';

const waitMsMin = 1_000;
const waitMsMax = 60_000;
const waitsMsMax = 5 * 60_000;
const waitsInVainMax = 6;
const waitSpread = { more: 0.1 };
const attemptsMax = 3;
// Minimum share of its pace at which requests are repeated. Below it the service is known to be in trouble,
// and one attempt shows as much as three.
const retryShareMin = 0.2;

/**
 * Milliseconds until a failed request is repeated within the same poll, null for never; pure. Only requests
 * whose fault passes quickly are repeated, up to two times.
 */
export function repeatDelayMs(
  error: PartnerError,
  attempt: number,
  share: number,
  random: () => number,
): number | null {
  // A `Retry-After` applies to the whole account; the poll's waits and its backoff follow it.
  if (meaningOf(error).repeat !== 'soon' || error.retryAfterMs !== null) return null;
  if (attempt >= attemptsMax || share < retryShareMin) return null;
  return jitter(100, { more: 4 }, random);
}

/** How long a poll has waited so far because the service refused requests (429). */
export interface WaitsSoFar {
  /** Refusals since the service last accepted a request, this one included. */
  readonly refusedInARow: number;
  readonly waitedMs: number;
  /** Milliseconds of the poll beside these. */
  readonly readingMs: number;
}

/**
 * Milliseconds without a request after a refusal before the poll goes on, null when it ends instead; pure. A
 * second, doubled with each refusal in a row, or `Retry-After` if that is longer, and up to a tenth more. The
 * poll ends after six waits without success, before a wait of over a minute, and when all its waits would
 * take more than five minutes and more than its reads.
 */
export function refusalWaitMs(
  { retryAfterMs }: PartnerError,
  { refusedInARow, waitedMs, readingMs }: WaitsSoFar,
  random: () => number,
): number | null {
  if (refusedInARow > waitsInVainMax) return null;
  const floorMs = Math.max(retryAfterMs ?? 0, waitMsMin * 2 ** Math.max(0, refusedInARow - 1));
  const waitMs = jitter(floorMs, waitSpread, random);
  const tooLong = floorMs > waitMsMax || waitedMs + waitMs > Math.max(waitsMsMax, readingMs);
  return tooLong ? null : waitMs;
}
