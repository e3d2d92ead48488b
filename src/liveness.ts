/** Watches that polls come to an end: a process in which they hang is better started again. */
export interface Liveness {
  /** A poll has ended, well or badly, or was skipped. */
  pollEnded(): void;
  /** A poll is under way. */
  pollStarted(): void;
  check(): { readonly live: boolean; readonly reasons: readonly string[] };
}

// Longer than any poll of a reachable service takes between two pages, with all its retries and waits.
const hangingAfterMs = 30 * 60_000;

/** `now` in milliseconds, monotonic; a process that does not poll is always live. */
export function createLiveness(now: () => number, polls: boolean): Liveness {
  let underWay = 0;
  let lastEnd = now();
  return {
    pollStarted() {
      if (underWay === 0) lastEnd = now();
      underWay += 1;
    },
    pollEnded() {
      underWay -= 1;
      lastEnd = now();
    },
    check() {
      const hanging = polls && underWay > 0 && now() - lastEnd > hangingAfterMs;
      return hanging
        ? {
            live: false,
            reasons: ['Polls have begun but none has ended for half an hour: restart this process.'],
          }
        : { live: true, reasons: [] };
    },
  };
}
