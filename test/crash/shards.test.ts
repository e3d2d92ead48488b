import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createKeys } from '../../src/redis/keys.ts';
import { parsePlan } from '../../src/redis/shards/shard-plan.ts';
import { startPrivateRedis } from '../support/redis/test-redis.ts';
import { expectKept } from '../support/journals/expect-kept.ts';
import { describeRecoveries, killAtRandom, type Recovery } from '../support/world/kill-at-random.ts';
import { maxInFlight, startWorld } from '../support/world/world.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom('CRASH_SEED');
// A change of the number takes ten seconds until it is in force, and a minute more until the next.
const killsAtOnce = 4;
const kills = Math.max(killsAtOnce, Number(process.env['CRASH_KILLS'] ?? 40) / 4);

test('daemons with different numbers of shards are killed at random while the number changes: nothing is lost, invented, out of order or sent twice but what was in flight', async () => {
  await using redis = await startPrivateRedis({ appendfsync: 'always' });
  const prefix = `w${randomBytes(6).toString('hex')}`;
  await using world = await startWorld({
    random,
    redisUrl: redis.url,
    prefix,
    roles: ['api,poll,deliver', 'poll,deliver', 'deliver'],
    environments: ['1', '16', '5'].map((count) => ({ QUEUE_SHARDS: count })),
  });
  world.receiver.answer(() => ({ status: random() < 0.03 ? 503 : 200, afterMs: random() * 300 }));
  const client = new Redis(redis.url);
  const numbers = new Set<number>();
  const notePlan = async () => {
    const { number, next } = parsePlan(await client.get(createKeys(prefix).shards)) ?? {
      number: 1,
      next: null,
    };
    numbers.add(number);
    return next;
  };
  const stop = world.lives.run(20);
  const recoveries: Recovery[] = [];
  let killed = 0;
  for (; killed < kills || numbers.size < 2; killed += killsAtOnce) {
    recoveries.push(...(await killAtRandom(world, killsAtOnce, random)));
    await notePlan();
  }
  await stop();
  // The processes look every two seconds, and one of them takes the step.
  await expect.poll(async () => (await notePlan()) ?? 0, { timeout: 30_000 }).toBe(0);
  await expectKept(world, { repeatsMax: killed * maxInFlight, setBack: false }, `${killed} kills`);
  console.log(`${killed} kills, shards ${[...numbers].join(' ')}, ${describeRecoveries(recoveries)}`);
  expect(numbers.size).toBeGreaterThan(1);
  client.disconnect();
}, 1_800_000);
