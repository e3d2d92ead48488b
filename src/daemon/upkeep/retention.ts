/** What a decision about retention rests on; all in milliseconds. */
export interface RetentionInput {
  /** On Redis's clock. */
  readonly now: number;
  /** Since when Redis's clock is known not to have stepped. */
  readonly steadySince: number;
  /** On this process's own clock. */
  readonly wallNow: number;
  readonly retentionMs: number;
}

// Milliseconds by which Redis's and the process's own clock may differ for what is recorded to be deleted by
// them.
const differenceMsMax = 5 * 60_000;
// Milliseconds after a step of Redis's clock, or a start, before that.
const believedAfterMs = 3_600_000;

/** Whether the two clocks contradict each other about what is old; pure. */
export function clocksContradict({ now, wallNow }: Pick<RetentionInput, 'now' | 'wallNow'>): boolean {
  return Math.abs(now - wallNow) > differenceMsMax;
}

/**
 * The time before which events, attempts and dead letters have been kept long enough, null while nobody can
 * say; pure. What is deleted is gone, so a clock that went ahead is not believed: the two must agree, and
 * Redis's have run without a step for an hour, or for the retention where that is shorter.
 */
export function oldestKept(input: RetentionInput): number | null {
  const { now, steadySince, retentionMs } = input;
  const isBelieved = now - steadySince >= Math.min(believedAfterMs, retentionMs);
  return isBelieved && !clocksContradict(input) ? now - retentionMs : null;
}
