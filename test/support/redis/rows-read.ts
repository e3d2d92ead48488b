import type { Redis } from 'ioredis';

/** What a piece of work has cost Redis, which nothing else may use meanwhile. */
export interface Cost<T> {
  readonly result: T;
  /** Number of commands, those of scripts included. */
  readonly commands: number;
  /** Bytes that Redis has sent. */
  readonly bytes: number;
}

/** Counts what `work` has Redis do; scripts that it needs should be known to Redis. */
export async function rowsRead<T>(redis: Redis, work: () => Promise<T>): Promise<Cost<T>> {
  const before = await counters(redis);
  const result = await work();
  const after = await counters(redis);
  // The first INFO itself is in the difference.
  return {
    result,
    commands: after.commands - before.commands - 1,
    bytes: after.bytes - before.bytes - before.size,
  };
}

async function counters(redis: Redis) {
  const text = await redis.info('everything');
  const commands = [...text.matchAll(/^cmdstat_[^:]+:calls=(\d+)/gm)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );
  const bytes = Number(/^total_net_output_bytes:(\d+)/m.exec(text)?.[1]);
  return { commands, bytes, size: Buffer.byteLength(text) };
}
