import { afterAll, expect, test, vi } from 'vitest';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { mostPerSecond, timedReceiver } from '../support/receivers/timed-receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { startStage } from '../support/daemon/delivery-stage.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const rate = 5;
const slow = { timeout: 30_000, interval: 20 };

test('four daemons, two of which end meanwhile, hold a rate of five a second and reach it, and delay no other subscription', async () => {
  await using stage = await startStage(redis, 25);
  const deliver = { ...stage.environment, ROLES: 'deliver' };
  await using second = await startDaemonProcess(deliver);
  await using third = await startDaemonProcess(deliver);
  await using fourth = await startDaemonProcess(deliver);
  await using paced = await timedReceiver();
  await using plain = await startReceiver();
  const path = await stage.subscribe(paced.url, { rate });
  await stage.subscribe(plain.url);
  await stage.move();
  await vi.waitFor(() => expect(plain.accepted).toHaveLength(25), slow);
  // The other one is through while this one has only begun.
  expect(paced.accepted.length).toBeLessThan(20);
  expect(await stage.show(path)).toMatchObject({ throttled: true, state: 'active' });
  for (const [daemon, arrived] of [
    [second, 8],
    [third, 16],
  ] as const) {
    // oxlint-disable no-await-in-loop
    await vi.waitFor(() => expect(paced.accepted.length).toBeGreaterThan(arrived), slow);
    process.kill(fourth.pid, 'SIGSTOP');
    await daemon.end('SIGTERM');
    process.kill(fourth.pid, 'SIGCONT');
    // oxlint-enable no-await-in-loop
  }
  await vi.waitFor(() => expect(paced.accepted).toHaveLength(25), slow);
  expect(mostPerSecond(paced.times)).toBeLessThanOrEqual(rate);
  // All but one call, each with its share of the time; half of the rate is left to the machine.
  const seconds = ((paced.times.at(-1) ?? 0) - (paced.times[0] ?? 0)) / 1_000;
  expect(24 / seconds).toBeGreaterThan(rate / 2);
  await vi.waitFor(
    async () => expect(await stage.show(path)).toMatchObject({ throttled: false, lag: 0 }),
    slow,
  );
}, 60_000);
