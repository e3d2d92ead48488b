import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** The body of a callback as the contract describes it. */
export interface EventBody {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly account: string;
    readonly filingId: string;
    readonly status: string;
    readonly previousStatus: string | null;
    readonly rejectionReason: string | null;
    readonly completedAt: string | null;
    readonly sequence: number;
    readonly changed: string[];
    readonly observed: { readonly notBefore: string; readonly notAfter: string };
    readonly inferred: boolean;
    readonly filing: Record<string, unknown> | null;
  };
}

/** One callback, its signature verified. */
export interface Received {
  readonly id: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw: string;
  readonly event: EventBody;
}

/** A subscriber: verifies every callback with the reference library, keeps it and answers as told. */
export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly secret: string;
  /** Verified callbacks in the order of their arrival, whatever was answered. */
  readonly received: readonly Received[];
  /** Callbacks that did not verify. */
  readonly refused: readonly string[];
  /** Answers every callback from now on with this status and headers (200 at first). */
  answer(status: number, headers?: Record<string, string>): void;
}

/** Starts a subscriber on loopback with a secret of its own. */
export async function startCollector(): Promise<Collector> {
  const secret = `whsec_${Buffer.from('a secret of thirty-two bytes too!').toString('base64')}`;
  const webhook = new Webhook(secret);
  const received: Received[] = [];
  const refused: string[] = [];
  let status = 200;
  let answerHeaders: Record<string, string> = {};

  const server = createServer((request, response) => {
    readText(request).then(
      (raw) => {
        take(request, raw);
        response.writeHead(status, answerHeaders).end('noted');
      },
      () => response.destroy(),
    );
  });
  function take(request: IncomingMessage, raw: string): void {
    try {
      webhook.verify(raw, request.headers as Record<string, string>);
      const id = String(request.headers['webhook-id']);
      received.push({ id, headers: request.headers, raw, event: JSON.parse(raw) as EventBody });
    } catch (error) {
      refused.push(`${String(error)}: ${raw}`);
    }
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`,
    secret,
    received,
    refused,
    answer(nextStatus, headers = {}) {
      status = nextStatus;
      answerHeaders = headers;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
