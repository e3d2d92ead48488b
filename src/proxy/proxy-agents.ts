// oxlint-disable promise/no-callback-in-promise -- Agents of Node take a callback.
import { Agent as HttpAgent, type ClientRequestArgs } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { attemptOptions, limitTickets } from '../names/dialling.ts';
import type { Tunnels } from './tunnels.ts';

/** Agents of Node's own HTTP clients. They keep connections for reuse, as Node's global agents do. */
export interface ProxyAgents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/**
 * Agents that dial the addresses which the lookup of a request finds, with `connectMs` for all of them. The
 * hosts which `tunnels` takes are reached through the proxy, by CONNECT for https and http alike; the proxy
 * resolves their names. A request without a tunnel fails with ProxyError.
 */
export function createProxyAgents(tunnels: Tunnels | null, connectMs: number): ProxyAgents {
  const options = {
    keepAlive: true,
    scheduling: 'lifo',
    timeout: 5_000,
    ...attemptOptions(connectMs),
  } as const;
  return { http: new TunnelHttpAgent(options, tunnels), https: new TunnelHttpsAgent(options, tunnels) };
}

type Done = (error: Error | null, socket: Duplex) => void;

class TunnelHttpAgent extends HttpAgent {
  readonly #tunnels: Tunnels | null;

  constructor(options: ConstructorParameters<typeof HttpAgent>[0], tunnels: Tunnels | null) {
    super(options);
    this.#tunnels = tunnels;
  }

  override createConnection(request: ClientRequestArgs, done: Done) {
    const tunnel = tunnelTo(this.#tunnels, request, 80);
    if (tunnel === null) return super.createConnection(request, done);
    tunnel.then(
      (socket) => done(null, socket),
      (error: unknown) => fail(done, error),
    );
    return undefined;
  }
}

class TunnelHttpsAgent extends HttpsAgent {
  readonly #tunnels: Tunnels | null;

  constructor(options: ConstructorParameters<typeof HttpsAgent>[0], tunnels: Tunnels | null) {
    super(options);
    this.#tunnels = tunnels;
  }

  override createConnection(request: ClientRequestArgs, done: Done) {
    const secure = (over: ClientRequestArgs) => {
      const secured = super.createConnection(over);
      if (secured) limitTickets(secured);
      return secured;
    };
    const tunnel = tunnelTo(this.#tunnels, request, 443);
    if (tunnel === null) return secure(request);
    tunnel.then(
      (socket) => {
        // Node reads `socket` of these options, as tls.connect() does, although the type leaves it out.
        const secured = secure({ ...request, socket } as ClientRequestArgs);
        if (secured) done(null, secured);
      },
      (error: unknown) => fail(done, error),
    );
    return undefined;
  }
}

// Null where the host is dialled directly.
function tunnelTo(tunnels: Tunnels | null, { host, port }: ClientRequestArgs, standard: number) {
  const name = (host ?? '').replace(/^\[(.*)\]$/, '$1');
  const number = Number(port) || standard;
  return tunnels?.takes(name, number) === true ? tunnels.open(name, number, [name]) : null;
}

// Node gives no socket to a callback with an error, although the type asks for one.
function fail(done: Done, error: unknown): void {
  (done as (error: Error) => void)(error instanceof Error ? error : new Error(String(error)));
}
