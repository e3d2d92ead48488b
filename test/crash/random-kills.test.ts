import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPrivateRedis, type PrivateRedis } from '../support/redis.ts';
import { checkJournals } from './support/check-journals.ts';
import { accounts, maxInFlight, startWorld } from './support/world.ts';

const kills = Number(process.env['CRASH_KILLS'] ?? 60);
let redis: PrivateRedis;

beforeAll(async () => {
  redis = await startPrivateRedis({ appendfsync: 'always' });
});

afterAll(() => redis.close());

test.each([
  ['one daemon', ['api,poll,deliver']],
  ['daemons with mixed roles', ['api,poll', 'poll,deliver', 'deliver', 'api,deliver']],
] as const)(
  '%s killed at random: nothing is lost, invented, out of order or in another account',
  async (_, roles) => {
    await using world = await startWorld({ redisUrl: redis.url, roles });
    world.receiver.answer(() => ({ status: Math.random() < 0.03 ? 503 : 200, afterMs: Math.random() * 60 }));
    const stop = world.lives.run(10);
    const half = Math.ceil(kills / 2);
    for (let i = 0; i < half; i += 1) {
      await delay(100 + Math.random() * 4_000);
      await world.daemons[Math.floor(Math.random() * world.daemons.length)]?.kill();
    }
    await stop();
    await world.settle();
    const findings = checkJournals(world.journals(), { repeatsMax: half * maxInFlight, setBack: false });
    console.log('kills', half, { ...findings, violations: findings.violations.length });
    expect(findings.violations).toEqual([]);
    expect(findings.events).toBeGreaterThan(half * accounts.length);
  },
);
