import { setTimeout as delay } from 'node:timers/promises';
import { stat, truncate } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { startPrivateRedis, type PrivateRedis } from '../../support/redis/test-redis.ts';
import { lastAppendOnlyFile, lastTransaction } from '../../support/redis/redis-files.ts';
import type { FailoverGroup } from './replication.ts';

/** What the transaction that is cut is about, by a text in it: a commit, a settle, a job. */
const texts = ['evt_', ':sub:', '{~queues}'];
const runMsMax = 4_000;

/**
 * One Redis that is killed and loses the end of its append-only file in the midst of a transaction. It is
 * killed again after the rewrite that drops what is left of the transaction.
 */
export async function startCutRedis(random: () => number): Promise<FailoverGroup> {
  const redis = await startPrivateRedis({ appendfsync: 'always' });
  return {
    url: redis.url,
    untilWhole: async () => undefined,
    ways: texts.map((text) => ({
      name: `cut within ${text}`,
      async run(whileLagging) {
        await whileLagging();
        await redis.kill();
        const undone = await cutWithin(redis, text, random);
        await redis.restart();
        await untilRewritten(redis.url);
        await delay(random() * runMsMax);
        await redis.restart();
        return undone;
      },
    })),
    [Symbol.asyncDispose]: () => redis.close(),
  };
}

// A daemon asks for the rewrite within seconds after each start.
async function untilRewritten(url: string): Promise<void> {
  const client = new Redis(url);
  try {
    const isRewritten =
      /aof_rewrites:[1-9][^]*aof_rewrite_in_progress:0|aof_rewrite_in_progress:0[^]*aof_rewrites:[1-9]/;
    while (!isRewritten.test(await client.info('persistence'))) await delay(50);
  } finally {
    client.disconnect();
  }
}

async function cutWithin({ directory }: PrivateRedis, text: string, random: () => number): Promise<number> {
  const file = await lastAppendOnlyFile(directory);
  const found = await lastTransaction(file, text);
  const { size } = await stat(file);
  const end =
    found === null ? Math.max(0, size - 20) : Math.floor(found.from + random() * (found.to - found.from));
  await truncate(file, end);
  return size - end;
}
