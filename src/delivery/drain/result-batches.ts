/** Tasks in flight whose results are collected in batches. */
export interface ResultBatches<T> {
  add(task: Promise<T>): void;
  /** Removes and returns the results so far. Throws the error of a task that was rejected. */
  collect(): T[];
  /** True when no task is in flight and no result waits to be collected. */
  isEmpty(): boolean;
  /**
   * Resolves when there is a result to collect, at once if no task is in flight, or after `timeoutMs`. After
   * the first result it waits a moment for others, until half of the tasks in flight have ended: results are
   * cheap when they are written together.
   */
  waitForResult(timeoutMs: number): Promise<void>;
  /** Resolves when no task is in flight any more, however they end. */
  untilSettled(): Promise<void>;
}

// Maximum milliseconds for which a result waits for others.
const gatherMs = 2;

/** No tasks yet. */
export function createResultBatches<T>(): ResultBatches<T> {
  let results: T[] = [];
  let inFlight = 0;
  let failure: { readonly error: unknown } | null = null;
  let onResult: (() => void) | null = null;
  let onSettled: (() => void) | null = null;

  function end(): void {
    inFlight -= 1;
    onResult?.();
    if (inFlight === 0) onSettled?.();
  }

  function succeed(result: T): void {
    results.push(result);
    end();
  }

  function fail(error: unknown): void {
    failure ??= { error };
    end();
  }

  const has = (count: number) => results.length >= count || inFlight === 0 || failure !== null;

  // Results of the same turn of the event loop as the last one waited for are collected with it.
  function waitFor(count: number, timeoutMs: number): Promise<void> {
    if (has(count)) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = (): void => {
        onResult = null;
        clearTimeout(timer);
        setImmediate(resolve);
      };
      const timer = setTimeout(stop, timeoutMs);
      onResult = () => {
        if (has(count)) stop();
      };
    });
  }

  return {
    add(task) {
      inFlight += 1;
      task.then(succeed, fail);
    },
    collect() {
      if (failure !== null) throw failure.error;
      const collected = results;
      results = [];
      return collected;
    },
    isEmpty: () => inFlight === 0 && results.length === 0 && failure === null,
    async waitForResult(timeoutMs) {
      const half = (inFlight + results.length) / 2;
      await waitFor(1, timeoutMs);
      if (results.length > 0) await waitFor(half, gatherMs);
    },
    untilSettled: () =>
      new Promise((resolve) => {
        if (inFlight === 0) resolve();
        else onSettled = resolve;
      }),
  };
}
