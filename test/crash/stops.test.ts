import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';
import { expectKept } from '../support/journals/expect-kept.ts';
import { startWorld } from '../support/world/world.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom('CRASH_SEED');
const stops = Number(process.env['CRASH_STOPS'] ?? 12);
const graceMs = 30_000;
let redis: PrivateRedis;

beforeAll(async () => {
  redis = await startPrivateRedis({ appendfsync: 'always' });
});

afterAll(() => redis.close());

test('SIGTERM with 200 callbacks in flight: exit code 0 within the grace, and none of them is repeated', async () => {
  await using world = await startWorld({
    redisUrl: redis.url,
    filings: 60,
    subscribers: 10,
  });
  const [daemon] = world.daemons;
  world.receiver.answer(() => ({ status: 200, afterMs: 4_000 }));
  for (const account of ['default', 'second'])
    for (let i = 0; i < 10; i += 1) await world.lives.move(account, `${account}-${i}`, 'REJECTED');
  await vi.waitFor(() => expect(world.receiver.waiting()).toBeGreaterThanOrEqual(200), {
    timeout: 20_000,
    interval: 5,
  });
  const since = performance.now();
  expect(await daemon?.stop()).toBe(0);
  expect(performance.now() - since).toBeLessThan(graceMs);
  daemon?.start();
  await daemon?.untilStarted();
  const findings = await expectKept(world, { repeatsMax: 0, setBack: false }, '1 stop');
  expect(findings).toMatchObject({ events: 200, repeats: 0 });
});

test('SIGTERM at any time: exit code 0, nothing is lost, and nothing that was answered is repeated', async () => {
  await using world = await startWorld({ random, redisUrl: redis.url });
  const [daemon] = world.daemons;
  world.receiver.answer(() => ({ status: random() < 0.05 ? 503 : 200, afterMs: random() * 200 }));
  const finish = world.lives.run(15);
  for (let i = 0; i < stops; i += 1) {
    await daemon?.untilStarted();
    await delay(random() * 1_500);
    expect(await daemon?.stop()).toBe(0);
    daemon?.start();
    // Every other time in the midst of its start, where there is no work to finish yet.
    if (i % 2 === 0) continue;
    await delay(random() * 800);
    expect([0, null]).toContain(await daemon?.stop());
    daemon?.start();
  }
  await daemon?.untilStarted();
  await finish();
  await expectKept(world, { repeatsMax: 0, setBack: false }, `${stops} stops`);
});
