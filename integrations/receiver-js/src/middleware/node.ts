import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from '../answer.ts';
import { CallbackError } from '../errors.ts';
import { cutShort, tooLarge, type Receiver } from '../receiver.ts';

/**
 * A handler of node:http for one address; the program chooses by path before it. It takes the bytes of `request.rawBody` or `request.body` where
 * something before it has read them as bytes (Cloud Functions, NestJS, `express.raw()`), and answers 500 where they were parsed.
 */
export function toNodeHandler(
  receiver: Receiver,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    const answer = await receiver.receive({
      method: request.method ?? '',
      headers: request.headers,
      body: (bytesMax) => readBody(request, bytesMax),
    });
    send(answer, request, response);
  };
}

function send({ status, headers, body }: Answer, request: IncomingMessage, response: ServerResponse): void {
  // The rest of a body that is not wanted would hold the connection.
  if (!request.complete) response.setHeader('connection', 'close');
  response.writeHead(status, headers).end(body ?? undefined);
}

async function readBody(request: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  const { rawBody, body } = request as { rawBody?: unknown; body?: unknown };
  for (const bytes of [rawBody, body]) if (bytes instanceof Uint8Array) return bytes;
  if (body !== undefined || request.readableEnded) throw consumed();
  if (Number(request.headers['content-length']) > bytesMax) throw tooLarge(bytesMax);
  return new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= bytesMax) return;
      request.removeAllListeners('data').resume();
      reject(tooLarge(bytesMax));
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  }).catch((error: unknown) => {
    throw error instanceof CallbackError ? error : cutShort(error);
  });
}

function consumed(): CallbackError {
  return new CallbackError(
    'body_consumed',
    'The body was parsed before the receiver got it, and its bytes are gone: mount the receiver before express.json() and the like, or put express.raw({ type: () => true }) on its address.',
  );
}
