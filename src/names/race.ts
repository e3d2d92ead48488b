import type { Socket } from 'node:net';

/** How candidates are tried. */
export interface RaceRules {
  /** Milliseconds after which the next candidate is tried beside those that are still being opened. */
  readonly nextAfterMs: number;
  /** Milliseconds for all of them together. */
  readonly timeoutMs: number;
  /** Whether an error ends the race, because other candidates would fail with it too. */
  readonly isFinal?: (error: unknown) => boolean;
}

/**
 * The socket of the first candidate that is open. They are tried in their order, the next one at once after a
 * failure (RFC 8305 §5). `isOver` is aborted at the end, and sockets that come later are destroyed. Rejects
 * with the last failure, or with `ETIMEDOUT`.
 */
export function race<Candidate>(
  candidates: readonly Candidate[],
  open: (candidate: Candidate, isOver: AbortSignal) => Promise<Socket>,
  { nextAfterMs, timeoutMs, isFinal = () => false }: RaceRules,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const waiting = [...candidates];
    let running = 0;
    let next: NodeJS.Timeout | undefined;
    const deadline = setTimeout(end, timeoutMs, () => reject(tooLate()));

    function end(settle: () => void): void {
      clearTimeout(next);
      clearTimeout(deadline);
      settle();
      over.abort();
    }
    function tryNext(failure?: unknown): void {
      clearTimeout(next);
      const candidate = waiting.shift();
      if (candidate === undefined) {
        if (running === 0) end(() => reject((failure as Error | undefined) ?? tooLate()));
        return;
      }
      running += 1;
      next = setTimeout(tryNext, nextAfterMs);
      open(candidate, over.signal).then(
        (socket) => {
          if (over.signal.aborted) socket.on('error', () => undefined).destroy();
          else end(() => resolve(socket));
        },
        (error: unknown) => {
          running -= 1;
          if (over.signal.aborted) return;
          if (isFinal(error)) end(() => reject(error));
          else tryNext(error);
        },
      );
    }
    tryNext();
  });
}

function tooLate(): Error {
  return Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' });
}
