import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import express from 'express';
import fastify from 'fastify';
import { toExpressHandler } from '../../src/middleware/express.ts';
import { toFastifyPlugin } from '../../src/middleware/fastify.ts';
import { toNodeHandler } from '../../src/middleware/node.ts';
import { toFetchHandler, type Receiver } from '../../src/index.ts';

/** What the package has a middleware for. */
export const frameworks = ['fetch', 'node:http', 'Express', 'Fastify'] as const;
export type Framework = (typeof frameworks)[number];

/** A server on loopback. */
export interface Served extends AsyncDisposable {
  readonly url: string;
}

/** Serves a receiver at a path, as the README says for each framework. */
export async function serve(framework: Framework, receiver: Receiver, path: string): Promise<Served> {
  if (framework === 'Fastify') {
    const app = fastify({ forceCloseConnections: true });
    await app.register(toFastifyPlugin(receiver), { path });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    return { url, [Symbol.asyncDispose]: () => app.close() };
  }
  if (framework === 'Express') {
    const app = express();
    app.all(path, toExpressHandler(receiver));
    app.use(express.json());
    return listen(app);
  }
  const handle = framework === 'fetch' ? fetchListener(toFetchHandler(receiver)) : toNodeHandler(receiver);
  return listen((request, response) => void handle(request, response));
}

/** Serves a listener of node:http. */
export async function listen(listener: RequestListener): Promise<Served> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

// Node has no server that speaks fetch: its Request and Response are the platform's own, the way between them and a socket is this.
function fetchListener(handle: (request: Request) => Promise<Response>): RequestListener {
  return async (incoming, outgoing) => {
    const headers = new Headers();
    for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value));
    const hasBody = incoming.method === 'POST';
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers,
      ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' }),
    } as RequestInit);
    const response = await handle(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(await response.text());
  };
}
