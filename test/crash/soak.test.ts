import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';
import { expectKept } from '../support/journals/expect-kept.ts';
import { quarters, watchMemory, type MemorySample } from '../support/world/memory.ts';
import { maxInFlight, startWorld, type World } from '../support/world/world.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom('CRASH_SEED');
const minutes = Number(process.env['SOAK_MINUTES'] ?? 1);
// Shorter than this, the first trims of the log and the growth of a young heap are all there is to see.
const flatFromMinutes = 10;
const growthMax = 1.1;
const perSecond = 50;
let redis: PrivateRedis;

beforeAll(async () => {
  redis = await startPrivateRedis({ appendfsync: 'always' });
});

afterAll(() => redis.close());

async function killUntil(over: AbortSignal, { daemons }: World): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    await delay(5_000 + random() * 20_000, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return kills;
    await daemons[1]?.kill();
  }
}

const measures = ['daemonBytes', 'redisBytes', 'redisKeys'] as const;

// What grew from the second quarter to the last one.
function grown(samples: readonly MemorySample[]): string[] {
  return measures.filter((of) => {
    const [, second = 0, , last = 0] = quarters(samples, of);
    return last > second * growthMax;
  });
}

test(`${minutes} minutes at ${perSecond} changes a second, one of two daemons killed again and again: nothing is lost, and the memory of the other and of Redis stays what it is`, async () => {
  await using world = await startWorld({
    redisUrl: redis.url,
    roles: ['api,poll,deliver', 'api,poll,deliver'],
    filings: 200,
    environment: { POLL_INTERVAL_MS: '500', SWEEP_INTERVAL_MS: '10000', EVENT_RETENTION_MS: '120000' },
  });
  world.receiver.answer(() => ({ status: random() < 0.01 ? 503 : 200, afterMs: random() * 50 }));
  const stop = world.lives.run(perSecond, false);
  const over = AbortSignal.timeout(minutes * 60_000);
  const metricsUrl = `${world.daemons[0]?.url()}/metrics`;
  const [samples, kills] = await Promise.all([
    watchMemory(redis.url, metricsUrl, over),
    killUntil(over, world),
  ]);
  await stop();
  for (const of of measures) console.log(of, 'median of each quarter', quarters(samples, of).join(' '));
  const findings = await expectKept(
    world,
    { repeatsMax: kills * maxInFlight, setBack: false },
    `${kills} kills`,
  );
  expect(findings.events).toBeGreaterThan(minutes * 60 * perSecond);
  expect(minutes < flatFromMinutes ? [] : grown(samples)).toEqual([]);
}, 3_600_000);
