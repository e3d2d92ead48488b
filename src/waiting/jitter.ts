/** How far a wait may differ, as shares of it: 0.2 for a fifth. */
export interface Spread {
  readonly less?: number;
  readonly more?: number;
}

/**
 * Spreads a wait evenly over its spread, so that what failed together does not come again together. Whole
 * milliseconds; `random` gives a number in [0, 1).
 */
export function jitter(delayMs: number, { less = 0, more = 0 }: Spread, random: () => number): number {
  return Math.round(delayMs * (1 - less + (less + more) * random()));
}
