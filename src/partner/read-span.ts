import { clockStepMsMin } from '../redis/clock.ts';

/**
 * The time span of one read, milliseconds on Redis's clock. The values read were true at some moment within
 * it.
 */
export interface ReadSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * The span of a read that took `tookMs` milliseconds. If Redis's clock stepped during the read, the whole
 * span is on the clock as it is now: compared with other reads, a start on the former clock would look newer,
 * or older, than it is.
 */
export function spanOf(start: number, end: number, tookMs: number): ReadSpan {
  const hasStepped = Math.abs(end - start - tookMs) >= clockStepMsMin;
  return hasStepped ? { start: end - Math.ceil(tookMs), end } : { start, end: Math.max(start, end) };
}
