// oxlint-disable promise/no-callback-in-promise -- Agents of Node take a callback.
import { lookup as lookupOfSystem, type LookupAddress } from 'node:dns';
import { Agent as HttpAgent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { dial } from '../names/dial.ts';
import { limitTickets } from '../names/ticket-limit.ts';
import type { Tunnels } from './tunnels.ts';

/** Agents of Node's own HTTP clients. They keep connections for reuse, as Node's global agents do. */
export interface ProxyAgents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

type Done = (error: Error | null, socket: Duplex) => void;

const options: AgentOptions = { keepAlive: true, scheduling: 'lifo', timeout: 5_000 };

/**
 * Agents that dial the addresses which the lookup of a request finds, with `connectMs` for all of them. The
 * hosts which `tunnels` takes are reached through the proxy, by CONNECT for https and http alike; the proxy
 * resolves their names. A request without a connection fails with DialError or ProxyError.
 */
export function createProxyAgents(tunnels: Tunnels | null, connectMs: number): ProxyAgents {
  const open = (request: ClientRequestArgs, standard: number): Promise<Socket> => {
    const { host, port } = placeOf(request, standard);
    if (tunnels?.takes(host, port) === true) return tunnels.open(host, port, [host]);
    return addressesOf(request, host).then((addresses) => dial(addresses, port, connectMs));
  };
  return { http: new DiallingHttpAgent(open), https: new DiallingHttpsAgent(open) };
}

type Open = (request: ClientRequestArgs, standard: number) => Promise<Socket>;

class DiallingHttpAgent extends HttpAgent {
  readonly #open: Open;

  constructor(open: Open) {
    super(options);
    this.#open = open;
  }

  override createConnection(request: ClientRequestArgs, done: Done): undefined {
    this.#open(request, 80).then(
      (socket) => done(null, socket),
      (error: unknown) => fail(done, error),
    );
  }
}

class DiallingHttpsAgent extends HttpsAgent {
  readonly #open: Open;

  constructor(open: Open) {
    super(options);
    this.#open = open;
  }

  override createConnection(request: ClientRequestArgs, done: Done): undefined {
    this.#open(request, 443).then(
      (socket) => {
        // Node reads `socket` of these options, as tls.connect() does, although the type leaves it out.
        const over = { ...request, socket } as ClientRequestArgs;
        const secured = super.createConnection(over);
        if (!secured) return;
        limitTickets(secured);
        done(null, secured);
      },
      (error: unknown) => fail(done, error),
    );
  }
}

function addressesOf({ lookup }: ClientRequestArgs, host: string): Promise<readonly LookupAddress[]> {
  const family = isIP(host);
  if (family !== 0) return Promise.resolve([{ address: host, family }]);
  return new Promise((resolve, reject) => {
    (lookup ?? lookupOfSystem)(host, { all: true }, (error, found) => {
      if (error === null) resolve(found as LookupAddress[]);
      else reject(error);
    });
  });
}

function placeOf({ host, port }: ClientRequestArgs, standard: number) {
  return { host: (host ?? '').replace(/^\[(.*)\]$/, '$1'), port: Number(port) || standard };
}

// Node gives no socket to a callback with an error, although the type asks for one.
function fail(done: Done, error: unknown): void {
  (done as (error: Error) => void)(error instanceof Error ? error : new Error(String(error)));
}
