// oxlint-disable promise/no-callback-in-promise -- Agents of Node take a callback.
import { Agent as HttpAgent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Tunnels } from './tunnels.ts';

/** Agents of Node's own HTTP clients. They keep connections for reuse, as Node's global agents do. */
export interface ProxyAgents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

type Done = (error: Error | null, socket: Duplex) => void;

const options: AgentOptions = { keepAlive: true, scheduling: 'lifo', timeout: 5_000 };

/**
 * Agents that reach the hosts which `tunnels` takes through the proxy, by CONNECT for https and http alike;
 * the proxy resolves their names. A request for which there is no tunnel fails with ProxyError.
 */
export function createProxyAgents(tunnels: Tunnels): ProxyAgents {
  return { http: new TunnelHttpAgent(tunnels), https: new TunnelHttpsAgent(tunnels) };
}

class TunnelHttpAgent extends HttpAgent {
  readonly #tunnels: Tunnels;

  constructor(tunnels: Tunnels) {
    super(options);
    this.#tunnels = tunnels;
  }

  override createConnection(request: ClientRequestArgs, done: Done): Duplex | null | undefined {
    const { host, port } = placeOf(request, 80);
    if (!this.#tunnels.takes(host, port)) return super.createConnection(request, done);
    this.#tunnels.open(host, port, [host]).then(
      (socket) => done(null, socket),
      (error: unknown) => fail(done, error),
    );
    return undefined;
  }
}

class TunnelHttpsAgent extends HttpsAgent {
  readonly #tunnels: Tunnels;

  constructor(tunnels: Tunnels) {
    super(options);
    this.#tunnels = tunnels;
  }

  override createConnection(request: ClientRequestArgs, done: Done): Duplex | null | undefined {
    const { host, port } = placeOf(request, 443);
    if (!this.#tunnels.takes(host, port)) return super.createConnection(request, done);
    this.#tunnels.open(host, port, [host]).then(
      (socket) => {
        // Node reads `socket` of these options, as tls.connect() does, although the type leaves it out.
        const onTunnel = { ...request, socket } as ClientRequestArgs;
        const secured = super.createConnection(onTunnel);
        if (secured) done(null, secured);
      },
      (error: unknown) => fail(done, error),
    );
    return undefined;
  }
}

function placeOf({ host, port }: ClientRequestArgs, standard: number) {
  return { host: (host ?? '').replace(/^\[(.*)\]$/, '$1'), port: Number(port) || standard };
}

// Node gives no socket to a callback with an error, although the type asks for one.
function fail(done: Done, error: unknown): void {
  (done as (error: Error) => void)(error instanceof Error ? error : new Error(String(error)));
}
