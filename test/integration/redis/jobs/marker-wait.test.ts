import { Redis } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { createMarkerWait } from '../../../../src/redis/jobs/marker-wait.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

const rounds = 10;

async function taken(key: string): Promise<void> {
  await expect.poll(() => client.zcard(key), { interval: 1, timeout: 5_000 }).toBe(0);
}

test.each([1, 3])(
  'a worker that comes for %i members taken meanwhile, and waits again, gets the next at once',
  async (meanwhile) => {
    const key = `${redis.prefix}marker${meanwhile}`;
    const opened: Redis[] = [];
    const markers = createMarkerWait({
      async open() {
        const own = new Redis(redis.url, { maxRetriesPerRequest: null });
        opened.push(own);
        return own;
      },
      hasPlace: () => true,
    });
    let waitedMs = 0;
    for (let round = 0; round < rounds; round += 1) {
      // oxlint-disable no-await-in-loop
      const first = markers.wait(key, 2);
      await client.zadd(key, 0, 'first');
      expect(await first).toEqual({ member: 'first', score: 0 });
      for (let i = meanwhile; i > 0; i -= 1) {
        await client.zadd(key, i, `held${i}`);
        await taken(key);
      }
      expect(await markers.wait(key, 2)).toEqual({ member: 'held1', score: 1 });
      const next = markers.wait(key, 2);
      const startedAt = performance.now();
      await client.zadd(key, 0, 'next');
      expect(await next).toEqual({ member: 'next', score: 0 });
      waitedMs += performance.now() - startedAt;
      // oxlint-enable no-await-in-loop
    }
    // A pause of a tenth of a second each, where it does not.
    expect(waitedMs).toBeLessThan((rounds * 100) / 2);
    markers.stop(key);
    expect(opened).toHaveLength(1);
  },
);
