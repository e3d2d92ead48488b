import { createReplyTimes } from '../../memory/reply-times.ts';

/**
 * The attempts of a drain that may have been long on their way. One that arrived late would come into the
 * same second as the attempts after it.
 */
export interface SlowWays {
  /** An attempt was started, in monotonic milliseconds. */
  started(attempt: object, now: number): void;
  /** It has ended, after these milliseconds; null when nothing was sent. */
  ended(attempt: object, durationMs: number | null): void;
  /** When the next attempt may be made at this rate (a second), in milliseconds. */
  nextFrom(rate: number, now: number): number;
}

interface Sent {
  readonly attempt: object;
  readonly at: number;
  /** Null while it is in flight. */
  durationMs: number | null;
}

// Maximum milliseconds for which an attempt is taken to have been on its way longer than the quickest. The
// rest is the receiver's own time.
const extraMsMax = 200;

/** No attempts yet. */
export function createSlowWays(): SlowWays {
  const quickest = createReplyTimes();
  let sent: Sent[] = [];
  let most = 1;

  return {
    started(attempt, now) {
      sent.push({ attempt, at: now, durationMs: null });
      if (sent.length > 2 * most) sent = sent.slice(-most);
    },
    ended(attempt, durationMs) {
      const found = sent.find((each) => each.attempt === attempt);
      if (found === undefined) return;
      if (durationMs === null) {
        sent = sent.filter((each) => each !== found);
        return;
      }
      found.durationMs = durationMs;
      quickest.note(durationMs);
    },
    nextFrom(rate, now) {
      most = Math.max(1, Math.floor(rate));
      const former = sent.at(-most);
      if (former === undefined) return -Infinity;
      const tookMs = former.durationMs ?? now - former.at;
      const extraMs = Math.min(Math.max(0, tookMs - quickest.least()), extraMsMax);
      return former.at + (most * 1_000) / rate + extraMs;
    },
  };
}
