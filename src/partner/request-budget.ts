import PQueue from 'p-queue';
import { setTimeout as delay } from 'node:timers/promises';

/** Ceiling on requests to the partner service of one account; lower while the service is in trouble. */
export interface RequestBudget {
  /**
   * Runs the work when one of the concurrent places is free and one more request may start. Rejects when the signal
   * aborts before that; a running work is left to end by itself.
   */
  spend<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** What became of a request: trouble halves the pace, each answer gives some of it back. */
  report(answer: 'fine' | 'trouble'): void;
  /** The part of the ceiling in use, 1 when the service is well. */
  pace(): number;
}

/** What a budget allows at the most. */
export interface RequestLimits {
  readonly maxRps: number;
  readonly concurrency: number;
}

// Requests that start a second apart may arrive a little closer; the service counts arrivals.
const secondMs = 1_020;
const paceMin = 1 / 16;
const paceGain = 1 / 32;

/**
 * A budget of `maxRps` requests in any one second (sliding, so a poll may start with a burst) and `concurrency` at the
 * same time.
 */
export function createRequestBudget(limits: RequestLimits): RequestBudget {
  const places = new PQueue({ concurrency: limits.concurrency });
  const starts: number[] = [];
  let pace = 1;
  let slowedAt = -Infinity;

  async function waitForStart(signal: AbortSignal): Promise<void> {
    for (;;) {
      const waitMs = startInMs(starts, limits.maxRps * pace, performance.now());
      if (waitMs <= 0) break;
      await delay(Math.ceil(waitMs), undefined, { signal });
    }
    starts.push(performance.now());
    if (starts.length > limits.maxRps) starts.shift();
  }

  return {
    spend: (work, signal) =>
      places.add(
        async () => {
          await waitForStart(signal);
          return work();
        },
        { signal },
      ),
    report(answer) {
      const now = performance.now();
      // Requests that were under way together tell of the same trouble.
      if (answer === 'trouble' && now - slowedAt < secondMs) return;
      if (answer === 'trouble') slowedAt = now;
      pace = nextPace(pace, answer);
      places.concurrency = Math.max(1, Math.round(limits.concurrency * pace));
    },
    pace: () => pace,
  };
}

/** Additive increase, multiplicative decrease, between 1/16 and 1; pure. */
export function nextPace(pace: number, answer: 'fine' | 'trouble'): number {
  return answer === 'trouble' ? Math.max(paceMin, pace / 2) : Math.min(1, pace + paceGain);
}

/**
 * In how many milliseconds the next request may start, 0 or less = now; pure. `starts` are the former ones, oldest
 * first. A rate below one a second stretches the window instead.
 */
export function startInMs(starts: readonly number[], rps: number, now: number): number {
  const perWindow = Math.max(1, Math.floor(rps));
  const windowMs = Math.max(1, 1 / rps) * secondMs;
  const earlier = starts.at(-perWindow);
  return earlier === undefined || starts.length < perWindow ? 0 : earlier + windowMs - now;
}
