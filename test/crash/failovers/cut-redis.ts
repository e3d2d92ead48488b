import { setTimeout as delay } from 'node:timers/promises';
import { stat, truncate } from 'node:fs/promises';
import { startPrivateRedis, type PrivateRedis } from '../../support/redis/test-redis.ts';
import { lastAppendOnlyFile, lastTransaction } from '../../support/redis/redis-files.ts';
import type { FailoverGroup } from './replication.ts';

/** What the transaction that is cut is about, by a text in it: a commit, a settle, a job. */
const texts = ['evt_', ':sub:', '{~queues}'];
const runMsMax = 4_000;

/**
 * One Redis that is killed and loses the end of its append-only file in the midst of a transaction, and is
 * killed again soon after its start: before or after the rewrite that drops what is left of the transaction.
 * One that `refuses` does not rewrite.
 */
export async function startCutRedis(random: () => number, refuses = false): Promise<FailoverGroup> {
  const args = refuses ? ['--rename-command', 'BGREWRITEAOF', '', '--auto-aof-rewrite-percentage', '0'] : [];
  const redis = await startPrivateRedis({ appendfsync: 'always', args });
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
        await delay(random() * runMsMax);
        await redis.restart();
        return undone;
      },
    })),
    [Symbol.asyncDispose]: () => redis.close(),
  };
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
