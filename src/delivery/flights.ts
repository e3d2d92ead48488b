/** Work under way whose results are collected in batches. */
export interface Flights<T> {
  launch(task: Promise<T>): void;
  /** The results since the last call. Throws what a task was rejected with. */
  collect(): T[];
  /** Nothing is under way and nothing waits to be collected. */
  areOver(): boolean;
  /**
   * Resolves when there is something to collect, at once if nothing is under way, or after `timeoutMs`. Waits for the
   * end of the turn of the event loop in which the first result came: what comes in the same turn is collected with it.
   */
  waitForResult(timeoutMs: number): Promise<void>;
  /** Resolves when nothing is under way any more, whatever comes of it. */
  untilLanded(): Promise<void>;
}

/** Nothing under way yet. */
export function createFlights<T>(): Flights<T> {
  let results: T[] = [];
  let underWay = 0;
  let failure: { readonly error: unknown } | null = null;
  let notify: (() => void) | null = null;
  let onLanded: (() => void) | null = null;

  function land(): void {
    underWay -= 1;
    notify?.();
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

  function waitForNotice(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      notify = () => {
        notify = null;
        clearTimeout(timer);
        setImmediate(resolve);
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
      if (underWay > 0 && results.length === 0 && failure === null) await waitForNotice(timeoutMs);
    },
    untilLanded: () =>
      new Promise((resolve) => {
        if (underWay === 0) resolve();
        else onLanded = resolve;
      }),
  };
}
