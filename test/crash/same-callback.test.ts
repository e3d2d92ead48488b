import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';
import { expectKept } from '../support/journals/expect-kept.ts';
import { startWorld } from '../support/world/world.ts';

const kills = 5;
const subscribers = 2;
let redis: PrivateRedis;

beforeAll(async () => {
  redis = await startPrivateRedis({ appendfsync: 'always' });
});

afterAll(() => redis.close());

test('killed five times in a row during the same callbacks, it sends each once more after every kill, under the same id', async () => {
  await using world = await startWorld({ redisUrl: redis.url });
  const { receiver } = world;
  receiver.answer(() => ({ status: 200, afterMs: 2_000 }));
  await world.lives.move('default', 'default-0', 'REJECTED');
  const arrivals = () => receiver.callbacks.length + receiver.waiting();
  for (let i = 1; i <= kills; i += 1) {
    await vi.waitFor(() => expect(arrivals()).toBe(subscribers * i), { timeout: 40_000, interval: 20 });
    await world.daemons[0]?.kill();
  }
  const findings = await expectKept(world, { repeatsMax: 0, setBack: false }, `${kills} kills`);
  expect(findings).toMatchObject({ events: subscribers, repeats: 0 });
  expect(receiver.callbacks).toHaveLength(subscribers * (kills + 1));
  expect(new Set(receiver.callbacks.map(({ id }) => id)).size).toBe(1);
});
