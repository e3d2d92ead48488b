import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { ownMicros } from './processor-time.ts';
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
  /** Microseconds of processor time that it has used so far. */
  cpuMicros(): Promise<number>;
}

type Question = 'port' | 'arrivals' | 'cpu';

const fixtures = new URL('../../integration/callbacks/fixtures/', import.meta.url);

/** File with the certificate of a receiver over TLS; its clients have to trust it. */
export const testCertificate = fileURLToPath(new URL('callback-test-cert.pem', fixtures));

/** Starts a receiver, with `tls` one of https; it ends with this process at the latest. */
export async function startReceiverProcess({ tls = false } = {}): Promise<ReceiverProcess> {
  const child = await startChild<Question>(import.meta.url, tls ? ['tls'] : []);
  const origin = tls ? 'https://localhost' : 'http://127.0.0.1';
  return {
    pid: child.pid,
    url: `${origin}:${await child.ask<number>('port')}`,
    arrivals: () => child.ask<Arrival[]>('arrivals'),
    cpuMicros: () => child.ask<number>('cpu'),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

async function serve(tls: boolean): Promise<void> {
  let arrivals: Arrival[] = [];
  const listener: RequestListener = (request, response) => {
    const path = request.url ?? '';
    const id = String(request.headers['webhook-id']);
    arrivals.push({ path, id, at: performance.timeOrigin + performance.now() });
    request.resume();
    if (path.startsWith('/hang')) return;
    if (path.startsWith('/reset')) return void request.socket.resetAndDestroy();
    const status = path.startsWith('/error') ? 500 : 200;
    request.on('end', () => response.writeHead(status, { 'content-length': 2 }).end('ok'));
  };
  const key = () => readFileSync(new URL('callback-test-key.pem', fixtures));
  const server = tls
    ? createTlsServer({ cert: readFileSync(testCertificate), key: key() }, listener)
    : createServer(listener);
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  answer((question: Question) => {
    if (question === 'port') return port;
    if (question === 'cpu') return ownMicros();
    const taken = arrivals;
    arrivals = [];
    return taken;
  });
}

if (isChild(import.meta.url)) await serve(process.argv[2] === 'tls');
