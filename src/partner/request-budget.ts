import PQueue from 'p-queue';
import { setTimeout as delay } from 'node:timers/promises';
import type { Urgency } from './host-budgets.ts';
import { nextPace, rpsOf, untriedPace, type Pace, type Verdict } from './pace.ts';

/**
 * Ceiling on one account's requests to the partner service; lowered while the service refuses them or is in
 * trouble.
 */
export type RequestBudget = ReturnType<typeof createRequestBudget>;

/** The limits of a budget. */
export interface RequestLimits {
  readonly maxRps: number;
  readonly concurrency: number;
}

/**
 * Resolves when the host's budget, which all accounts share, has a turn for a request, which is sent at once.
 */
export type Turn = (urgency: Urgency, signal: AbortSignal) => Promise<void>;

// Requests that wait for a place of the account, by their urgency.
const priorities: Readonly<Record<Urgency, number>> = { person: 2, change: 1, sweep: 0 };

// Requests that start a second apart may arrive a little closer; the service counts arrivals.
const secondMs = 1_020;

/**
 * A budget of `maxRps` requests in any one second (sliding, so a poll may start with a burst) and
 * `concurrency` at the same time. It learns the service's own limit and keeps that knowledge as long as it
 * lives. With `turn`, a request then waits for its turn at the host.
 */
export function createRequestBudget(limits: RequestLimits, turn: Turn | null = null) {
  const { maxRps } = limits;
  const places = new PQueue({ concurrency: limits.concurrency });
  const starts: number[] = [];
  const accepted: number[] = [];
  let pace = untriedPace(maxRps);
  let restsUntil = -Infinity;
  let slowedAt = -Infinity;
  // Requests that may start as far as the account is concerned, and wait for their turn at the host.
  let inTurn = 0;
  const waits = createStopwatch();

  async function waitForStart(urgency: Urgency, signal: AbortSignal): Promise<number> {
    for (;;) {
      const now = performance.now();
      const waitMs = Math.max(startInMs(starts, rpsOf(pace), now, inTurn), restsUntil - now);
      if (waitMs > 0) await delay(Math.ceil(waitMs), undefined, { signal });
      else if (turn === null) break;
      else {
        await waitForTurn(turn, urgency, signal);
        // The service may have asked for a rest meanwhile.
        if (performance.now() >= restsUntil) break;
      }
    }
    const startedAt = performance.now();
    starts.push(startedAt);
    if (starts.length > maxRps) starts.shift();
    return startedAt;
  }

  async function waitForTurn(take: Turn, urgency: Urgency, signal: AbortSignal): Promise<void> {
    inTurn += 1;
    const stop = urgency === 'change' ? waits.start() : null;
    try {
      await take(urgency, signal);
    } finally {
      inTurn -= 1;
      stop?.();
    }
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
    /**
     * Runs the work when one of the concurrent places is free and one more request may start. The work
     * reports the verdict on its request. Rejects when the signal aborts before that; running work ends by
     * itself. Rejects also as `turn` does, without the work.
     */
    spend<T>(
      work: (report: (verdict: Verdict) => void) => Promise<T>,
      signal: AbortSignal,
      urgency: Urgency = 'change',
    ): Promise<T> {
      // The queue's records of listening tasks keep each other, and all that the tasks lead to, from being
      // collected young: every page of a long list grew old. A task that begins at once needs no listener.
      const mustWait = places.pending >= places.concurrency || places.size > 0;
      return places.add(
        async () => {
          signal.throwIfAborted();
          const startedAt = await waitForStart(urgency, signal);
          return work((verdict) => note(verdict, startedAt));
        },
        { priority: priorities[urgency], ...(mustWait ? { signal } : {}) },
      );
    },
    /** Starts no request for `ms` milliseconds. */
    rest(ms: number) {
      restsUntil = Math.max(restsUntil, performance.now() + ms);
    },
    /** How often the service is asked at present. */
    pace: (): Pace => pace,
    /**
     * Milliseconds so far in which changes of the account waited for their turn at the host, since the budget
     * was made. Sweeps and people are left out.
     */
    waitedForTurnMs: waits.elapsedMs,
  };
}

/** Measures the time in which at least one of its runs goes on. */
function createStopwatch() {
  let running = 0;
  let since = 0;
  let elapsed = 0;
  return {
    start() {
      if (running === 0) since = performance.now();
      running += 1;
      return () => {
        running -= 1;
        if (running === 0) elapsed += performance.now() - since;
      };
    },
    elapsedMs: () => elapsed + (running === 0 ? 0 : performance.now() - since),
  };
}

/**
 * Milliseconds until the next request may start, 0 or less = now; pure. `starts` are the former ones, oldest
 * first; `soon` more are about to start. A rate below one a second stretches the window instead.
 */
export function startInMs(starts: readonly number[], rps: number, now: number, soon = 0): number {
  const perWindow = Math.max(1, Math.floor(rps));
  const windowMs = Math.max(1, 1 / rps) * secondMs;
  if (soon >= perWindow) return windowMs;
  const earlier = starts.at(soon - perWindow);
  return earlier === undefined || starts.length + soon < perWindow ? 0 : earlier + windowMs - now;
}
