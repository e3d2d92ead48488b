import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';

/** The last word of a process about the forward proxy, for the processes that show subscriptions. */
export interface OutageStore {
  /** Says why callbacks wait; null when they do not any more. A reason holds for two minutes. */
  write(detail: string | null): Promise<void>;
  /** Why callbacks wait, null when they do not; at most a second old. */
  read(): Promise<string | null>;
}

// Milliseconds for which a reason holds. A process that is down on its proxy repeats it with each probe.
const heldMs = 120_000;
const keptMs = 1_000;

/** A store of one sentence. */
export function createOutageStore(
  redis: RedisClient,
  { proxyOutage }: Pick<Keys, 'proxyOutage'>,
): OutageStore {
  let last: Promise<string | null> = Promise.resolve(null);
  let readAt = -Infinity;
  return {
    async write(detail) {
      if (detail === null) await redis.del(proxyOutage);
      else await redis.set(proxyOutage, detail, 'PX', heldMs);
    },
    read() {
      if (performance.now() - readAt < keptMs) return last;
      readAt = performance.now();
      last = redis.get(proxyOutage);
      // The next read asks again.
      last.catch(() => (readAt = -Infinity));
      return last;
    },
  };
}
