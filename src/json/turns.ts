// Milliseconds that a piece of work goes on before others have a turn.
const turnMs = 5;

// There is one event loop, and thus one queue. A piece of work goes on in each of its turns: if all did, many
// accounts with large pages would hold up the process as one very large page does.
const waiting: (() => void)[] = [];
let isScheduled = false;

/**
 * The turns of a piece of long work, which shares the process with everything else. It begins now, or with
 * its first call of `next`.
 */
export function takeTurns() {
  let beganAt = performance.now();
  return {
    /** Whether the work has gone on for so long that others are to have a turn. */
    isOver: () => performance.now() - beganAt > turnMs,
    /** Resolves when it is this work's turn again. */
    async next(): Promise<void> {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        schedule();
      });
      beganAt = performance.now();
    },
  };
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    waiting.shift()?.();
    if (waiting.length > 0) schedule();
  });
}
