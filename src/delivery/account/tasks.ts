/** Work beside a loop, and the sleep of the loop until any of it has ended. */
export interface Tasks {
  /** Begins work; the first that fails is remembered. */
  begin(work: () => Promise<void>): void;
  /**
   * Counts work that begins and ends elsewhere; the returned function ends it, once, with its failure if
   * any.
   */
  started(): (failure?: { readonly error: unknown }) => void;
  /** Number of those under way. */
  count(): number;
  failure(): { readonly error: unknown } | null;
  /** Ends a sleep. */
  poke(): void;
  /** Sleeps for these milliseconds, or until it is poked. */
  sleep(ms: number): Promise<void>;
  /** Forgets a failure. */
  reset(): void;
}

/** No work yet. */
export function createTasks(): Tasks {
  let underWay = 0;
  let failed: { readonly error: unknown } | null = null;
  let wake: (() => void) | null = null;

  function started(): ReturnType<Tasks['started']> {
    underWay += 1;
    return (failure) => {
      underWay -= 1;
      if (failure !== undefined) failed ??= failure;
      wake?.();
    };
  }

  return {
    begin(work) {
      const end = started();
      work().then(
        () => end(),
        (error: unknown) => end({ error }),
      );
    },
    started,
    count: () => underWay,
    failure: () => failed,
    poke: () => wake?.(),
    async sleep(ms) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const timer = setTimeout(resolve, ms);
      await promise;
      clearTimeout(timer);
      wake = null;
    },
    reset() {
      failed = null;
    },
  };
}
