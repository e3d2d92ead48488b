import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';
import { expectKept } from '../support/journals/expect-kept.ts';
import { maxInFlight, startWorld } from '../support/world/world.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom('CRASH_SEED');
const pauses = Number(process.env['CRASH_PAUSES'] ?? 4);
let redis: PrivateRedis;

beforeAll(async () => {
  redis = await startPrivateRedis({ appendfsync: 'always' });
});

afterAll(() => redis.close());

test.each([
  ['poller', ['api,deliver', 'poll', 'poll']],
  ['drainer', ['api,poll,deliver', 'deliver', 'deliver']],
] as const)(
  'a %s stopped in its work that comes back after others have taken over turns nothing back and tells nothing anew',
  async (_, roles) => {
    await using world = await startWorld({ random, redisUrl: redis.url, roles });
    // Always something under way when the signal comes.
    world.recorder.latencyMs = 150;
    world.receiver.answer(() => ({ status: 200, afterMs: 50 + random() * 300 }));
    const stop = world.lives.run(10);
    for (let i = 0; i < pauses; i += 1) {
      const paused = world.daemons[1 + (i % 2)];
      await delay(2_000 + random() * 500);
      paused?.signal('SIGSTOP');
      // Longer than a lease (6 s), and every other time than a job's lock and the look at it (9 s).
      await delay(i % 2 === 0 ? 10_000 : 18_000);
      paused?.signal('SIGCONT');
    }
    await stop();
    await expectKept(world, { repeatsMax: pauses * maxInFlight, setBack: false }, `${pauses} pauses`);
  },
);
