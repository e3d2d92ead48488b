import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startPrivateRedis, type PrivateRedis } from '../support/redis.ts';
import { expectKept } from './support/expect-kept.ts';
import { accounts, maxInFlight, startWorld } from './support/world.ts';

const kills = Number(process.env['CRASH_KILLS'] ?? 40);
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
    const findings = await expectKept(
      world,
      { repeatsMax: half * maxInFlight, setBack: false },
      `${half} kills`,
    );
    expect(findings.events).toBeGreaterThan(half * accounts.length);
  },
);

test('after a kill in the midst of its work, changes are delivered again without anybody doing anything', async () => {
  await using world = await startWorld({ redisUrl: redis.url });
  world.receiver.answer(() => ({ status: 200, afterMs: 300 }));
  const stop = world.lives.run(20);
  const recoveriesMs: number[] = [];
  for (let i = 0; i < Math.ceil(kills / 6); i += 1) {
    await delay(1_500 + Math.random() * 1_000);
    await world.daemons[0]?.kill();
    const killedAt = Date.now();
    const filingId = `default-after-kill-${i}`;
    await world.lives.move('default', filingId, 'UNPAID');
    const isTold = ({ body, subscription }: { body: Buffer; subscription: string }) =>
      subscription === 'default.a' && body.includes(`"${filingId}"`);
    const first = await vi.waitUntil(() => world.receiver.callbacks.find(isTold), {
      timeout: 60_000,
      interval: 20,
    });
    recoveriesMs.push(first.arrivedAt - killedAt);
  }
  await stop();
  const times = recoveriesMs.toSorted((a, b) => a - b).join(' ');
  const allowance = { repeatsMax: recoveriesMs.length * maxInFlight, setBack: false };
  await expectKept(world, allowance, `kills, ms to the next change delivered: ${times}`);
});
