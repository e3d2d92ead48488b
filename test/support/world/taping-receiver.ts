import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { TapedCallback } from '../journals/journals.ts';

/** What a receiver answers; `afterMs` holds the answer back, and so does `after` until it resolves. */
export interface TapedAnswer {
  readonly status: number;
  readonly afterMs?: number;
  readonly after?: Promise<unknown>;
}

/** Subscribers at one address, told apart by path, that keep every callback as it came. */
export interface TapingReceiver extends AsyncDisposable {
  /** Where the subscriber with that name is called; on the tape it bears the name. */
  urlOf(name: string): string;
  readonly callbacks: readonly TapedCallback[];
  /** Callbacks whose answer is not written yet. */
  waiting(): number;
  /** Decides on every callback from now on, by the name of its subscriber; 200 at once at first. */
  answer(decide: (subscriber: string) => TapedAnswer): void;
}

/** Starts one on loopback. */
export async function startTapingReceiver(): Promise<TapingReceiver> {
  const callbacks: TapedCallback[] = [];
  let decide: (subscriber: string) => TapedAnswer = () => ({ status: 200 });
  let waiting = 0;

  async function tape(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const arrivedAt = Date.now();
    const subscription = request.url?.slice(1) ?? '';
    const { status, afterMs = 0, after } = decide(subscription);
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

  const server = createServer((request, response) => {
    tape(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (name) => `http://127.0.0.1:${port}/${name}`,
    callbacks,
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
