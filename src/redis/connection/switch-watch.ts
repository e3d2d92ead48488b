import { Redis } from 'ioredis';
import { listenTo, type RedisClient } from './open-client.ts';

/**
 * Listens to every sentinel and makes `clients` connect anew as soon as one of them announces another master.
 * Otherwise a client of the former master writes there until that becomes a replica ten seconds later, and
 * these writes are lost. The returned function ends the watch.
 */
export function watchSwitches(
  sentinels: readonly Redis[],
  masterName: string,
  clients: () => Iterable<RedisClient>,
): () => void {
  for (const sentinel of sentinels) {
    sentinel.on('message', (_: string, message: string) => {
      if (message.startsWith(`${masterName} `)) for (const client of clients()) connectAnew(client);
    });
    listenTo(sentinel, '+switch-master').catch(() => undefined);
  }
  return () => {
    for (const sentinel of sentinels) sentinel.disconnect();
  };
}

/**
 * Ends a client's connections, so that it opens others. A client that is looking for a server is left alone:
 * ioredis would end it for good.
 */
export function connectAnew(client: RedisClient): void {
  const { status } = client;
  if (status === 'ready' || (status === 'connect' && client instanceof Redis)) client.disconnect(true);
}
