import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer, isChild, startChild } from './child.ts';

/**
 * A callback as the receiver saw it: when its head arrived, in milliseconds of the machine's clock with
 * fractions.
 */
export interface Arrival {
  readonly path: string;
  readonly id: string;
  readonly at: number;
}

/**
 * A receiver in a process of its own: `/hang…` is never answered, `/error…` with 500, `/reset…` with a reset,
 * all else with 200 at once.
 */
export interface ReceiverProcess extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  /** What has arrived since the last call. */
  arrivals(): Promise<Arrival[]>;
}

type Question = 'port' | 'arrivals';

/** Starts a receiver; it ends with this process at the latest. */
export async function startReceiverProcess(): Promise<ReceiverProcess> {
  const child = await startChild<Question>(import.meta.url);
  return {
    pid: child.pid,
    url: `http://127.0.0.1:${await child.ask<number>('port')}`,
    arrivals: () => child.ask<Arrival[]>('arrivals'),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

async function serve(): Promise<void> {
  let arrivals: Arrival[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const id = String(request.headers['webhook-id']);
    arrivals.push({ path, id, at: performance.timeOrigin + performance.now() });
    request.resume();
    if (path.startsWith('/hang')) return;
    if (path.startsWith('/reset')) return void request.socket.resetAndDestroy();
    const status = path.startsWith('/error') ? 500 : 200;
    request.on('end', () => response.writeHead(status, { 'content-length': 2 }).end('ok'));
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  answer((question: Question) => {
    if (question === 'port') return port;
    const taken = arrivals;
    arrivals = [];
    return taken;
  });
}

if (isChild(import.meta.url)) await serve();
