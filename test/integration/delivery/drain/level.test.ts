import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLatch, startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const unasked = { eventTypes: ['filing.rejected'] };
const nowhere = 'http://127.0.0.1:9/';

/** As the process that delivered last. */
const runAgain = ({ deliverers, account }: Harness) => deliverers.run(account, new AbortController().signal);

const heard = (receiver: { readonly accepted: readonly { readonly filingId: string }[] }) =>
  receiver.accepted.map(({ filingId }) => filingId);

const isDue = ({ stores, account }: Harness, at = Date.now()) => stores.deliveries.isDue(account, at);

describe('the level of an account', () => {
  test('holds for all that want none of its events, with one write for all', async () => {
    await using harness = await createHarness(redis);
    const ids = await Promise.all(Array.from({ length: 20 }, () => harness.subscribe(nowhere, unasked)));
    await harness.append('a', 'b', 'c');
    const settle = vi.spyOn(harness.stores.deliveries, 'settle');
    await harness.drain();
    expect(settle.mock.calls.map(([, , { level, subscriptions }]) => [level, subscriptions])).toEqual([
      [3, []],
    ]);
    for (const id of ids) expect((await harness.state(id)).cursor).toBe(3);
  });

  test.each([
    ['the same process', runAgain],
    ['another process', ({ drain }: Harness) => drain()],
  ])('is not judged again by later settings, by %s', async (_by, next) => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, unasked);
    await harness.append('a', 'b');
    await runAgain(harness);
    await harness.change(id, { eventTypes: ['filing.*'] });
    await next(harness);
    expect(heard(receiver)).toEqual([]);
    await harness.append('c');
    await next(harness);
    expect(heard(receiver)).toEqual(['c']);
  });

  test('does not pass what is recorded after a change that asks for it', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, unasked);
    await harness.append('a');
    await runAgain(harness);
    await harness.change(id, { eventTypes: ['filing.*'] });
    await harness.append('b');
    await runAgain(harness);
    expect(heard(receiver)).toEqual(['b']);
  });

  test('that is not of the log is brought back', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    await harness.subscribe(receiver.url);
    const setBack = await harness.stored.rememberLog();
    await harness.append('a', 'b');
    await harness.drain();
    await setBack();
    await harness.append('c', 'd', 'e');
    await harness.drain();
    expect(heard(receiver)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('stays before what waits in a lane that is not written yet', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async ({ filingId, attempt }) => {
      if (filingId === 'slow' && attempt === 2) await latch.opened;
      return filingId === 'poison' || (filingId === 'slow' && attempt < 3) ? 500 : 200;
    });
    await using other = await startReceiver();
    await using harness = await createHarness(redis, { retryMs: [30, 3_600_000] });
    const id = await harness.subscribe(receiver.url);
    const beside = await harness.subscribe(other.url);
    // After each failure a success, so that the endpoint does not look down.
    await harness.append('poison', 'good');
    await harness.drain();
    await harness.append('slow', 'fine');
    const drained = harness.drain().then(async () => {
      await delay(60);
      return harness.drain();
    });
    const isSlow = { filingId: 'slow', attempt: 2 };
    await vi.waitFor(() => expect(receiver.received).toContainEqual(expect.objectContaining(isSlow)), 5_000);
    await harness.append('poison');
    await vi.waitFor(async () => expect((await harness.state(beside)).cursor).toBe(5), 5_000);
    // As if the process ended here.
    await harness.stored.overtake();
    latch.open();
    await drained;
    await harness.drain();
    const { poison } = await harness.stored.of(id).lanes();
    expect(poison?.positions).toEqual([1, 5]);
  });

  test('stays before a subscription that cannot be written, which holds up no other', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async () => {
      await latch.opened;
      return 200;
    });
    await using other = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    const beside = await harness.subscribe(other.url);
    await harness.stored.of(id).spoilAttempts();
    await harness.append('a', 'b');
    const { deliveries } = harness.stores;
    const { settle } = deliveries;
    const cursors = new Set<number>();
    vi.spyOn(deliveries, 'settle').mockImplementation(async (...args) => {
      const settled = await settle(...args);
      cursors.add((await harness.state(id)).cursor);
      return settled;
    });
    const drained = harness.drain();
    await vi.waitFor(async () => expect((await harness.state(beside)).cursor).toBe(2), 5_000);
    latch.open();
    await drained;
    expect(heard(other)).toEqual(['a', 'b']);
    // At no time would a process that begins then pass over its events.
    expect([...cursors]).toEqual([0]);
    vi.restoreAllMocks();
    await harness.stored.of(id).dropAttempts();
    await harness.drain();
    expect((await harness.state(id)).cursor).toBe(2);
    expect(await harness.stored.of(id).attempts()).toHaveLength(2);
  });

  test('does not wait for a subscription that stands still, which gets all later', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.subscribe(nowhere, unasked);
    await harness.change(id, {}, { enabled: false });
    await harness.append('a', 'b', 'c');
    await harness.drain();
    expect(await harness.state(id)).toMatchObject({ cursor: 0, lags: true });
    expect(await isDue(harness)).toBe(false);
    await harness.change(id, {}, { enabled: true, release: true });
    await harness.drain();
    expect(heard(receiver)).toEqual(['a', 'b', 'c']);
    expect(await harness.state(id)).toMatchObject({ cursor: 3, lags: false });
  });
});

describe('a wake-up that was lost', () => {
  test('is found by the next poll, for events, changes and retries; where nothing waits, nobody is woken', async () => {
    await using receiver = await startReceiver(500);
    await using harness = await createHarness(redis, { retryMs: [60_000] });
    expect(await isDue(harness)).toBe(false);
    const id = await harness.subscribe(receiver.url);
    await harness.drain();
    expect(await isDue(harness)).toBe(false);
    await harness.append('a');
    expect(await isDue(harness)).toBe(true);
    const { wakeAt } = await harness.drain();
    expect(wakeAt).toBeGreaterThan(Date.now());
    expect([await isDue(harness), await isDue(harness, wakeAt ?? 0)]).toEqual([false, true]);
    await harness.change(id, { description: 'changed' });
    expect(await isDue(harness)).toBe(true);
    await harness.drain();
    expect(await isDue(harness)).toBe(false);
  });

  test('while a run ended causes one more run', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    await harness.subscribe(receiver.url);
    const run = vi.spyOn(harness.deliverers, 'run').mockImplementationOnce(async () => {
      // The run has read all there was, and its process does not know it any more.
      await harness.append('late');
      await harness.queue.wake(harness.account);
      return { wakeAt: null };
    });
    harness.startWorker();
    await harness.queue.wake(harness.account);
    await vi.waitFor(() => expect(heard(receiver)).toEqual(['late']), 5_000);
    expect(run).toHaveBeenCalledTimes(2);
  });
});
