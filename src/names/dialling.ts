import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';

// Maximum number of addresses of each family that are tried.
const addressesMax = 4;
// Maximum milliseconds for an address while others are left. A lost first packet is sent again after one
// second.
const attemptMsMax = 2_500;

/**
 * A lookup as sockets of Node call it; `find` gives every address, or rejects. Sockets try both families by
 * turns, at most four addresses of each.
 */
export function lookupFunction(
  find: (hostname: string) => Promise<readonly LookupAddress[]>,
): LookupFunction {
  return (hostname, { all = false }, callback) => {
    find(hostname).then(
      (addresses) => {
        const tried = [4, 6].flatMap((each) =>
          addresses.filter(({ family }) => family === each).slice(0, addressesMax),
        );
        const [first] = tried;
        if (all) process.nextTick(callback, null, tried);
        else process.nextTick(callback, null, first?.address ?? '', first?.family ?? 0);
      },
      (error: unknown) => process.nextTick(callback, error, ''),
    );
  };
}

/** The options of sockets by which an address that is silent leaves time of `timeoutMs` for the next ones. */
export function attemptOptions(timeoutMs: number) {
  const autoSelectFamilyAttemptTimeout = Math.ceil(Math.min(attemptMsMax, timeoutMs / 4));
  return { autoSelectFamily: true, autoSelectFamilyAttemptTimeout };
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'reset the connection',
  ETIMEDOUT: 'did not answer',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
};

interface Attempt {
  readonly address?: unknown;
  readonly code?: string;
}

/**
 * Names each address with its failure, as part of a sentence, for the error of a socket without a connection.
 * Null for other errors.
 */
export function describeAttempts(error: Error): string | null {
  const whole = error.cause instanceof AggregateError ? error.cause : error;
  const attempts: readonly Attempt[] = whole instanceof AggregateError ? whole.errors : [whole];
  const described = attempts.flatMap(({ address, code = 'an error' }) =>
    typeof address === 'string' ? [`${address} ${words[code] ?? `failed with ${code}`}`] : [],
  );
  return described.length === 0 ? null : described.join(', ');
}

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
