import { orNull } from '../../json/or-null.ts';

/** A known filing that should have been read and could not be. Times are milliseconds on Redis's clock. */
export interface MissedRead {
  /** True when the partner service answered 404, false when the read failed. */
  readonly gone: boolean;
  /** End of the first 404, or of the first failed read before one. */
  readonly since: number;
  /** End of the last read that missed the filing. */
  readonly lastAt: number;
  /** Latest time at which the filing is known to have been as stored. Later marks do not cover the filing. */
  readonly notBefore: number;
  /** Failed reads in a row. */
  readonly failures: number;
  /** The filing is not read by itself again before this time. */
  readonly retryAt: number;
}

// Maximum milliseconds until a failed read is repeated.
const retryMsMax = 15 * 60_000;

/** The missed read after a 404. The next poll reads the filing again and decides. */
export function missedByAbsence(before: MissedRead | undefined, now: number, notBefore: number): MissedRead {
  // A first 404 in the future was recorded while the clock was ahead.
  if (before?.gone === true) return { ...before, since: Math.min(before.since, now), lastAt: now };
  const until = before?.notBefore ?? notBefore;
  return { gone: true, since: now, lastAt: now, notBefore: until, failures: 0, retryAt: now };
}

/**
 * The missed read after a failed read. The first failure is repeated in the next poll, further ones at
 * growing intervals of up to a quarter of an hour, so one filing that cannot be read does not hold up its
 * account. An earlier 404 stays on record.
 */
export function missedByFailure(
  before: MissedRead | undefined,
  now: number,
  notBefore: number,
  pollIntervalMs: number,
): MissedRead {
  const failures = (before?.failures ?? 0) + 1;
  const retryMs = Math.min(pollIntervalMs * (2 ** Math.min(failures - 1, 20) - 1), retryMsMax);
  return {
    gone: before?.gone ?? false,
    since: before?.since ?? now,
    lastAt: now,
    notBefore: before?.notBefore ?? notBefore,
    failures,
    retryAt: now + retryMs,
  };
}

/** The missed read of a filing that the next poll is to read in any case. */
export function missedByRequest(now: number): MissedRead {
  return { gone: false, since: now, lastAt: now, notBefore: 0, failures: 0, retryAt: now };
}

/**
 * Whether a 404 now, in a poll that began at `pollStartedAt`, is the second one of two polls
 * (docs/polling.md#removal).
 */
export function isSecondAbsence(before: MissedRead | undefined, pollStartedAt: number): boolean {
  return before?.gone === true && before.since < pollStartedAt;
}

/**
 * Whether the filing is to be read by itself now. A time further away than any retry was set by a clock that
 * was ahead.
 */
export function isRetryDue({ retryAt }: MissedRead, now: number): boolean {
  return retryAt <= now || retryAt > now + retryMsMax;
}

/** A missed read as stored; equal ones encode equally. */
export function encodeMissedRead({ gone, since, lastAt, notBefore, failures, retryAt }: MissedRead): string {
  return JSON.stringify([gone, since, lastAt, notBefore, failures, retryAt]);
}

/** Reads what `encodeMissedRead` wrote; null for anything else. */
export function decodeMissedRead(text: string): MissedRead | null {
  const [gone, ...numbers] = orNull(() => [...(JSON.parse(text) as [boolean, ...number[]])]) ?? [];
  const [since, lastAt, notBefore, failures, retryAt] = numbers as [number, number, number, number, number];
  if (typeof gone !== 'boolean' || numbers.length !== 5 || !numbers.every(Number.isFinite)) return null;
  return { gone, since, lastAt, notBefore, failures, retryAt };
}
