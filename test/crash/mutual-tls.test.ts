import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectKept } from '../support/journals/expect-kept.ts';
import { createTestAuthority, type TestAuthority } from '../support/receivers/certificates.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { skipWithout } from '../support/skip-without.ts';
import { describeRecoveries, killAtRandom } from '../support/world/kill-at-random.ts';
import { accounts, maxInFlight, startWorld } from '../support/world/world.ts';

const random = seededRandom('CRASH_SEED');
const kills = Math.ceil(Number(process.env['CRASH_KILLS'] ?? 40) / 4);
let redis: PrivateRedis;
let authority: TestAuthority;

describe.skipIf(skipWithout('openssl'))('receivers with mutual TLS (skipped without openssl)', () => {
  beforeAll(async () => {
    [redis, authority] = await Promise.all([
      startPrivateRedis({ appendfsync: 'always' }),
      createTestAuthority(),
    ]);
  });

  afterAll(async () => {
    await redis.close();
    await authority[Symbol.asyncDispose]();
  });

  test('two daemons killed at random: nothing is lost, and each subscriber sees its own certificate only', async () => {
    const roles = ['api,poll,deliver', 'deliver'];
    await using world = await startWorld({
      random,
      redisUrl: redis.url,
      roles,
      mutual: authority,
      subscribers: 3,
    });
    world.receiver.answer(() => ({ status: random() < 0.03 ? 503 : 200, afterMs: random() * 300 }));
    const stop = world.lives.run(20);
    const recoveries = await killAtRandom(world, kills, random);
    await stop();
    const bounds = { repeatsMax: kills * 3 * maxInFlight, setBack: false };
    const findings = await expectKept(world, bounds, `${kills} kills`);
    expect(findings.events).toBeGreaterThan(kills * accounts.length);
    expect(world.receiver.strangers).toEqual([]);
    console.log(
      `${kills} kills, ${world.receiver.callbacks.length} calls, ${describeRecoveries(recoveries)}`,
    );
  }, 900_000);
});
