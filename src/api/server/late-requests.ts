import type { Socket } from 'node:net';

/** Answers a connection from which no request could be read, and closes it. */
type AnswerBroken = (error: Error & { code?: string }, socket: Socket) => void;

const turnMs = 5;

/**
 * Answers broken connections at once, but those whose request did not arrive in time for a few milliseconds
 * in each turn of the event loop: slow clients run out of their time by the thousand, and whoever asks for
 * something would wait for the last of them. A request that is complete when its turn comes is left to its
 * answer.
 */
export function endLateInTurns(
  answer: AnswerBroken,
  hasWholeRequest: (socket: Socket) => boolean,
): AnswerBroken {
  const late = new Map<Socket, Error>();

  function endSome(): void {
    const until = performance.now() + turnMs;
    for (const [socket, error] of late) {
      late.delete(socket);
      if (!hasWholeRequest(socket)) answer(error, socket);
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
