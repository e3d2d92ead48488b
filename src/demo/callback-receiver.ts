import { styleText } from 'node:util';
import fastify, { type FastifyError } from 'fastify';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { formatCallback, printable } from './callback-line.ts';

/** A listening receiver; disposing it closes its connections. */
export interface CallbackReceiver extends AsyncDisposable {
  /** Its address, e.g. `http://127.0.0.1:40123/`. */
  readonly url: string;
}

export interface CallbackReceiverDeps {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The subscription's signing secret, `whsec_…`. */
  readonly secret: string;
  /** Prints the line about each callback, also about one that is refused. */
  readonly say: (line: string) => void;
  /** Called for each callback with a valid signature, after its line and before the response. */
  readonly onCallback?: () => void;
}

const bodyBytesMax = 1024 * 1024;
const requestTimeoutMs = 10_000;

/**
 * A receiver as a subscriber would write it: it verifies each callback over the received bytes, then answers
 * 204. A callback that cannot be verified gets 400, one that is too long 413. Rejects when it cannot listen.
 */
export async function startCallbackReceiver(deps: CallbackReceiverDeps): Promise<CallbackReceiver> {
  const { host, port, secret, say, onCallback } = deps;
  const webhook = new Webhook(secret);
  const app = fastify({
    bodyLimit: bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: true,
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    say(styleText('red', `refused   ${printable(error.message)}`));
    const status = error instanceof WebhookVerificationError ? 400 : (error.statusCode ?? 500);
    return reply.code(status).send();
  });
  app.post('*', (request, reply) => {
    const { body, headers } = request;
    say(formatCallback(webhook.verify(String(body), headers as Record<string, string>), styleText));
    onCallback?.();
    return reply.code(204).send();
  });
  const url = await app.listen({ host, port });
  return { url: `${url}/`, [Symbol.asyncDispose]: () => app.close() };
}
