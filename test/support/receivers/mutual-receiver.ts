import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { SecureVersion, TLSSocket } from 'node:tls';
import { once } from 'node:events';
import type { Issued } from './certificates.ts';

/** A request over TLS, and what its connection showed. */
export interface MutualRequest {
  readonly path: string;
  /** The common name of the client's certificate, null where it showed none. */
  readonly client: string | null;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Counts the connections from 1. */
  readonly connection: number;
}

/** An https receiver that asks for the client's certificate. */
export interface MutualReceiver extends AsyncDisposable {
  readonly port: number;
  readonly requests: readonly MutualRequest[];
  /** For each connection whose handshake has ended: whether it resumed a session of another one. */
  readonly resumed: readonly boolean[];
  /** Connections that were refused in their handshake, or right after. */
  refusals(): number;
  /** From now on shows this certificate, and believes clients of these authorities. */
  become(own: Issued, clients: string): void;
  /** Ends connections after each answer. */
  closes: boolean;
}

/** Listens on loopback with a certificate; `clients` is the authority (PEM) whose clients it serves. */
export async function startMutualReceiver(
  own: Issued,
  clients: string,
  { optional = false, maxVersion = 'TLSv1.3' }: { optional?: boolean; maxVersion?: SecureVersion } = {},
): Promise<MutualReceiver> {
  const requests: MutualRequest[] = [];
  const resumed: boolean[] = [];
  const numbers = new WeakMap<object, number>();
  let refusals = 0;
  const asked = { requestCert: true, rejectUnauthorized: !optional, maxVersion };
  const server = createServer({ ...own, ca: clients, ...asked }, (request, response) => {
    take(request, response).catch(() => response.destroy());
  });
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const socket = request.socket as TLSSocket;
    let body = '';
    for await (const chunk of request) body += String(chunk);
    requests.push({
      path: request.url ?? '',
      client: socket.getPeerCertificate().subject?.CN?.toString() ?? null,
      body,
      headers: request.headers,
      connection: numbers.get(socket) ?? 0,
    });
    response.writeHead(200, receiver.closes ? { connection: 'close' } : {}).end('noted');
  }
  server.on('secureConnection', (socket) => {
    numbers.set(socket, resumed.push(socket.isSessionReused()));
  });
  server.on('tlsClientError', () => (refusals += 1));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const receiver: MutualReceiver = {
    port: (server.address() as AddressInfo).port,
    requests,
    resumed,
    refusals: () => refusals,
    become: (next, authority) => server.setSecureContext({ ...next, ca: authority }),
    closes: false,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return receiver;
}
