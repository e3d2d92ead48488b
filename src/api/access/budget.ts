import { createBoundedMap } from '../../memory/bounded-map.ts';
import type { Rate } from './rate-limit.ts';

/** Points that holders may spend, in this process only: `burst` at once, `perSecond` in the long run. */
export interface Budgets {
  /** Milliseconds until a holder may ask again; 0 while a point is left. */
  waitMs(holder: string): number;
  /** Takes points from a holder, also more than there are: the cost of a request is known afterwards. */
  charge(holder: string, points: number): void;
}

// The latest holders are kept; an older one starts afresh.
const holdersMax = 10_000;
// Milliseconds until a holder may ask again at the latest, however much the requests before have cost.
const debtMsMax = 60_000;

/**
 * Token buckets that may be overdrawn, one number per holder. `now` is in milliseconds and never goes back.
 */
export function createBudgets({ burst, perSecond }: Rate, now: () => number): Budgets {
  const pointMs = 1000 / perSecond;
  const roomMs = (burst - 1) * pointMs;
  /** Time in milliseconds at which the bucket of a holder is full again. */
  const fullAt = createBoundedMap<string, number>(holdersMax);

  return {
    waitMs: (holder) => Math.max(0, (fullAt.get(holder) ?? 0) - now() - roomMs),
    charge(holder, points) {
      const from = Math.max(fullAt.get(holder) ?? 0, now());
      fullAt.set(holder, Math.min(from + points * pointMs, now() + roomMs + debtMsMax));
    },
  };
}
