/** Work under way whose results are collected in batches. */
export interface Flights<T> {
  launch(task: Promise<T>): void;
  /** The results since the last call. Throws what a task was rejected with. */
  collect(): T[];
  /** Nothing is under way and nothing waits to be collected. */
  areOver(): boolean;
  /**
   * Resolves when there is something to collect, at once if nothing is under way, or after `timeoutMs`. From
   * the first result on it waits a moment for others, until half of what was under way is there: writing
   * results together is what makes them cheap.
   */
  waitForResult(timeoutMs: number): Promise<void>;
  /** Resolves when nothing is under way any more, whatever comes of it. */
  untilLanded(): Promise<void>;
}

// A result has to wait no longer for others.
const gatherMs = 2;

/** Nothing under way yet. */
export function createFlights<T>(): Flights<T> {
  let results: T[] = [];
  let underWay = 0;
  let failure: { readonly error: unknown } | null = null;
  let onResult: (() => void) | null = null;
  let onLanded: (() => void) | null = null;

  function land(): void {
    underWay -= 1;
    onResult?.();
    if (underWay === 0) onLanded?.();
  }

  function succeed(result: T): void {
    results.push(result);
    land();
  }

  function fail(error: unknown): void {
    failure ??= { error };
    land();
  }

  const isThere = (count: number) => results.length >= count || underWay === 0 || failure !== null;

  // What comes in the same turn of the event loop as the last one waited for is collected with it.
  function waitFor(count: number, timeoutMs: number): Promise<void> {
    if (isThere(count)) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        onResult = null;
        clearTimeout(timer);
        setImmediate(resolve);
      };
      const timer = setTimeout(end, timeoutMs);
      onResult = () => {
        if (isThere(count)) end();
      };
    });
  }

  return {
    launch(task) {
      underWay += 1;
      task.then(succeed, fail);
    },
    collect() {
      if (failure !== null) throw failure.error;
      const collected = results;
      results = [];
      return collected;
    },
    areOver: () => underWay === 0 && results.length === 0 && failure === null,
    async waitForResult(timeoutMs) {
      const half = (underWay + results.length) / 2;
      await waitFor(1, timeoutMs);
      if (results.length > 0) await waitFor(half, gatherMs);
    },
    untilLanded: () =>
      new Promise((resolve) => {
        if (underWay === 0) resolve();
        else onLanded = resolve;
      }),
  };
}
