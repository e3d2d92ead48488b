import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';
import { expectKept } from '../support/journals/expect-kept.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { accounts, maxInFlight, startWorld, type World } from '../support/world/world.ts';

const random = seededRandom('CRASH_SEED');
const changesPerSecond = 50;
const subscribers = 4;
const spreadMsMax = 10_000;
const windowMs = 2_000;
// Of the callbacks that a process would make if all made as many.
const shareMin = 1 / 3;
let redis: PrivateRedis;

beforeAll(async () => {
  redis = await startPrivateRedis({ appendfsync: 'always' });
});

afterAll(() => redis.close());

/** Callbacks of each daemon within the last two seconds. */
function recentCallbacks({ daemons }: World): number[] {
  const since = Date.now() - windowMs;
  return daemons.map(
    ({ logs }) => logs.filter(({ msg, time = 0 }) => msg === 'delivery.delivered' && time >= since).length,
  );
}

/** Resolves with the milliseconds until each of some daemons makes a third of its share of the callbacks. */
async function untilSpread(world: World, daemons: readonly number[]): Promise<number> {
  const since = performance.now();
  await vi.waitFor(
    () => {
      const made = recentCallbacks(world);
      const all = made.reduce((sum, count) => sum + count, 0);
      const least = Math.min(...daemons.map((i) => made[i] ?? 0));
      expect(least, `callbacks ${made.join(', ')}`).toBeGreaterThan((shareMin * all) / daemons.length);
    },
    { timeout: spreadMsMax, interval: 100 },
  );
  return Math.round(performance.now() - since);
}

test.each([
  ['SIGTERM', 'keep up', 'and all have their share within 10 s', 5],
  ['SIGKILL', 'keep up', 'and all have their share within 10 s', 5],
  // An account stays with its process as long as it has anything to send.
  ['SIGTERM', 'are behind', 'whoever delivers', 1_000],
] as const)(
  'daemons join, and one ends by %s, at 50 changes/s, with receivers that %s: nothing is lost, only what was in flight is doubled, %s',
  async (signal, _, __, answerMs) => {
    await using world = await startWorld({
      random,
      redisUrl: redis.url,
      filings: 60,
      subscribers,
      roles: ['api,poll,deliver', 'poll,deliver', 'deliver', 'deliver'],
    });
    const [, , third, fourth] = world.daemons;
    await Promise.all([third?.stop(), fourth?.stop()]);
    world.receiver.answer(() => ({ status: 200, afterMs: answerMs }));
    const finish = world.lives.run(changesPerSecond);
    const spread = (daemons: readonly number[]) =>
      answerMs < windowMs / 4 ? untilSpread(world, daemons) : delay(windowMs, windowMs);
    const spreadMs = [await spread([0, 1])];
    third?.start();
    fourth?.start();
    await Promise.all([third?.untilStarted(), fourth?.untilStarted()]);
    spreadMs.push(await spread([0, 1, 2, 3]));
    expect(await world.daemons[1]?.stop(signal)).toBe(signal === 'SIGTERM' ? 0 : null);
    spreadMs.push(await spread([0, 2, 3]));
    await finish();
    // What is behind comes in at once.
    world.receiver.answer(() => ({ status: 200 }));
    const inFlight = signal === 'SIGKILL' ? maxInFlight : 0;
    const findings = await expectKept(world, { repeatsMax: inFlight, setBack: false }, signal);
    console.log(`spread after ${spreadMs.join(', ')} ms`);
    expect(findings.events).toBeGreaterThan(accounts.length * subscribers);
  },
  300_000,
);
