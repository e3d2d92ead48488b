import type { Socket } from 'node:net';

/** Answers a connection from which no request could be read, and closes it. */
type AnswerBroken = (error: Error & { code?: string }, socket: Socket) => void;

// Milliseconds of each turn of the event loop that late requests may take.
const turnMs = 5;

/**
 * Answers broken connections at once, and late requests a few milliseconds in each turn of the event loop:
 * slow clients time out by the thousand, and other requests would wait for the last of them. A request that
 * is complete when its turn comes is left to its handler.
 */
export function endLateInTurns(answer: AnswerBroken, isWhole: (socket: Socket) => boolean): AnswerBroken {
  const late = new Map<Socket, Error>();

  function endSome(): void {
    const until = performance.now() + turnMs;
    for (const [socket, error] of late) {
      late.delete(socket);
      if (!isWhole(socket)) answer(error, socket);
      if (performance.now() > until) break;
    }
    if (late.size > 0) setImmediate(endSome);
  }

  return (error, socket) => {
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') {
      answer(error, socket);
      return;
    }
    if (late.size === 0) setImmediate(endSome);
    late.set(socket, error);
  };
}
