import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Receiver } from '../receiver.ts';
import { toNodeHandler } from './node.ts';

/**
 * A handler for Express 5 (and 4, and Connect): `app.all('/hooks/filings', toExpressHandler(receiver))`, before `express.json()`. It reads the bytes of
 * the body itself, answers every request, and calls `next` only with an error that it did not expect.
 */
export function toExpressHandler(
  receiver: Receiver,
): (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void {
  const handle = toNodeHandler(receiver);
  return (request, response, next) => void handle(request, response).catch(next);
}
