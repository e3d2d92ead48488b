import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLatch, startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, everything, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const hourMs = 3_600_000;
const nowhere = 'http://127.0.0.1:1/';

/** Whether the next poll would wake the account. */
const isDue = ({ stores: { deliveries }, account }: Harness, now = Date.now()) =>
  deliveries.isDue(account, now);

describe('a wake-up that was lost', () => {
  test('is found by the next poll, which wakes the account once', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const wake = vi.spyOn(harness.queue, 'wake');
    await harness.subscribe(receiver.url);
    harness.startWorker();
    await harness.waker.wakeIfDue(harness.account);
    await vi.waitFor(async () => expect(await isDue(harness)).toBe(false), 5_000);
    // In the log, and nobody is woken: as after a crash in between.
    await harness.append('a');
    await harness.waker.wakeIfDue(harness.account);
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(1), 5_000);
    await vi.waitFor(async () => expect(await isDue(harness)).toBe(false), 5_000);
    for (let i = 0; i < 3; i += 1) await harness.waker.wakeIfDue(harness.account);
    expect(wake).toHaveBeenCalledTimes(2);
  });

  test('is found for events, retries, replays, releases and changes, and nothing is where nothing waits', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId === 'poison' ? 500 : 200));
    let later = 0;
    const now = () => Date.now() + later;
    await using harness = await createHarness(redis, { retryMs: [60_000, hourMs], now });
    const due = () => isDue(harness, now());
    async function expectDelivered(): Promise<void> {
      expect(await due()).toBe(true);
      await harness.drain();
      expect(await due()).toBe(false);
    }

    expect(await due()).toBe(false);
    const id = await harness.subscribe(receiver.url);
    await expectDelivered();
    await harness.append('a');
    await expectDelivered();
    await harness.append('poison');
    await expectDelivered();
    later = 30_000;
    expect(await due()).toBe(false);
    later = 90_000;
    await expectDelivered();
    expect(receiver.received).toHaveLength(3);

    await harness.change(id, {}, { release: true });
    await expectDelivered();
    expect(receiver.received).toHaveLength(4);
    await harness.change(id, {}, { enabled: false });
    await expectDelivered();
    await harness.append('b');
    await expectDelivered();
    await harness.change(id, {}, { enabled: true });
    await expectDelivered();
    await harness.replayer.start(harness.account, id, { ...everything, filingId: 'a' });
    await expectDelivered();
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['a', 'b', 'a']);
    await harness.subscriptions.remove(harness.account, id);
    expect(await due()).toBe(false);
  });

  test('is found at once where what is written was written by a clock that was far ahead', async () => {
    await using receiver = await startReceiver(({ attempt }) => (attempt === 1 ? 422 : 200));
    let clock = Date.now() + 30 * 24 * hourMs;
    await using harness = await createHarness(redis, { retryMs: [hourMs], now: () => clock });
    await harness.subscribe(receiver.url);
    await harness.append('a');
    await harness.drain();
    expect(await isDue(harness, clock)).toBe(false);
    clock = Date.now();
    expect(await isDue(harness, clock)).toBe(true);
    await harness.drain();
    expect(await isDue(harness, clock)).toBe(false);
    clock += hourMs;
    await harness.drain();
    expect(receiver.accepted).toHaveLength(1);
  });

  test('is that of a deliverer that ended with callbacks unsent: what it left is due', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(() => latch.opened.then(() => 200));
    await using harness = await createHarness(redis, { maxInFlight: 2 });
    await harness.subscribe(receiver.url);
    await harness.append('a', 'b', 'c', 'd', 'e');
    const stop = new AbortController();
    const running = harness.drain(undefined, stop.signal);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(2));
    stop.abort();
    latch.open();
    expect((await running).wakeAt).toBeLessThanOrEqual(Date.now());
    expect(await isDue(harness)).toBe(true);
    await harness.drain();
    expect(receiver.received).toHaveLength(5);
    expect(await isDue(harness)).toBe(false);
  });
});

describe('a deliverer that is about to end', () => {
  // Number of steps of the event loop's microtasks after the last write.
  const steps = Array.from({ length: 40 }, (_, i) => i);

  test('takes no wake-up whose event it does not deliver', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const { account, deliverers, stores } = harness;
    await harness.subscribe(receiver.url);
    const settle = stores.deliveries.settle.bind(stores.deliveries);
    const run = () => deliverers.run(account, new AbortController().signal);
    for (const count of steps) {
      await harness.append(`first ${count}`);
      const { position } = await harness.log.head(account);
      const taken = Promise.withResolvers<boolean>();
      let isWoken = false;
      async function wakeUp(): Promise<void> {
        isWoken = true;
        for (let i = 0; i < count; i += 1) await Promise.resolve();
        taken.resolve(deliverers.readOn(account));
      }
      // The event comes right after the last write, which does not know it.
      const settling = vi.spyOn(stores.deliveries, 'settle').mockImplementation(async (...args) => {
        const settled = await settle(...args);
        if (typeof settled === 'string' || args[2].level < position || isWoken) return settled;
        await harness.append(`second ${count}`);
        void wakeUp();
        return settled;
      });
      await run();
      settling.mockRestore();
      const isHeard = receiver.accepted.some(({ filingId }) => filingId === `second ${count}`);
      expect([count, isHeard]).toEqual([count, await taken.promise]);
      await run();
    }
    expect(receiver.accepted).toHaveLength(2 * steps.length);
  });

  test('is waited for by the job that comes then', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(() => latch.opened.then(() => 200));
    await using harness = await createHarness(redis);
    const { account, deliverers } = harness;
    await harness.subscribe(receiver.url);
    await harness.append('a');
    const run = () => deliverers.run(account, new AbortController().signal);
    const former = run();
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(1));
    // Another process takes the account over, and this one finds that out.
    await harness.stored.overtake();
    await harness.append('b');
    await vi.waitFor(() => expect(deliverers.readOn(account)).toBe(false), 5_000);
    const next = run();
    latch.open();
    await Promise.all([former, next]);
    expect(receiver.accepted.map(({ filingId }) => filingId).toSorted()).toEqual(['a', 'a', 'b']);
  });
});

test('the settings of an account that nobody calls are not read by polls', async () => {
  await using harness = await createHarness(redis);
  await harness.subscribe(nowhere, { eventTypes: ['filing.rejected'] });
  await harness.drain();
  const load = vi.spyOn(harness.stores.deliveries, 'load');
  const wake = vi.spyOn(harness.queue, 'wake');
  for (let i = 0; i < 5; i += 1) await harness.waker.wakeIfDue(harness.account);
  expect([load.mock.calls.length, wake.mock.calls.length]).toEqual([0, 0]);
});
