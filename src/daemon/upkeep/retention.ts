/** The facts that decide about retention; all in milliseconds. */
export interface RetentionInput {
  /** On Redis's clock. */
  readonly now: number;
  /** The time since which Redis's clock is known not to have stepped. */
  readonly steadySince: number;
  /** On this process's own clock. */
  readonly wallNow: number;
  readonly retentionMs: number;
}

// Maximum milliseconds between Redis's clock and the process's own for deletions to be made.
const differenceMsMax = 5 * 60_000;
// Milliseconds without deletions after a step of Redis's clock, or a start.
const believedAfterMs = 3_600_000;

/** Whether the two clocks differ too much to decide about retention; pure. */
export function clocksContradict({ now, wallNow }: Pick<RetentionInput, 'now' | 'wallNow'>): boolean {
  return Math.abs(now - wallNow) > differenceMsMax;
}

/**
 * The time before which events, attempts and dead letters have been kept long enough; null if it is unknown;
 * pure. Deletions cannot be undone, so a clock that went ahead is not believed. The two clocks must agree,
 * and Redis's must have run without a step for an hour, or for the retention if that is shorter.
 */
export function oldestKept(input: RetentionInput): number | null {
  const { now, steadySince, retentionMs } = input;
  const isBelieved = now - steadySince >= Math.min(believedAfterMs, retentionMs);
  return isBelieved && !clocksContradict(input) ? now - retentionMs : null;
}
