import { createRedisMock } from 'js-redis-server';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { checkDurability } from '../../../../src/redis/durability/check-durability.ts';
import { startPrivateRedis } from '../../../support/redis/test-redis.ts';

async function problemsOf(url: string): Promise<string[]> {
  const redis = new Redis(url);
  try {
    return (await checkDurability(redis)).problems;
  } finally {
    redis.disconnect();
  }
}

describe('the check of a running Redis', () => {
  test('finds nothing wrong with one that keeps everything', async () => {
    await using server = await startPrivateRedis();
    expect(await problemsOf(server.url)).toEqual([]);
  });

  test('names the policy and the append-only file of one set up as a cache', async () => {
    await using server = await startPrivateRedis({
      args: ['--appendonly', 'no', '--maxmemory-policy', 'allkeys-lru'],
    });
    expect(await problemsOf(server.url)).toEqual([
      expect.stringContaining('maxmemory-policy is allkeys-lru'),
      expect.stringContaining('keeps no append-only file'),
    ]);
  });

  test('names a replica', async () => {
    await using master = await startPrivateRedis();
    await using replica = await startPrivateRedis({
      args: ['--replicaof', '127.0.0.1', String(master.port)],
    });
    expect(await problemsOf(replica.url)).toEqual([expect.stringContaining('is a replica')]);
  });

  test('works where CONFIG is forbidden', async () => {
    await using server = await startPrivateRedis({ args: ['--rename-command', 'CONFIG', ''] });
    expect(await problemsOf(server.url)).toEqual([]);
  });

  test('reports an emulation as one that forgets, and does not fail on it', async () => {
    const emulation = await createRedisMock();
    expect(await problemsOf(emulation.url)).toEqual([expect.stringContaining('keeps no append-only file')]);
    await emulation.close();
  });
});
