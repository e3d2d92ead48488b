import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLatch, startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness, type HarnessOptions } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

/** Changes the settings as they are stored, past the store that would notice. */
async function rewrite({ stored }: Harness, id: string, change: (text: string) => string) {
  await stored.setSubscription(id, change((await stored.subscriptionText(id)) ?? ''));
}

const loseKey = (harness: Harness, id: string) =>
  rewrite(harness, id, (text) => text.replaceAll('v1.test.', 'v1.lost.'));
const findKey = (harness: Harness, id: string) =>
  rewrite(harness, id, (text) => text.replaceAll('v1.lost.', 'v1.test.'));

/** Does something once, after subscriptions were read and before something is made of them. */
function afterLoad({ stores: { deliveries } }: Harness, act: () => Promise<unknown>): void {
  const { load } = deliveries;
  vi.spyOn(deliveries, 'load').mockImplementationOnce(async (...args) => {
    const loaded = await load(...args);
    await act();
    return loaded;
  });
}

/** A subscription with one event to be delivered, sealed with a key that is lost. */
async function lost(url: string, options?: HarnessOptions) {
  const harness = await createHarness(redis, options);
  const id = await harness.subscribe(url);
  await harness.append('a');
  await loseKey(harness, id);
  return { harness, id, [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose]() };
}

describe('a subscription that cannot be opened', () => {
  test('is sent nothing and says what to do, after a pause that doubles up to five minutes', async () => {
    await using receiver = await startReceiver();
    let now = 1_800_000_000_000;
    await using blocked = await lost(receiver.url, { now: () => now });
    const { harness, id } = blocked;
    const waits: number[] = [];
    for (let i = 0; i < 11; i += 1) {
      const { wakeAt } = await harness.drain(id);
      waits.push((wakeAt ?? 0) - now);
      now = wakeAt ?? 0;
    }
    expect(waits).toEqual([
      900, 1800, 3600, 7200, 14_400, 28_800, 57_600, 115_200, 230_400, 270_000, 270_000,
    ]);
    expect(await harness.state(id)).toMatchObject({
      cursor: 0,
      failures: 0,
      blocked: {
        reason: expect.stringMatching(/key "lost", which ENCRYPTION_KEY does not contain. Add it/),
        since: 1_800_000_000_000,
        times: 11,
        nextAt: now,
      },
    });
    expect(harness.blocks).toHaveLength(11);
    expect(receiver.received).toEqual([]);
  });

  test('is delivered to once it can be, and nothing is left of the block', async () => {
    await using receiver = await startReceiver();
    await using blocked = await lost(receiver.url);
    const { harness, id } = blocked;
    await harness.drain(id);
    await findKey(harness, id);
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    expect(receiver.accepted).toHaveLength(1);
    expect((await harness.state(id)).blocked).toBeNull();
  });

  test('is not tried again before its time, but by a process that starts', async () => {
    let now = Date.now();
    await using blocked = await lost('http://127.0.0.1:9/', { now: () => now });
    const { harness } = blocked;
    const { deliverers, account, stores, blocks } = harness;
    const run = () => deliverers.run(account, new AbortController().signal);
    const { wakeAt } = await run();
    await harness.append('b');
    expect(await run()).toEqual({ wakeAt });
    expect(blocks).toHaveLength(1);
    expect(await stores.deliveries.isDue(account, now)).toBe(false);
    expect(await stores.deliveries.isDue(account, wakeAt ?? 0)).toBe(true);
    now = wakeAt ?? 0;
    const next = await run();
    expect(blocks).toHaveLength(2);
    expect(next.wakeAt).toBeGreaterThan(now);
    await harness.drain();
    expect(blocks).toHaveLength(3);
  });

  test('is tried at once after any change, which leaves the pause of its endpoint as it is', async () => {
    await using receiver = await startReceiver(() => ({ status: 429, headers: { 'retry-after': '3600' } }));
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a');
    await harness.drain(id);
    const { pausedUntil } = await harness.state(id);
    await loseKey(harness, id);
    await harness.drain(id);
    await harness.drain(id);
    expect(await harness.state(id)).toMatchObject({ blocked: { times: 2 }, pausedUntil });
    await harness.change(id, { description: 'changed' });
    expect(await harness.state(id)).toMatchObject({ blocked: null, pausedUntil });
    await harness.drain(id);
    expect(await harness.state(id)).toMatchObject({ blocked: { times: 1 } });
  });

  test('is not blocked for what somebody changed meanwhile', async () => {
    await using receiver = await startReceiver();
    await using blocked = await lost(receiver.url);
    const { harness, id } = blocked;
    afterLoad(harness, async () => {
      await findKey(harness, id);
      await harness.change(id, { description: 'meanwhile' });
    });
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    expect(harness.blocks).toEqual([]);
    expect((await harness.state(id)).blocked).toBeNull();
    expect(receiver.accepted).toHaveLength(1);
  });

  test('is not blocked once it was disabled meanwhile', async () => {
    await using blocked = await lost('http://127.0.0.1:9/');
    const { harness, id } = blocked;
    afterLoad(harness, () => harness.change(id, {}, { enabled: false }));
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    expect(harness.blocks).toEqual([]);
    expect((await harness.state(id)).blocked).toBeNull();
  });

  test('under a run is blocked after what was in flight is written', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async () => {
      await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis, { maxInFlight: 1 });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b');
    const { deliveries } = harness.stores;
    const { settle } = deliveries;
    vi.spyOn(deliveries, 'settle').mockImplementation(async (account, fence, settlement, at) => {
      if (settlement.subscriptions[0]?.attempts.length === 1) {
        await harness.change(id, { description: 'by a process with another key' });
        await loseKey(harness, id);
      }
      return settle(account, fence, settlement, at);
    });
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(1));
    latch.open();
    await drained;
    expect(await harness.state(id)).toMatchObject({ cursor: 1, blocked: { times: 1 } });
    expect(receiver.received).toHaveLength(1);
  });

  test('leaves one job in the queue, the wake-up at its time', async () => {
    await using blocked = await lost('http://127.0.0.1:9/');
    const { harness } = blocked;
    harness.startWorker();
    await harness.publish('b');
    await vi.waitFor(() => expect(harness.blocks.length).toBeGreaterThan(1), 10_000);
    await vi.waitFor(async () => {
      const jobs = await harness.queue.jobs.getJobs(['waiting', 'active', 'delayed', 'completed', 'failed']);
      expect(jobs.map(({ name, attemptsMade }) => [name, attemptsMade])).toEqual([['due', 0]]);
    });
    expect(harness.errors).toEqual([]);
  });
});

