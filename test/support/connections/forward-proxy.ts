import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** A CONNECT as it arrived. */
export interface Connect {
  /** Host and port that were asked for. */
  readonly authority: string;
  /** The whole head. */
  readonly head: string;
}

/** What the proxy does with a CONNECT: a tunnel, an answer as bytes, nothing for ever, or an end. */
export type ConnectAnswer = 'tunnel' | 'hang' | 'close' | { readonly bytes: string };

/** A forward proxy that may break every rule. */
export interface ForwardProxy extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly connects: readonly Connect[];
  /** Decides on each CONNECT from now on. */
  answer(decide: (connect: Connect) => ConnectAnswer): void;
  /** Refuses connections, and cuts those that are open. */
  stop(): Promise<void>;
  /** Listens again on the same port. */
  start(): Promise<void>;
  /** Connections that are open. */
  open(): number;
}

/** The answer to CONNECT with this status. */
export function status(code: number): ConnectAnswer {
  return { bytes: `HTTP/1.1 ${code} Text of the proxy\r\ncontent-length: 4\r\n\r\nbody` };
}

/**
 * Listens on loopback and makes each tunnel to the port that was asked for, on loopback too. With `tls` it is a
 * proxy over TLS.
 */
export async function startForwardProxy(tls?: {
  readonly cert: string;
  readonly key: string;
}): Promise<ForwardProxy> {
  const connects: Connect[] = [];
  const sockets = new Set<Socket>();
  let decide: (connect: Connect) => ConnectAnswer = () => 'tunnel';

  function hold(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  }
  function onClient(client: Socket): void {
    hold(client);
    let received = '';
    client.on('data', function collect(chunk: Buffer) {
      received += chunk.toString('latin1');
      if (!received.includes('\r\n\r\n')) return;
      client.off('data', collect);
      const asked = { authority: received.split(' ')[1] ?? '', head: received };
      connects.push(asked);
      serve(client, asked);
    });
  }
  function serve(client: Socket, asked: Connect): void {
    const answer = decide(asked);
    if (answer === 'hang') return;
    if (answer === 'close') return void client.destroy();
    if (answer !== 'tunnel') return void client.write(answer.bytes);
    const target = connect(Number(asked.authority.split(':').at(-1)), '127.0.0.1');
    hold(target);
    target.on('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(target).pipe(client);
    });
    target.on('close', () => client.destroy());
    client.on('close', () => target.destroy());
  }

  const make = () =>
    tls === undefined
      ? createServer(onClient)
      : createTlsServer(tls, onClient).on('tlsClientError', () => {});
  let server = make().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  async function stop(): Promise<void> {
    for (const socket of sockets) socket.destroy();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  }
  return {
    port,
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    connects,
    answer: (next) => void (decide = next),
    stop,
    async start() {
      server = make().listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    open: () => sockets.size,
    [Symbol.asyncDispose]: stop,
  };
}
