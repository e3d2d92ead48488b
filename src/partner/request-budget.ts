import PQueue from 'p-queue';

/** Ceiling on requests to the partner service of one account. */
export interface RequestBudget {
  /** Runs the work when one of the concurrent places is free. Rejects when the signal aborts while it waits. */
  place<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Resolves when one more request may start: at most `maxRps` do in any second. */
  token(): Promise<void>;
}

/** A budget of `maxRps` requests in any one second (sliding) and `concurrency` at the same time. */
export function createRequestBudget(limits: { maxRps: number; concurrency: number }): RequestBudget {
  const places = new PQueue({ concurrency: limits.concurrency });
  const starts = new PQueue({ interval: 1000, intervalCap: limits.maxRps, strict: true });
  return {
    place: (work, signal) => places.add(work, { signal }),
    token: () => starts.add(() => Promise.resolve()),
  };
}
