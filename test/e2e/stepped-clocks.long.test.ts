import { expect, test, vi } from 'vitest';
import { startReceiver } from '../support/receivers/receiver.ts';
import { createSteppedClock, startSteppedRedis } from '../support/daemon/stepped-clock.ts';
import { mostPerSecond, timedReceiver } from '../support/receivers/timed-receiver.ts';
import { startStage } from '../support/daemon/delivery-stage.ts';

const day = 86_400;
// Milliseconds; far less than by how much clocks are set here.
const soon = { timeout: 40_000, interval: 100 };

test("changes are told as ever after the daemon's clock was set back by 90 seconds", async () => {
  using clock = await createSteppedClock();
  using right = await createSteppedClock();
  await using redis = await startSteppedRedis(right);
  await using receiver = await startReceiver();
  const variables = { POLL_INTERVAL_MS: '2000', ...clock.environment };
  await using stage = await startStage({ url: redis.url, prefix: 'back' }, 2, variables);
  await stage.subscribe(receiver.url);
  await stage.move(['f0']);
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(1), soon);
  clock.set(-90);
  await stage.move(['f1']);
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(2), soon);
  await stage.move(['f0']);
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(3), soon);
});

test("changes are told as ever while Redis's clock is a day ahead, and when it is right again; nothing is deleted by it", async () => {
  using clock = await createSteppedClock();
  await using redis = await startSteppedRedis(clock);
  await using receiver = await startReceiver();
  const variables = { POLL_INTERVAL_MS: '500', EVENT_RETENTION_MS: '3600000' };
  await using stage = await startStage({ url: redis.url, prefix: 'ahead' }, 2, variables);
  await stage.subscribe(receiver.url);
  await stage.move(['f0']);
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(1), soon);
  clock.set(day);
  await stage.move(['f0']);
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(2), soon);
  await vi.waitFor(() => expect(stage.daemon.logs.map(({ msg }) => msg)).toContain('clock.stepped'), soon);
  // The same filing once more: what is known of it was read a day ahead.
  clock.set(0);
  await stage.move(['f0']);
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(3), soon);
  expect(await stage.all('/v1/accounts/default/events')).toHaveLength(3);
});

test("rates hold and are reached while the host's clock goes four minutes ahead, back, and back by another four", async () => {
  using clock = await createSteppedClock();
  await using redis = await startSteppedRedis(clock);
  await using quick = await timedReceiver();
  await using slow = await timedReceiver();
  const variables = { POLL_INTERVAL_MS: '500', ...clock.environment };
  await using stage = await startStage({ url: redis.url, prefix: 'rate' }, 40, variables);
  const rates = [
    { receiver: quick, rate: 5 },
    { receiver: slow, rate: 0.5 },
  ];
  for (const { receiver, rate } of rates) await stage.subscribe(receiver.url, { rate });
  await stage.move();
  // Receivers take what is less than five minutes old or early.
  for (const [arrived, seconds] of [
    [8, 240],
    [16, 0],
    [24, -240],
  ] as const) {
    await vi.waitFor(() => expect(quick.accepted.length).toBeGreaterThanOrEqual(arrived), soon);
    clock.set(seconds);
  }
  await vi.waitFor(() => expect(quick.accepted).toHaveLength(40), soon);
  await vi.waitFor(() => expect(slow.accepted.length).toBeGreaterThanOrEqual(6), soon);
  for (const { receiver, rate } of rates) {
    // The step ahead may bring one callback early.
    expect(mostPerSecond(receiver.times)).toBeLessThanOrEqual(Math.max(1, rate) + 1);
    // Two seconds between the others, also over a step; the machine may be a little early or late with one.
    const gaps = receiver.times.slice(1).map((at, i) => at - (receiver.times[i] ?? 0));
    const [, least] = gaps.toSorted((a, b) => a - b);
    expect(least).toBeGreaterThan((1_000 / rate) * 0.6);
  }
}, 90_000);
