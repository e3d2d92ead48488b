import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { attemptOptions, lookupFunction } from '../names/dialling.ts';
import type { HostLookup } from '../names/host-lookup.ts';
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

// Maximum milliseconds to connect to the proxy itself, which is near, or half of the timeout if that is less,
// so that an unresponsive proxy is not mistaken for an unresponsive endpoint.
const proxyConnectMs = 5_000;

/** Host and port as a request for a tunnel names them (RFC 9110 §7.2); the host has no brackets. */
export function authorityOf(host: string, port: number): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * A socket to `authority` ("host:port") through the proxy, by CONNECT (RFC 9110 §9.3.6), or with null a
 * connection to the proxy itself on which nothing was sent. Resolves to the error on failure, and never
 * rejects. A socket that does not become a tunnel is destroyed.
 */
export function openTunnel(rules: TunnelRules, authority: string | null): Promise<Socket | ProxyError> {
  const { proxy, lookup, timeoutMs, ca } = rules;
  const { isSecure, host, port, authorization } = proxy;
  const { promise, resolve } = Promise.withResolvers<Socket | ProxyError>();
  const connectMs = Math.min(timeoutMs / 2, proxyConnectMs);
  const startedAt = performance.now();
  let isConnected = false;
  const request = (isSecure ? requestHttps : requestHttp)({
    method: 'CONNECT',
    host,
    port,
    path: authority ?? '',
    agent: false,
    // Without it, TLS would ask for the host of the header.
    servername: isIP(host) === 0 ? host : '',
    headers: {
      host: authority ?? '',
      'user-agent': 'filing-webhooks',
      connection: 'keep-alive',
      ...(authorization === null ? {} : { 'proxy-authorization': authorization }),
    },
    ...(ca === undefined ? {} : { ca }),
    ...attemptOptions(connectMs),
    lookup: lookupFunction((name) => lookup(name, 'proxy')),
  });
  const fail = (reason: ProxyReason) => void request.destroy(new ProxyError(reason));
  let deadline = setTimeout(fail, connectMs, 'unreachable');
  request
    .once('socket', (socket) =>
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        isConnected = true;
        clearTimeout(deadline);
        if (authority === null) resolve(socket);
        else deadline = setTimeout(fail, timeoutMs - (performance.now() - startedAt), 'silent');
      }),
    )
    .once('connect', ({ statusCode = 0 }, socket: Socket, head) => {
      clearTimeout(deadline);
      // TLS over it has the errors of both; a connection that ends with one is closed in any case.
      socket.on('error', () => undefined);
      const error = errorOfStatus(statusCode);
      if (error !== null) socket.destroy();
      else if (head.length > 0) socket.unshift(head);
      resolve(error ?? socket);
    })
    .on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(deadline);
      if (error instanceof ProxyError) resolve(error);
      else resolve(new ProxyError(reasonOf(error.code ?? '', isConnected, isSecure)));
    });
  if (authority !== null) request.end();
  return promise;
}

function reasonOf(code: string, isConnected: boolean, isSecure: boolean): ProxyReason {
  // Node's parser.
  if (isConnected) return code.startsWith('HPE_') ? 'malformed' : 'closed';
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) return 'unknown_name';
  // Codes of the system, as opposed to those of TLS.
  return isSecure && !/^E(?!PROTO|CONNRESET)[A-Z]+$/.test(code) ? 'tls' : 'unreachable';
}
