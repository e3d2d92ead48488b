import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKeys } from '../../../src/redis/keys.ts';
import { appendEvent, paidEvent } from '../../support/redis/append-script.ts';
import { startPrivateRedis, type PrivateRedis } from '../../support/redis/test-redis.ts';
import type { ReadThrough } from './read-through.ts';

const events = 300;
const keptMax = 4;
const body = JSON.stringify({ notes: 'x'.repeat(1_000_000) });
let redis: PrivateRedis;

beforeAll(async () => {
  redis = await startPrivateRedis({ args: ['--appendonly', 'no'] });
  const client = new Redis(redis.url);
  const keys = createKeys('memory').account('a');
  for (let i = 0; i < events; i += 1)
    await appendEvent(client, keys, { ...paidEvent('f'), id: `evt_${i}`, body }, Date.now());
  client.disconnect();
});

afterAll(() => redis.close());

async function readThrough(way: 'drain' | 'list'): Promise<ReadThrough> {
  const module = fileURLToPath(new URL('read-through.ts', import.meta.url));
  const child = fork(module, [redis.url, 'memory', 'a', way, String(keptMax)], { execArgv: ['--expose-gc'] });
  const [told] = (await once(child, 'message')) as [ReadThrough];
  await once(child, 'exit');
  return told;
}

it.each(['drain', 'list'] as const)(
  'keeps little of a log of large bodies that was read through, and nothing after seconds (%s)',
  async (way) => {
    const told = await readThrough(way);
    expect(told.events).toBe(events);
    expect(told.afterwards).toBeLessThan(128);
    expect(told.kept).toBeLessThan(keptMax);
  },
);
