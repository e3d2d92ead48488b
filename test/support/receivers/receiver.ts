import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';

/** A callback as it arrived, its signature verified with the libraries of receivers. */
export interface Callback {
  readonly id: string;
  /** `webhook-timestamp`, seconds. */
  readonly timestamp: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw: string;
  /** `data.filingId` and `data.sequence` of the body, empty and 0 where there are none. */
  readonly filingId: string;
  readonly sequence: number;
  /** Counts the callbacks with this id so far, this one included. */
  readonly attempt: number;
}

/** What to answer: a status, a status with headers, or nothing for ever. */
export type Answer =
  | number
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'hang'
  | 'reset';

/** Decides on each callback; a promise holds its answer back. */
export type Script = (callback: Callback) => Answer | Promise<Answer>;

/** A subscriber on loopback that does as it is told. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The secrets that a callback may be signed with; changed by assignment. */
  secrets: readonly string[];
  /** Verified callbacks in the order of their arrival, whatever was answered. */
  readonly received: readonly Callback[];
  /** Those that were answered with a 2xx, in the order of the answers. */
  readonly accepted: readonly Callback[];
  /** Callbacks that did not verify. */
  readonly refused: readonly string[];
  /** Callbacks that wait for their answer now, and the most that ever did. */
  inFlight(): number;
  inFlightMax(): number;
  /** Filings of which two callbacks were ever unanswered at once. */
  readonly overlapping: readonly string[];
  answer(script: Script | Answer): void;
  /**
   * Stops listening and cuts every connection, as a host that goes down; `start` brings it back on the same
   * port.
   */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** The secret of every receiver unless it is told another. */
export const receiverSecret = `whsec_${Buffer.from('thirty-two bytes for a receiver!').toString('base64')}`;

/** Starts a receiver on a free loopback port; it answers 200. */
export async function startReceiver(script: Script | Answer = 200): Promise<Receiver> {
  const received: Callback[] = [];
  const accepted: Callback[] = [];
  const refused: string[] = [];
  const overlapping: string[] = [];
  const waiting = new Map<ServerResponse, string>();
  const attempts = new Map<string, number>();
  let decide = toScript(script);
  let inFlightMax = 0;

  const server = createServer((request, response) => {
    readText(request).then(
      (raw) => take(request, response, raw),
      () => response.destroy(),
    );
  });

  async function take(request: IncomingMessage, response: ServerResponse, raw: string): Promise<void> {
    const callback = verify(receiver.secrets, request, raw);
    if (typeof callback === 'string') {
      refused.push(callback);
      response.writeHead(401).end();
      return;
    }
    const attempt = (attempts.get(callback.id) ?? 0) + 1;
    attempts.set(callback.id, attempt);
    if (callback.filingId !== '' && [...waiting.values()].includes(callback.filingId))
      overlapping.push(callback.filingId);
    waiting.set(response, callback.filingId);
    inFlightMax = Math.max(inFlightMax, waiting.size);
    response.once('close', () => waiting.delete(response));
    received.push({ ...callback, attempt });
    respond(response, { ...callback, attempt }, await decide({ ...callback, attempt }));
  }

  function respond(response: ServerResponse, callback: Callback, answer: Answer): void {
    if (answer === 'hang' || response.destroyed) return;
    if (answer === 'reset') {
      response.socket?.resetAndDestroy();
      return;
    }
    const { status, headers = {}, body = 'noted' } = typeof answer === 'number' ? { status: answer } : answer;
    if (status >= 200 && status < 300) accepted.push(callback);
    waiting.delete(response);
    response.writeHead(status, headers).end(body);
  }

  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  async function stop(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  await listen(0);
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/callbacks`,
    port,
    secrets: [receiverSecret],
    received,
    accepted,
    refused,
    overlapping,
    inFlight: () => waiting.size,
    inFlightMax: () => inFlightMax,
    answer(next) {
      decide = toScript(next);
    },
    stop,
    start: () => listen(port),
    [Symbol.asyncDispose]: stop,
  };
  return receiver;
}

/** A promise with its resolver: holds answers back until the test opens it. */
export interface Latch<T> {
  readonly opened: Promise<T>;
  open(value: T): void;
}

/** A latch that is closed. */
export function createLatch<T = void>(): Latch<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { opened: promise, open: resolve };
}

function toScript(script: Script | Answer): Script {
  return typeof script === 'function' ? script : () => script;
}

function verify(
  secrets: readonly string[],
  { headers }: IncomingMessage,
  raw: string,
): Omit<Callback, 'attempt'> | string {
  const errors: string[] = [];
  for (const secret of secrets) {
    try {
      verifyWithLibraries(secret, headers, raw);
      const { data = {} } = JSON.parse(raw) as { data?: { filingId?: string; sequence?: number } };
      return {
        id: String(headers['webhook-id']),
        timestamp: Number(headers['webhook-timestamp']),
        headers,
        raw,
        filingId: data.filingId ?? '',
        sequence: data.sequence ?? 0,
      };
    } catch (error) {
      errors.push(String(error));
    }
  }
  return `${errors.join(', ')}: ${raw}`;
}

/** Throws unless every library that receivers use accepts the callback with this secret. */
export function verifyWithLibraries(secret: string, headers: Callback['headers'], raw: string): void {
  for (const Webhook of [StandardWebhook, SvixWebhook])
    new Webhook(secret).verify(raw, headers as Record<string, string>);
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
