import type { LookupAddress } from 'node:dns';
import { connect, type Socket } from 'node:net';
import { race } from './race.ts';

/** An address that was tried. */
export interface Dialled {
  readonly address: string;
  /** `connected` or the code of the error; null while there is neither. */
  end: string | null;
}

/** No address could be connected to. The message names each with what came of it. */
export class DialError extends Error {
  override readonly name = 'DialError';
  /** The code of the address that says most. */
  readonly code: string;

  constructor(dialled: readonly Dialled[]) {
    super(describeDialled(dialled) ?? 'no address');
    this.code = codeOf(dialled);
  }
}

// Maximum number of addresses of a name that are tried, of both families by turns.
const addressesMax = 4;
// Milliseconds after which the next address is tried beside those that have not answered (RFC 8305 §8).
const nextAfterMs = 250;

/**
 * A connection to the first address that answers. The others are tried beside it, not in its place: each has
 * all of `timeoutMs`. `dialled` gets those that were tried. Rejects with DialError.
 */
export async function dial(
  addresses: readonly LookupAddress[],
  port: number,
  timeoutMs: number,
  dialled: Dialled[] = [],
): Promise<Socket> {
  const open = ({ address }: LookupAddress, isOver: AbortSignal): Promise<Socket> => {
    const tried: Dialled = { address, end: null };
    dialled.push(tried);
    return openSocket(address, port, isOver, tried);
  };
  try {
    return await race(byTurns(addresses).slice(0, addressesMax), open, { nextAfterMs, timeoutMs });
  } catch {
    throw new DialError(dialled);
  }
}

function openSocket(host: string, port: number, isOver: AbortSignal, tried: Dialled): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });
    const stop = () => socket.destroy();
    isOver.addEventListener('abort', stop);
    socket
      .once('connect', () => {
        isOver.removeEventListener('abort', stop);
        tried.end = 'connected';
        resolve(socket);
      })
      // Later errors belong to those that use the socket; TLS over it has its own.
      .on('error', (error: NodeJS.ErrnoException) => {
        tried.end ??= error.code ?? 'an error';
        reject(error);
      });
  });
}

// RFC 8305 §4: the families by turns, so that one which leads nowhere does not take all places.
function byTurns(addresses: readonly LookupAddress[]): LookupAddress[] {
  const first = addresses.filter(({ family }) => family === addresses[0]?.family);
  const other = addresses.filter(({ family }) => family !== addresses[0]?.family);
  return Array.from({ length: addressesMax }, (_, i) => [first[i], other[i]]).flatMap((pair) =>
    pair.filter((each) => each !== undefined),
  );
}

const words: Readonly<Record<string, string>> = {
  connected: 'is connected',
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'reset the connection',
  ETIMEDOUT: 'did not answer',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
};

/** Each address with what came of it, as part of a sentence; null where none was tried. */
export function describeDialled(dialled: readonly Dialled[]): string | null {
  if (dialled.length === 0) return null;
  return dialled
    .map(({ address, end }) => `${address} ${words[end ?? 'ETIMEDOUT'] ?? `failed with ${end}`}`)
    .join(', ');
}

const noRoute = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL']);

// A family that the machine does not have says least; an address that is still silent, most.
function codeOf(dialled: readonly Dialled[]): string {
  const ends = dialled.map(({ end }) => end ?? 'ETIMEDOUT');
  const known = ends.filter((end) => !noRoute.has(end));
  if (known.includes('ETIMEDOUT')) return 'ETIMEDOUT';
  return known[0] ?? ends[0] ?? 'ETIMEDOUT';
}
