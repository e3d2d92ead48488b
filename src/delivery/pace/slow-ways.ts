import { createReplyTimes } from '../../memory/reply-times.ts';

/**
 * The attempts of a drain by when they may have arrived at the receiver. One that arrived late would come
 * into the same second as the attempts after it.
 */
export interface SlowWays {
  /** An attempt was started, in monotonic milliseconds; its connection is being opened. */
  started(attempt: object, now: number): void;
  /** Its connection was open at that time; null when another one is being opened. */
  connected(attempt: object, at: number | null): void;
  /** It has ended, after these milliseconds; null when nothing was sent. */
  ended(attempt: object, durationMs: number | null): void;
  /**
   * When the next attempt may be made at this rate (a second), in milliseconds. Infinity while as many as may
   * arrive within a second are still opening their connections.
   */
  nextFrom(rate: number, now: number): number;
  /** Maximum milliseconds by which connections of the last attempts at this rate were late; 0 without. */
  lateMs(rate: number, now: number): number;
}

interface Arrived {
  readonly attempt: object;
  readonly startedAt: number;
  /** When its connection was open. */
  readonly at: number;
  /** Milliseconds from then on; null while it is in flight. */
  tookMs: number | null;
}

// Maximum milliseconds for which a request is taken to have been on its way longer than the quickest. The
// rest is the receiver's own time.
const extraMsMax = 200;

/** No attempts yet. */
export function createSlowWays(): SlowWays {
  const quickest = createReplyTimes();
  // When those began whose connections are being opened.
  const opening = new Map<object, number>();
  // By their times.
  let arrived: Arrived[] = [];
  let most = 1;

  const find = (attempt: object) => arrived.findLast((each) => each.attempt === attempt);
  const forget = (attempt: object) => (arrived = arrived.filter((each) => each.attempt !== attempt));

  function arrive(attempt: object, at: number): void {
    const startedAt = opening.get(attempt);
    if (startedAt === undefined) return;
    opening.delete(attempt);
    const before = arrived.findLastIndex((each) => each.at <= at);
    arrived.splice(before + 1, 0, { attempt, startedAt, at, tookMs: null });
    if (arrived.length > 2 * most) arrived = arrived.slice(-most);
  }

  return {
    started: (attempt, now) => void opening.set(attempt, now),
    connected(attempt, at) {
      if (at !== null) return arrive(attempt, at);
      const found = find(attempt);
      if (found === undefined) return;
      forget(attempt);
      opening.set(attempt, found.startedAt);
    },
    ended(attempt, durationMs) {
      arrive(attempt, opening.get(attempt) ?? 0);
      const found = find(attempt);
      if (durationMs === null) forget(attempt);
      if (found === undefined || durationMs === null) return;
      found.tookMs = Math.max(0, durationMs - (found.at - found.startedAt));
      if (found.tookMs > 0) quickest.note(found.tookMs);
    },
    nextFrom(rate, now) {
      most = Math.max(1, Math.floor(rate));
      if (opening.size >= most) return Infinity;
      const former = arrived.at(opening.size - most);
      if (former === undefined) return -Infinity;
      const tookMs = former.tookMs ?? now - former.at;
      const extraMs = Math.min(Math.max(0, tookMs - quickest.least()), extraMsMax);
      return former.at + (most * 1_000) / rate + extraMs;
    },
    lateMs(rate, now) {
      const since = now - Math.max(1_000, 1_000 / rate);
      const late = arrived.filter(({ at }) => at > since).map(({ at, startedAt }) => at - startedAt);
      return Math.max(0, ...late);
    },
  };
}
