import type { Duplex } from 'node:stream';

/** Maximum number of TLS session tickets of one connection; usual servers send one to four. */
const ticketsMax = 16;

/** More tickets came than a connection may bring. */
export class TicketsError extends Error {
  override readonly name = 'TicketsError';
  readonly code = 'ERR_TLS_TICKETS';

  constructor() {
    super(`more than ${ticketsMax} TLS session tickets`);
  }
}

/**
 * Ends a TLS connection that brings more tickets (RFC 8446 §4.6.1) than `ticketsMax`: each costs a twentieth
 * of a millisecond before anything can refuse it.
 */
export function limitTickets(socket: Duplex): void {
  let tickets = 0;
  socket.on('session', () => {
    tickets += 1;
    if (tickets > ticketsMax) socket.destroy(new TicketsError());
  });
}
