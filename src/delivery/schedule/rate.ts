/**
 * The rate of one drain: the generic cell rate algorithm (ITU-T I.371) without a burst, at the sender.
 * Without a rate it holds nothing up. Times are milliseconds on Redis's clock.
 */
export interface Rate {
  /** The attempts a second from now on; null = any number. */
  follow(perSecond: number | null): void;
  /** Milliseconds until the next attempt may start; 0 when it may now. */
  inMs(now: number): number;
  /** An attempt was started. */
  started(now: number): void;
  /** When the next attempt may start, for the next drain of any process; 0 without a rate. */
  nextAt(): number;
}

// Milliseconds by which the window of a rate is longer than a second. Attempts that take different times to
// the receiver then never exceed the rate within a single second.
const marginMs = 70;

/** The rate of a drain that begins where the one before it ended, by `storedNextAt`. */
export function createRate(storedNextAt: number): Rate {
  let spacingMs = 0;
  let next = storedNextAt;
  return {
    follow(perSecond) {
      spacingMs = perSecond === null ? 0 : 1_000 / perSecond + marginMs / Math.max(1, perSecond);
    },
    inMs(now) {
      // A longer wait was decided by a clock that was ahead, or at a lower rate.
      if (next - now > spacingMs) next = now + spacingMs;
      return Math.max(0, next - now);
    },
    started(now) {
      next = Math.max(now, next) + spacingMs;
    },
    nextAt: () => (spacingMs === 0 ? 0 : Math.ceil(next)),
  };
}