test('a subscription whose results cannot be written lets its deliverer rest, and gets them again', async () => {
  const latches = new Map(['b', 'c'].map((filing) => [filing, createLatch()]));
  await using receiver = await startReceiver(async ({ filingId }) => {
    await latches.get(filingId)?.opened;
    return 200;
  });
  let looks = 0;
  const now = () => {
    looks += 1;
    return Date.now();
  };
  await using harness = await createHarness(redis, { now });
  const id = await harness.subscribe(receiver.url);
  await harness.append('a', 'b', 'c');
  const { attempts } = harness.keys.subscription(id);
  const { deliveries } = harness.stores;
  const { settle } = deliveries;
  const isSettled = createLatch();
  // The result of `b` comes while that of `a` is refused.
  vi.spyOn(deliveries, 'settle').mockImplementation(async (account, fence, settlement, at) => {
    const isFirst = settlement.subscriptions[0]?.attempts.length === 1 && receiver.accepted.length === 1;
    if (isFirst) {
      latches.get('b')?.open();
      while (receiver.accepted.length < 2) await delay(10);
      await delay(100);
      await harness.redis.set(attempts, 'of another type');
    }
    const settled = await settle(account, fence, settlement, at);
    if (isFirst) isSettled.open();
    return settled;
  });
  const drained = harness.drain(id);
  await isSettled.opened;
  await delay(100);
  looks = 0;
  await delay(500);
  expect(looks).toBeLessThan(50);
  latches.get('c')?.open();
  await drained;
  await harness.redis.del(attempts);
  await harness.change(id, {});
  await harness.drain(id);
  expect(await harness.state(id)).toMatchObject({ cursor: 3, blocked: null });
  expect(receiver.accepted).toHaveLength(6);
});
