import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLatch, startReceiver, type Callback } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const subscriptions = 120;

async function subscribeMany(harness: Harness, url: string, count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, (_, i) => harness.subscribe(url, { headers: { 'x-number': `${i}` } })),
  );
}

/** The deduplication keys that are left: one would keep its subscription from being woken. */
async function heldKeys(harness: Harness): Promise<string[]> {
  return harness.redis.keys(`*${harness.account}*:de:*`);
}

const numbers = (callbacks: readonly Callback[]) =>
  new Set(callbacks.map(({ headers }) => headers['x-number']));

describe('an event for many subscriptions', () => {
  test('wakes them in slices, and reaches each once', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    await subscribeMany(harness, receiver.url, subscriptions);
    await harness.publish('a');
    // The same event once more before any slice is drained adds none.
    await harness.waker.wakeMatching(harness.account, [{ type: 'filing.pending', state: '', status: '' }]);
    const jobs = await harness.queue.queues()[0].getJobs();
    expect(jobs.map(({ data }) => data.slice?.length)).toEqual([40, 40, 40]);
    harness.startWorker();
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(subscriptions), 10_000);
    expect(numbers(receiver.accepted).size).toBe(subscriptions);
    await vi.waitFor(async () => expect(await heldKeys(harness)).toEqual([]), 5_000);
    await harness.publish('a', 'b');
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(3 * subscriptions), 10_000);
    expect(receiver.received).toHaveLength(3 * subscriptions);
    expect(harness.errors).toEqual([]);
  });

  test('reaches all but those that hang, whose drains hold nobody else, and are not begun twice', async () => {
    const latch = createLatch();
    await using hanging = await startReceiver(async () => {
      await latch.opened;
      return 200;
    });
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { timeoutMs: 20_000, concurrency: 60 });
    // Its drain is under way before the slice is.
    await harness.subscribe(hanging.url);
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(hanging.inFlight()).toBe(1), 5_000);
    await subscribeMany(harness, hanging.url, 2);
    await subscribeMany(harness, receiver.url, subscriptions);
    for (const [i, filing] of ['b', 'c', 'd'].entries()) {
      await harness.publish(filing);
      await vi.waitFor(() => expect(receiver.accepted).toHaveLength((i + 1) * subscriptions), 10_000);
    }
    expect(numbers(hanging.received).size).toBe(3);
    latch.open();
    await vi.waitFor(() => expect(hanging.accepted).toHaveLength(4 + 2 * 3), 10_000);
    await vi.waitFor(async () => expect(await heldKeys(harness)).toEqual([]), 10_000);
    expect(hanging.received).toHaveLength(4 + 2 * 3);
    expect(receiver.received).toHaveLength(3 * subscriptions);
    expect(harness.errors).toEqual([]);
  });

  test('is tried again for those whose drain failed, and for them alone', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    await subscribeMany(harness, receiver.url, subscriptions);
    const claim = vi.spyOn(harness.delivery, 'claim');
    claim.mockRejectedValueOnce(new Error('no such thing'));
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(subscriptions), 10_000);
    expect(harness.errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^drain of \S+ sub_\w+: no such thing$/),
    ]);
    expect(receiver.received).toHaveLength(subscriptions);
  });

  test('does not wait for the others of its slice where one has a broken record', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const [broken = ''] = await subscribeMany(harness, receiver.url, subscriptions);
    const { lanes } = harness.keys.subscription(broken);
    await harness.redis.set(lanes, 'of another type');
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(subscriptions), 10_000);
    expect(receiver.received).toHaveLength(subscriptions);
    expect(harness.errors).toEqual([]);
  });
});

test('what many were woken for is given time before a look for laggards wakes each alone', async () => {
  await using harness = await createHarness(redis);
  await subscribeMany(harness, 'http://127.0.0.1:9', subscriptions);
  await harness.publish('a');
  await harness.waker.keepAwake(harness.account);
  expect(await harness.queue.waiting()).toBe(3);
  await harness.waker.wakeLagging(harness.account);
  expect(await harness.queue.waiting()).toBe(3 + subscriptions);
});
