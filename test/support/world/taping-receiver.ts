import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import type { TapedCallback } from '../journals/journals.ts';

/** What a receiver answers; `afterMs` holds the answer back, and so does `after` until it resolves. */
export interface TapedAnswer {
  readonly status: number;
  readonly afterMs?: number;
  readonly after?: Promise<unknown>;
}

/** Decides by the name of the subscriber and the headers. */
type Decide = (subscriber: string, request: Pick<IncomingMessage, 'headers'>) => TapedAnswer;

/** Subscribers at one address, told apart by path, that keep every callback as it came. */
export interface TapingReceiver extends AsyncDisposable {
  /** Where the subscriber with that name is called; on the tape it bears the name. */
  urlOf(name: string): string;
  readonly callbacks: readonly TapedCallback[];
  /** Callbacks over connections with the certificate of another subscriber. */
  readonly strangers: readonly string[];
  /** Callbacks whose answer is not written yet. */
  waiting(): number;
  /** Decides on every callback from now on; 200 at once at first. */
  answer(decide: Decide): void;
}

/** Certificate and key (PEM) of a receiver, and the authority whose clients it asks for. */
export interface MutualTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/**
 * Starts one on loopback; over https with `mutual`, and then for callbacks only whose client certificate bears
 * the name of their subscriber.
 */
export async function startTapingReceiver(mutual?: MutualTls): Promise<TapingReceiver> {
  const callbacks: TapedCallback[] = [];
  let decide: Decide = () => ({ status: 200 });
  let waiting = 0;

  async function tape(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const arrivedAt = Date.now();
    const subscription = request.url?.slice(1) ?? '';
    const { status, afterMs = 0, after } = decide(subscription, request);
    waiting += 1;
    if (afterMs > 0) await delay(afterMs);
    await after;
    waiting -= 1;
    callbacks.push({
      subscription,
      id: String(request.headers['webhook-id']),
      timestamp: String(request.headers['webhook-timestamp']),
      signature: String(request.headers['webhook-signature']),
      body: Buffer.concat(chunks),
      arrivedAt,
      answeredAt: response.destroyed ? null : Date.now(),
      status,
    });
    response.writeHead(status).end();
  }

  const strangers: string[] = [];
  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const shown = mutual === undefined ? null : (request.socket as TLSSocket).getPeerCertificate().subject.CN;
    if (shown !== null && `/${String(shown)}` !== request.url)
      strangers.push(`${String(shown)} ${request.url}`);
    tape(request, response).catch(() => response.destroy());
  }
  const server =
    mutual === undefined
      ? createServer(onRequest)
      : createSecureServer({ ...mutual, requestCert: true, rejectUnauthorized: true }, onRequest);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (name) => `${mutual === undefined ? 'http' : 'https'}://127.0.0.1:${port}/${name}`,
    callbacks,
    strangers,
    waiting: () => waiting,
    answer(next) {
      decide = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
