import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

/** A listening receiver; disposing it closes its connections. */
export interface CallbackReceiver extends AsyncDisposable {
  /** Where it listens, e.g. `http://127.0.0.1:40123/`. */
  readonly url: string;
}

export interface CallbackReceiverDeps {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The subscription's signing secret, `whsec_…`. */
  readonly secret: string;
  /** Called with the parsed body of each callback with a valid signature, before the response. */
  readonly onCallback: (event: unknown) => void;
  /** Called for each callback that is refused, with the reason. */
  readonly onRefused: (reason: string) => void;
}

const bodyBytesMax = 1024 * 1024;
const requestTimeoutMs = 10_000;

/**
 * A receiver as a subscriber would write it: it verifies each callback over the received bytes, then answers
 * 204. A callback that cannot be verified gets 400, one that is too long 413. Rejects when it cannot listen.
 */
export async function startCallbackReceiver(deps: CallbackReceiverDeps): Promise<CallbackReceiver> {
  const webhook = new Webhook(deps.secret);
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    void takeCallback(deps, webhook, request).then((status) => response.writeHead(status).end());
  });
  server.listen(deps.port, deps.host);
  await once(server, 'listening');
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function takeCallback(
  { onCallback, onRefused }: CallbackReceiverDeps,
  webhook: Webhook,
  request: IncomingMessage,
): Promise<number> {
  try {
    const body = await readBody(request);
    if (body === null) return 413;
    onCallback(webhook.verify(body, signatureHeaders(request)));
    return 204;
  } catch (error) {
    onRefused(error instanceof Error ? error.message : String(error));
    return error instanceof WebhookVerificationError ? 400 : 500;
  }
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function signatureHeaders({ headers }: IncomingMessage): Record<string, string> {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return Object.fromEntries(names.map((name) => [name, String(headers[name] ?? '')]));
}
