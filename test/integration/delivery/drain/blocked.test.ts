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

/** Does something once, between a drain's claim and what it makes of it. */
function afterClaim({ delivery }: Harness, act: () => Promise<unknown>): void {
  const claim = delivery.claim.bind(delivery);
  vi.spyOn(delivery, 'claim').mockImplementationOnce(async (...args) => {
    const claimed = await claim(...args);
    await act();
    return claimed;
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
    expect(await harness.stored.resting()).toBe(0);
  });

  test('is left alone by what wakes others until its time, but not by a process that starts', async () => {
    let now = Date.now();
    await using blocked = await lost('http://127.0.0.1:9/', { now: () => now });
    const { harness, id } = blocked;
    const { wakeAt } = await harness.drain(id);
    const wake = vi.spyOn(harness.queue, 'wake').mockResolvedValue();
    const woken = async (by: 'wakeLagging' | 'wakeBlocked' | 'publish') => {
      await (by === 'publish' ? harness.publish('b') : harness.waker[by](harness.account));
      return wake.mock.lastCall?.[1];
    };
    expect(await woken('publish')).toEqual([]);
    expect(await woken('wakeLagging')).toEqual([]);
    expect(await woken('wakeBlocked')).toEqual([id]);
    now = wakeAt ?? 0;
    expect(await woken('publish')).toEqual([id]);
    expect(await woken('wakeLagging')).toEqual([id]);
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
    expect(await harness.subscriptions.resting(harness.account)).toEqual(new Map([[id, pausedUntil]]));
    await harness.drain(id);
    expect(await harness.state(id)).toMatchObject({ blocked: { times: 1 } });
  });

  test('is not blocked for what somebody changed meanwhile', async () => {
    await using blocked = await lost('http://127.0.0.1:9/');
    const { harness, id } = blocked;
    afterClaim(harness, () => harness.change(id, { description: 'meanwhile' }));
    const { wakeAt } = await harness.drain(id);
    expect(wakeAt).toBeLessThanOrEqual(Date.now());
    expect((await harness.state(id)).blocked).toBeNull();
    // As a drain of another process disables it, without a change of the settings.
    afterClaim(harness, () => harness.stored.of(id).setState({ enabled: 0 }));
    await harness.drain(id);
    expect((await harness.state(id)).blocked).toBeNull();
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
  });

  test('under a running drain is blocked after what was in flight is written', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async () => {
      await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis, { maxInFlight: 1 });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b');
    const settle = harness.delivery.settle.bind(harness.delivery);
    vi.spyOn(harness.delivery, 'settle').mockImplementation(async (account, sub, drain, settlement, at) => {
      if (settlement?.attempts.length === 1) {
        await harness.change(id, { description: 'by a process with another key' });
        await loseKey(harness, id);
      }
      return settle(account, sub, drain, settlement, at);
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
      const jobs = await harness.queue.queues[0].getJobs([
        'waiting',
        'active',
        'delayed',
        'completed',
        'failed',
      ]);
      expect(jobs.map(({ name, attemptsMade }) => [name, attemptsMade])).toEqual([['wake', 0]]);
    });
    expect(harness.errors).toEqual([]);
  });
});
