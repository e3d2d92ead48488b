/** Watches that polls get on: a process in which they hang is better started again. */
export interface Liveness {
  /** A poll is under way. */
  pollStarted(): void;
  /** A request to the partner service has come to an end, well or badly: however long its poll takes, it gets on. */
  requestEnded(): void;
  /** A poll has ended, well or badly, or was skipped. */
  pollEnded(): void;
  check(): { readonly live: boolean; readonly reasons: readonly string[] };
}

// Longer than any poll takes between two requests, with all its retries and waits.
const hangingAfterMs = 30 * 60_000;

/** `now` in milliseconds, monotonic. A process that does not poll is always live. */
export function createLiveness(now: () => number): Liveness {
  let underWay = 0;
  let lastSign = now();
  return {
    pollStarted() {
      if (underWay === 0) lastSign = now();
      underWay += 1;
    },
    requestEnded() {
      lastSign = now();
    },
    pollEnded() {
      underWay -= 1;
      lastSign = now();
    },
    check() {
      const hangs = underWay > 0 && now() - lastSign > hangingAfterMs;
      const reasons = ['Polls are under way and none has got on for half an hour: restart this process.'];
      return { live: !hangs, reasons: hangs ? reasons : [] };
    },
  };
}
