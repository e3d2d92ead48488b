import { afterAll, describe, expect, test, vi } from 'vitest';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, startReplay, type HarnessOptions } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const hour = 3_600_000;
const day = 24 * hour;
const steps: readonly [string, number][] = [
  ['90 seconds', 90_000],
  ['an hour', hour],
  ['a day', day],
];

/** A harness whose clock of Redis steps when told to. */
async function steppedHarness(options: HarnessOptions = {}) {
  let stepMs = 0;
  const now = () => Date.now() + stepMs;
  const harness = await createHarness(redis, { ...options, now });
  const wake = vi.spyOn(harness.queue, 'wake').mockResolvedValue();
  const step = (ms: number) => void (stepMs += ms);
  /** Whether the account's next poll would wake its deliverer. */
  const woken = async () => {
    wake.mockClear();
    await harness.waker.wakeIfDue(harness.account);
    return wake.mock.calls.length > 0;
  };
  return { harness, now, step, woken, [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose]() };
}

describe.each(steps)('a clock of Redis that was %s ahead and is set right', (_title, ms) => {
  test.each(['starts', 'was running'])(
    'leaves a pause as long as it was in a process that %s',
    async (kind) => {
      await using receiver = await startReceiver(() => ({ status: 429, headers: { 'retry-after': '10' } }));
      await using rig = await steppedHarness();
      const { harness } = rig;
      const { deliverers, account } = harness;
      const run = () =>
        kind === 'starts' ? harness.drain() : deliverers.run(account, new AbortController().signal);
      rig.step(ms);
      const id = await harness.subscribe(receiver.url);
      await harness.append('a');
      await run();
      rig.step(-ms);
      expect(await rig.woken()).toBe(true);
      await run();
      const { pausedUntil, nextAttemptAt } = await harness.state(id);
      expect(pausedUntil - rig.now()).toBeGreaterThan(0);
      expect(pausedUntil - rig.now()).toBeLessThanOrEqual(10_000);
      expect(nextAttemptAt).toBe(pausedUntil);
      expect(receiver.received).toHaveLength(1);
      expect(await rig.woken()).toBe(false);
      receiver.answer(200);
      rig.step(10_000);
      expect(await rig.woken()).toBe(true);
      await run();
      expect(receiver.accepted).toHaveLength(1);
    },
  );

  test('leaves a retry due when it was, and one that was decided before alone', async () => {
    await using receiver = await startReceiver(500);
    await using rig = await steppedHarness({ retryMs: [10 * hour] });
    const { harness } = rig;
    const id = await harness.subscribe(receiver.url);
    await harness.append('before');
    await harness.drain(id);
    const before = (await harness.state(id)).nextAttemptAt;
    // So that no retry is due while the clock is ahead.
    const aheadMs = Math.min(ms, hour);
    rig.step(aheadMs);
    await harness.append('ahead');
    await harness.drain(id);
    rig.step(-aheadMs);
    expect(await rig.woken()).toBe(true);
    await harness.drain(id);
    expect(receiver.received).toHaveLength(2);
    const lanes = await harness.stored.of(id).lanes();
    const dueIn = (filing: string) => (lanes[filing]?.dueAt ?? Number.NaN) - before;
    expect(dueIn('before')).toBe(0);
    expect(Math.abs(dueIn('ahead'))).toBeLessThan(60_000);
    expect(await rig.woken()).toBe(false);
  });

  test('makes no failure after it due before its time, though all was released while it was ahead', async () => {
    await using receiver = await startReceiver(500);
    await using rig = await steppedHarness({ retryMs: [40 * hour, 40 * hour] });
    const { harness } = rig;
    const id = await harness.subscribe(receiver.url);
    rig.step(ms);
    await harness.change(id, {}, { release: true });
    await harness.append('a');
    await harness.drain(id);
    rig.step(-ms);
    await harness.drain(id);
    await harness.append('b');
    await harness.drain(id);
    const { wakeAt } = await harness.drain(id);
    expect((wakeAt ?? 0) - rig.now()).toBeGreaterThan(30 * hour);
    expect(receiver.received).toHaveLength(2);
  });

  test('leaves a replay as long to rest as it had', async () => {
    await using receiver = await startReceiver();
    await using rig = await steppedHarness({ retryMs: [10_000, 10_000] });
    const { harness } = rig;
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b');
    await harness.drain(id);
    rig.step(ms);
    receiver.answer(500);
    await startReplay(harness, id, { filingId: 'a' });
    await harness.drain(id);
    const tried = receiver.received.length;
    rig.step(-ms);
    receiver.answer(200);
    expect(await rig.woken()).toBe(true);
    await harness.drain(id);
    expect(receiver.received).toHaveLength(tried);
    rig.step(13_000);
    await harness.drain(id);
    expect(receiver.received).toHaveLength(tried + 1);
    expect((await harness.state(id)).replaying).toBe(0);
  });
});

test('a clock of Redis that goes ahead by a month disables nobody who has failed for a minute', async () => {
  await using receiver = await startReceiver(500);
  await using rig = await steppedHarness({ retryMs: [5_000, 5_000, 5_000, 5_000], disableAfterMs: 5 * day });
  const { harness } = rig;
  const id = await harness.subscribe(receiver.url);
  await harness.append('a');
  await harness.drain(id);
  rig.step(30 * day);
  await harness.drain(id);
  expect(receiver.received).toHaveLength(2);
  expect(harness.disabled).toEqual([]);
  expect(rig.now() - (await harness.state(id)).failingSince).toBeLessThan(hour);
  rig.step(5 * day);
  receiver.answer(200);
  await harness.drain(id);
  expect((await harness.state(id)).enabled).toBe(true);
});

test('a wake-up that comes before its time wakes nobody, for it would come over and over', async () => {
  await using rig = await steppedHarness();
  const { harness } = rig;
  const wake = vi.spyOn(harness.queue, 'wake').mockResolvedValue();
  harness.startWorker();
  const now = rig.now();
  // As if the clock of the process that takes it up were ten hours ahead.
  const early = { account: 'early', at: now + 10 * hour };
  await harness.queue.jobs.add('due', early);
  await harness.queue.wakeAt(harness.account, now + 50, now);
  await vi.waitFor(() => expect(wake).toHaveBeenCalledWith(harness.account));
  expect(wake).not.toHaveBeenCalledWith('early');
});
