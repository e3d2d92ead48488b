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
  return {
    http: connecting(new HttpAgent(options), tunnels, 80),
    https: connecting(new HttpsAgent(options), tunnels, 443),
  };
}

type Done = (error: Error | null, socket: Duplex) => void;

// `standard` is the port of requests without one: TLS is for those of 443.
function connecting<Agent extends HttpAgent>(
  agent: Agent,
  tunnels: Tunnels | null,
  standard: 80 | 443,
): Agent {
  const dial = agent.createConnection.bind(agent);
  const open = (request: ClientRequestArgs) => {
    const socket = dial(request);
    if (socket) limitTickets(socket);
    return socket;
  };
  return Object.assign(agent, {
    createConnection(request: ClientRequestArgs, done: Done) {
      const tunnel = tunnelTo(tunnels, request, standard);
      if (tunnel === null) return open(request);
      tunnel.then(
        (socket) => {
          // Node reads `socket` of these options, as tls.connect() does, although the type leaves it out.
          const over = { ...request, socket } as ClientRequestArgs;
          const secured = standard === 443 ? open(over) : socket;
          if (secured) done(null, secured);
        },
        (error: unknown) => fail(done, error),
      );
      return undefined;
    },
  });
}

// Null if the host is dialled directly.
function tunnelTo(tunnels: Tunnels | null, { host, port }: ClientRequestArgs, standard: number) {
  const name = (host ?? '').replace(/^\[(.*)\]$/, '$1');
  const number = Number(port) || standard;
  return tunnels?.takes(name, number) === true ? tunnels.open(number, [name]) : null;
}

// Node gives no socket to a callback with an error, although the type asks for one.
function fail(done: Done, error: unknown): void {
  (done as (error: Error) => void)(error instanceof Error ? error : new Error(String(error)));
}
