import PQueue from 'p-queue';
import { setTimeout as delay } from 'node:timers/promises';
import { nextPace, rpsOf, untriedPace, type Pace, type Verdict } from './pace.ts';

/**
 * Ceiling on requests to the partner service of one account; lower where the service refuses it, or is in
 * trouble.
 */
export interface RequestBudget {
  /**
   * Runs the work when one of the concurrent places is free and one more request may start. The work reports
   * the verdict on its request. Rejects when the signal aborts before that; running work ends by itself.
   */
  spend<T>(work: (report: (verdict: Verdict) => void) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Starts no request for `ms` milliseconds. */
  rest(ms: number): void;
  /** How often the service is asked at present. */
  pace(): Pace;
}

/** The limits of a budget. */
export interface RequestLimits {
  readonly maxRps: number;
  readonly concurrency: number;
}

// Requests that start a second apart may arrive a little closer; the service counts arrivals.
const secondMs = 1_020;

/**
 * A budget of `maxRps` requests in any one second (sliding, so a poll may start with a burst) and
 * `concurrency` at the same time. It learns the service's own limit and keeps that knowledge as long as it
 * lives.
 */
export function createRequestBudget(limits: RequestLimits): RequestBudget {
  const { maxRps } = limits;
  const places = new PQueue({ concurrency: limits.concurrency });
  const starts: number[] = [];
  const accepted: number[] = [];
  let pace = untriedPace(maxRps);
  let restsUntil = -Infinity;
  let slowedAt = -Infinity;

  async function waitForStart(signal: AbortSignal): Promise<number> {
    for (;;) {
      const now = performance.now();
      const waitMs = Math.max(startInMs(starts, rpsOf(pace), now), restsUntil - now);
      if (waitMs <= 0) break;
      await delay(Math.ceil(waitMs), undefined, { signal });
    }
    const startedAt = performance.now();
    starts.push(startedAt);
    if (starts.length > maxRps) starts.shift();
    return startedAt;
  }

  function note(verdict: Verdict, startedAt: number): void {
    if (verdict === 'fine') accepted.push(startedAt);
    // Requests that were under way together report the same trouble.
    else if (startedAt - slowedAt < 1_000) return;
    else slowedAt = performance.now();
    while (accepted[0] !== undefined && accepted[0] <= startedAt - 1_000) accepted.shift();
    pace = nextPace(pace, verdict, { maxRps, inLastSecond: accepted.length });
    places.concurrency = Math.max(1, Math.round((limits.concurrency * rpsOf(pace)) / maxRps));
  }

  return {
    spend: (work, signal) =>
      places.add(
        async () => {
          const startedAt = await waitForStart(signal);
          return work((verdict) => note(verdict, startedAt));
        },
        { signal },
      ),
    rest(ms) {
      restsUntil = Math.max(restsUntil, performance.now() + ms);
    },
    pace: () => pace,
  };
}

/**
 * Milliseconds until the next request may start, 0 or less = now; pure. `starts` are the former ones, oldest
 * first. A rate below one a second stretches the window instead.
 */
export function startInMs(starts: readonly number[], rps: number, now: number): number {
  const perWindow = Math.max(1, Math.floor(rps));
  const windowMs = Math.max(1, 1 / rps) * secondMs;
  const earlier = starts.at(-perWindow);
  return earlier === undefined || starts.length < perWindow ? 0 : earlier + windowMs - now;
}
