import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { tooLarge, type CallbackRequest, type Receiver } from '../receiver.ts';

/** Options of the plugin. */
export interface FastifyReceiverOptions {
  /** The path of the callbacks, below the prefix of the plugin. */
  readonly path: string;
}

/**
 * A plugin for Fastify 5: `app.register(toFastifyPlugin(receiver), { path: '/hooks/filings' })`. Its parser, which keeps bodies as bytes, and its limit
 * hold for this path alone; the rest of the application parses JSON as before.
 */
export function toFastifyPlugin(receiver: Receiver): FastifyPluginAsync<FastifyReceiverOptions> {
  const { bodyBytesMax } = receiver;

  async function answer(request: FastifyRequest, reply: FastifyReply, body: CallbackRequest['body']) {
    const { method, headers } = request;
    const answered = await receiver.receive({ method, headers, body });
    return reply.code(answered.status).headers(answered.headers).send(answered.body);
  }

  // Not wrapped by fastify-plugin: what is added here stays in here.
  return async (app, { path }) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: bodyBytesMax }, (_request, body, done) =>
      done(null, body),
    );
    app.setErrorHandler<Error & { readonly code?: string }>((error, request, reply) => {
      if (error.code !== 'FST_ERR_CTP_BODY_TOO_LARGE') throw error; // to the application's own
      return answer(request, reply, () => Promise.reject(tooLarge(bodyBytesMax)));
    });
    app.route({
      method: ['POST', 'OPTIONS'],
      url: path,
      handler: (request, reply) =>
        answer(request, reply, request.body instanceof Uint8Array ? request.body : new Uint8Array()),
    });
  };
}
