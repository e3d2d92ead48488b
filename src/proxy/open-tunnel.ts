import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { HostLookup } from '../names/host-lookup.ts';
import { lookupFunction } from '../names/lookup-function.ts';
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
export function connectToProxy(rules: TunnelRules): Promise<Socket> {
  const { proxy, timeoutMs } = rules;
  return new Promise((resolve, reject) => {
    const socket = dial(rules);
    const deadline = setTimeout(() => fail('unreachable'), Math.min(timeoutMs / 2, proxyConnectMs));

    function fail(reason: ProxyReason | Error): void {
      clearTimeout(deadline);
      reject(discard(socket.off('error', onError).off('close', onEnd), reason));
    }
    function onError(error: NodeJS.ErrnoException): void {
      fail(localFaults.has(error.code ?? '') ? error : reasonOf(error, proxy.isSecure));
    }
    function onEnd(): void {
      fail('unreachable');
    }

    socket.on('error', onError).on('close', onEnd);
    socket.once(proxy.isSecure ? 'secureConnect' : 'connect', () => {
      clearTimeout(deadline);
      resolve(socket.off('error', onError).off('close', onEnd).setNoDelay(true).setKeepAlive(true, 60_000));
    });
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

function dial({ proxy: { isSecure, host, port }, lookup, ca }: TunnelRules): Socket {
  const options = { host, port, lookup: lookupFunction((name) => lookup(name, 'proxy')) };
  if (!isSecure) return connectTcp(options);
  return connectTls({
    ...options,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
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

function reasonOf({ code = '' }: NodeJS.ErrnoException, isSecure: boolean): ProxyReason {
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) return 'unknown_name';
  return isSecure && !noConnection.has(code) ? 'tls' : 'unreachable';
}
