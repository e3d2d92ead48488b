/** A known filing that should have been read and could not be. Times are milliseconds on Redis's clock. */
export interface Miss {
  /** True when the partner service answered 404, false when the read failed. */
  readonly gone: boolean;
  /** End of the first 404, or of the first failed read before one. */
  readonly since: number;
  /** End of the last read that missed it. */
  readonly lastAt: number;
  /**
   * Latest time at which the filing is known to have been as stored; marks earned later do not speak of it.
   */
  readonly knownUntil: number;
  /** Failed reads in a row. */
  readonly failures: number;
  /** Not to be read one by one again before this time. */
  readonly retryAt: number;
}

const retryMsMax = 15 * 60_000;

/** After a 404; pure. It is asked for again in the very next poll, which decides. */
export function missByAbsence(before: Miss | undefined, now: number, knownUntil: number): Miss {
  // A first 404 of the future was noted while the clock was ahead.
  if (before?.gone === true) return { ...before, since: Math.min(before.since, now), lastAt: now };
  const until = before?.knownUntil ?? knownUntil;
  return { gone: true, since: now, lastAt: now, knownUntil: until, failures: 0, retryAt: now };
}

/**
 * After a failed read; pure. The first is repeated in the next poll, further ones ever less often, up to a
 * quarter of an hour: one filing that cannot be read does not hold up its account. A 404 seen before stays on
 * record.
 */
export function missByFailure(
  before: Miss | undefined,
  now: number,
  knownUntil: number,
  pollIntervalMs: number,
): Miss {
  const failures = (before?.failures ?? 0) + 1;
  const retryMs = Math.min(pollIntervalMs * (2 ** Math.min(failures - 1, 20) - 1), retryMsMax);
  return {
    gone: before?.gone ?? false,
    since: before?.since ?? now,
    lastAt: now,
    knownUntil: before?.knownUntil ?? knownUntil,
    failures,
    retryAt: now + retryMs,
  };
}

/** Of a filing that is to be read in any case, as soon as may be; pure. */
export function missByDoubt(now: number): Miss {
  return { gone: false, since: now, lastAt: now, knownUntil: 0, failures: 0, retryAt: now };
}

/**
 * Whether a 404 now, in a poll that began at `pollStartedAt`, is the second one of two polls (contract: 404
 * on two polls); pure.
 */
export function isSecondAbsence(before: Miss | undefined, pollStartedAt: number): boolean {
  return before?.gone === true && before.since < pollStartedAt;
}

/**
 * Whether the filing is to be asked for by itself now; pure. A time further away than any retry was set by a
 * clock that was ahead.
 */
export function isRetryDue({ retryAt }: Miss, now: number): boolean {
  return retryAt <= now || retryAt > now + retryMsMax;
}

/** A miss as stored; equal ones encode equally. */
export function encodeMiss({ gone, since, lastAt, knownUntil, failures, retryAt }: Miss): string {
  return JSON.stringify([gone, since, lastAt, knownUntil, failures, retryAt]);
}

/** Reads what `encodeMiss` wrote; null where it is anything else. */
export function decodeMiss(text: string): Miss | null {
  const [gone, since, lastAt, knownUntil, failures, retryAt] = parseList(text);
  const isMiss =
    typeof gone === 'boolean' &&
    isNumber(since) &&
    isNumber(lastAt) &&
    isNumber(knownUntil) &&
    isNumber(failures) &&
    isNumber(retryAt);
  return isMiss ? { gone, since, lastAt, knownUntil, failures, retryAt } : null;
}

function parseList(text: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? (parsed as unknown[]) : [];
  } catch {
    return [];
  }
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}
