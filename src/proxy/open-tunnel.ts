import { isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { dial } from '../names/dial.ts';
import type { HostLookup } from '../names/host-lookup.ts';
import { race } from '../names/race.ts';
import { connectRequest, readConnectHead } from './connect-head.ts';
import type { ProxyAddress } from './proxy-address.ts';
import { errorOfStatus, ProxyError, type ProxyReason } from './proxy-error.ts';

/** Rules for a tunnel. */
export interface TunnelRules {
  readonly proxy: ProxyAddress;
  /** Finds the addresses of the proxy; no policy applies to them. */
  readonly lookup: HostLookup;
  /** Milliseconds for the whole of it. */
  readonly timeoutMs: number;
  /** Trusted certificates (PEM) for a proxy over TLS, instead of those of the system. */
  readonly ca?: string;
}

// Maximum milliseconds of a connection to the proxy itself, which is near; half of the time where that is
// less, so that a proxy which does not answer is not taken for an endpoint.
const proxyConnectMs = 5_000;

// Faults of this process. They say nothing about the proxy.
const localFaults = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);

/**
 * A socket to `authority` ("host:port") through the proxy, by CONNECT (RFC 9110 §9.3.6), paused. Rejects with
 * ProxyError, or with the error of the system where this process is at fault. A socket that does not become a
 * tunnel is destroyed.
 */
export async function openTunnel(rules: TunnelRules, authority: string): Promise<Socket> {
  const startedAt = performance.now();
  const socket = await connectToProxy(rules);
  const leftMs = Math.max(0, rules.timeoutMs - (performance.now() - startedAt));
  return askForTunnel(socket, connectRequest(authority, rules.proxy.authorization), leftMs);
}

/** A connection to the proxy itself, over TLS where it wants that. Rejects as `openTunnel` does. */
export async function connectToProxy(rules: TunnelRules): Promise<Socket> {
  const connectMs = Math.min(rules.timeoutMs / 2, proxyConnectMs);
  try {
    return await race([rules], reachProxy, { nextAfterMs: connectMs, timeoutMs: connectMs });
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (error instanceof ProxyError || localFaults.has(code)) throw error;
    throw new ProxyError(reasonOf(code, rules.proxy.isSecure));
  }
}

async function reachProxy({ proxy, lookup, ca }: TunnelRules): Promise<Socket> {
  const { isSecure, host, port } = proxy;
  const family = isIP(host);
  const addresses = family === 0 ? await lookup(host, 'proxy') : [{ address: host, family }];
  const socket = await dial(addresses, port, proxyConnectMs);
  if (!isSecure) return socket;
  const secured = connectTls({
    socket,
    ALPNProtocols: ['http/1.1'],
    ...(family === 0 ? { servername: host } : { host }),
    ...(ca === undefined ? {} : { ca }),
  });
  return new Promise((resolve, reject) => {
    secured
      .once('secureConnect', () => resolve(secured))
      .on('error', reject)
      .once('close', () => reject(new ProxyError('unreachable')));
  });
}

function askForTunnel(socket: Socket, request: string, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const deadline = setTimeout(() => fail('silent'), timeoutMs);

    function leave(): void {
      clearTimeout(deadline);
      socket.off('readable', read).off('end', onEnd).off('close', onEnd).off('error', onEnd);
    }
    function fail(reason: ProxyReason | Error): void {
      leave();
      reject(discard(socket, reason));
    }
    function onEnd(): void {
      fail('closed');
    }
    function read(): void {
      for (let chunk = next(socket); chunk !== null; chunk = next(socket)) {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        const head = readConnectHead(received);
        if (head.kind === 'incomplete') continue;
        if (head.kind !== 'answer') return fail(head.kind);
        const error = errorOfStatus(head.status);
        if (error !== null) return fail(error);
        leave();
        // TLS over it has the errors of both; a connection that ends with one is closed in any case.
        socket.on('error', () => undefined);
        if (head.rest.length > 0) socket.unshift(head.rest);
        return resolve(socket);
      }
    }

    socket.on('readable', read).on('end', onEnd).on('close', onEnd).on('error', onEnd);
    socket.write(request);
  });
}

// Later errors of the socket have no one to hear them.
function discard(socket: Socket, reason: ProxyReason | Error): Error {
  socket.on('error', () => undefined).destroy();
  return typeof reason === 'string' ? new ProxyError(reason) : reason;
}

// The type of read() says any.
function next(socket: Socket): Buffer | null {
  return socket.read() as Buffer | null;
}

const noConnection = new Set([
  'ECONNREFUSED',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
]);

function reasonOf(code: string, isSecure: boolean): ProxyReason {
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) return 'unknown_name';
  return isSecure && !noConnection.has(code) ? 'tls' : 'unreachable';
}
