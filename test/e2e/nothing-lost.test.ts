import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../src/sandbox/random.ts';
import { expectKept } from '../support/journals/expect-kept.ts';
import { maxInFlight, startWorld } from '../support/world/world.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';

const seed = Number(process.env['CRASH_SEED'] ?? 20_261_121);
const kills = 4;
let redis: PrivateRedis;

beforeAll(async () => {
  redis = await startPrivateRedis({ appendfsync: 'always' });
});

afterAll(() => redis.close());

// A short piece of `npm run test:crash`.
test(`killed at random with Redis going down in between, it loses, invents and reorders nothing (seed ${seed})`, async () => {
  const random = createRandom(seed);
  await using world = await startWorld({
    redisUrl: redis.url,
    roles: ['api,poll,deliver', 'poll,deliver'],
    random,
  });
  world.receiver.answer(() => ({ status: random() < 0.05 ? 503 : 200, afterMs: random() * 100 }));
  const stop = world.lives.run(10);
  for (let i = 0; i < kills; i += 1) {
    await delay(500 + random() * 1_500);
    await world.daemons[i % 2]?.kill();
    if (i === 1) await redis.restart();
  }
  await stop();
  const allowance = { repeatsMax: (kills + 1) * maxInFlight, setBack: false };
  const { events } = await expectKept(world, allowance, `${kills} kills, Redis once`);
  expect(events).toBeGreaterThan(0);
}, 180_000);
