// Milliseconds by which the window of a rate is longer than a second. Attempts that take different times to
// the receiver then never exceed the rate within a single second.
const marginMs = 70;

/**
 * The rate of one subscription: the generic cell rate algorithm (ITU-T I.371) without a burst, at the sender.
 * Without a rate it holds nothing up. Times are milliseconds on Redis's clock.
 */
export class Rate {
  #spacingMs = 0;
  #next: number;

  /** Continues the previous rate, by `storedNextAt`. */
  constructor(storedNextAt: number) {
    this.#next = storedNextAt;
  }

  /** The attempts a second from now on; null = any number. */
  follow(perSecond: number | null): void {
    this.#spacingMs = perSecond === null ? 0 : 1_000 / perSecond + marginMs / Math.max(1, perSecond);
  }

  /** Milliseconds until the next attempt may start; 0 when it may now. */
  inMs(now: number): number {
    // A longer wait was decided by a clock that was ahead, or at a lower rate.
    if (this.#next - now > this.#spacingMs) this.#next = now + this.#spacingMs;
    return Math.max(0, this.#next - now);
  }

  /** An attempt was started. */
  started(now: number): void {
    this.#next = Math.max(now, this.#next) + this.#spacingMs;
  }

  /** When the next attempt may start, for the next process; 0 without a rate. */
  nextAt(): number {
    return this.#spacingMs === 0 ? 0 : Math.ceil(this.#next);
  }
}
