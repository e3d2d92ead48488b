import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to Redis that listens to what is said, and breaks at will. */
export interface RedisProxy extends AsyncDisposable {
  readonly url: string;
  /**
   * Connections end when a client sends one of these texts: each once, in this order. Resolves when the last
   * was met.
   */
  cutAt(texts: readonly string[]): Promise<void>;
  /**
   * Clients of a name that contains this hear nothing any more, on these connections and on new ones; null:
   * connections without a voice are cut.
   */
  mute(name: string | null): void;
}

/** Listens on a port of 127.0.0.1 and passes on to the Redis at `target`. */
export async function startRedisProxy(target: number): Promise<RedisProxy> {
  const names = new Map<Socket, string>();
  let cuts: string[] = [];
  let met = Promise.withResolvers<void>();
  let muted: string | null = null;

  function hear(client: Socket, text: string): void {
    // The name of a connection is among the first that a client says.
    names.set(client, `${names.get(client) ?? ''}${text}`.slice(0, 2_000));
    const [next] = cuts;
    if (next === undefined || !text.toLowerCase().includes(next)) return;
    cuts = cuts.slice(1);
    for (const each of names.keys()) each.destroy();
    if (cuts.length === 0) met.resolve();
  }

  const isMuted = (client: Socket) => muted !== null && names.get(client)?.includes(muted) === true;
  const server = createServer((client) => {
    const redis = connect(target, '127.0.0.1');
    names.set(client, '');
    client.on('data', (bytes) => {
      hear(client, bytes.toString('latin1'));
      redis.write(bytes);
    });
    redis.on('data', (bytes) => {
      if (!isMuted(client)) client.write(bytes);
    });
    client.on('close', () => names.delete(client));
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutAt(texts) {
      cuts = [...texts];
      met = Promise.withResolvers();
      return met.promise;
    },
    mute(name) {
      for (const client of names.keys()) if (isMuted(client) && name === null) client.destroy();
      muted = name;
    },
    async [Symbol.asyncDispose]() {
      for (const client of names.keys()) client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
