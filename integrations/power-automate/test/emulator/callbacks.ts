import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';

/** A notification as a flow gets it. */
export interface Notification {
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** Answers a notification with a status. */
export type Receive = (notification: Notification) => number;

/** The addresses at which flows are called back. */
export interface Callbacks extends AsyncDisposable {
  /** A new address: whoever knows it may call it, and nobody else. */
  add(receive: Receive): string;
}

/** Listens on loopback, with addresses shaped as those of Logic Apps: the signature in the query is the only key. */
export async function listenForCallbacks(): Promise<Callbacks> {
  const flows = new Map<string, Receive>();
  const server = createServer((request, response) => {
    void (async () => {
      const receive = flows.get(`${request.method} ${request.url}`);
      const body = await text(request);
      const status = receive?.({ headers: request.headers, body: JSON.parse(body) as unknown }) ?? 401;
      response.writeHead(status, { 'x-ms-request-id': randomBytes(8).toString('hex') }).end();
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    add(receive) {
      const workflow = randomBytes(16).toString('hex');
      const signature = encodeURIComponent(randomBytes(32).toString('base64'));
      const path =
        `/workflows/${workflow}/triggers/manual/run?api-version=2016-06-01` +
        `&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=${signature}`;
      flows.set(`POST ${path}`, receive);
      return `http://127.0.0.1:${port}${path}`;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
