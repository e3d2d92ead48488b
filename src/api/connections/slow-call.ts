import { Socket } from 'node:net';

/**
 * Milliseconds for the response of a call that waits for a receiver: more than the maximum of
 * DELIVERY_TIMEOUT_MS, so the callback's own deadline applies.
 */
export const callMs = 11 * 60_000;

/**
 * Keeps the connection of such a call open: it has no traffic until the receiver has responded. Injected
 * requests have none.
 */
export function keepOpen(socket: unknown): void {
  if (socket instanceof Socket) socket.setTimeout(callMs);
}
