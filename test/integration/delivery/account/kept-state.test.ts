import { afterAll, describe, expect, test, vi } from 'vitest';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { rememberKeys } from '../../../support/redis/set-back.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const hourMs = 3_600_000;

/** Delivers as the process that keeps what it knows of the account. */
const deliverOn = ({ deliverers, account }: Harness) => deliverers.run(account, new AbortController().signal);

const filings = (callbacks: readonly { readonly filingId: string }[]) =>
  callbacks.map(({ filingId }) => filingId);

describe('what a process keeps of an account between two runs', () => {
  test('saves it from reading settings and states again', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    await harness.subscribe(receiver.url);
    const { deliveries } = harness.stores;
    const [open, load] = [vi.spyOn(deliveries, 'open'), vi.spyOn(deliveries, 'load')];
    for (const filing of ['a', 'b', 'c']) {
      await harness.append(filing);
      await deliverOn(harness);
    }
    expect(filings(receiver.received)).toEqual(['a', 'b', 'c']);
    expect([open.mock.calls.length, load.mock.calls.length]).toEqual([1, 1]);
  });

  test('follows what the API has changed, added and removed meanwhile', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const of = (name: string) => ({ headers: { 'x-of': name } });
    const id = await harness.subscribe(receiver.url, of('first'));
    await harness.append('a');
    await deliverOn(harness);
    const heard = () =>
      receiver.received.map(({ filingId, headers }) => `${filingId} ${String(headers['x-of'])}`);
    await harness.change(id, of('changed'));
    const added = await harness.subscribe(receiver.url, of('added'));
    await harness.append('b');
    await deliverOn(harness);
    expect(heard().toSorted()).toEqual(['a first', 'b added', 'b changed']);
    await harness.subscriptions.remove(harness.account, id);
    await harness.append('c');
    await deliverOn(harness);
    expect(heard().slice(3)).toEqual(['c added']);
    // More changes than are listed, after one of another subscription.
    const early = await harness.subscribe(receiver.url, { ...of('early'), eventTypes: ['filing.rejected'] });
    await deliverOn(harness);
    await harness.change(early, { eventTypes: ['filing.*'] });
    for (let i = 0; i < 120; i += 1) await harness.change(added, of(String(i)));
    await harness.append('d');
    await deliverOn(harness);
    expect(heard().slice(4).toSorted()).toEqual(['d 119', 'd early']);
  });

  test('is not believed once another deliverer has begun: nothing is sent twice or left out', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const ids = [await harness.subscribe(receiver.url), await harness.subscribe(receiver.url)];
    await harness.append('a');
    await deliverOn(harness);
    await harness.append('b');
    await harness.drain();
    await harness.append('c');
    await deliverOn(harness);
    await deliverOn(harness);
    expect(filings(receiver.received).toSorted()).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
    for (const id of ids) expect(await harness.state(id)).toMatchObject({ cursor: 3, done: '' });
  });

  test.each([3, 150])('is not believed about %i retries that another one has made', async (count) => {
    // After each failure a success, so that the endpoint does not look down.
    await using receiver = await startReceiver(({ filingId }) => (filingId.startsWith('bad') ? 422 : 200));
    const clock = { now: Date.now() };
    await using harness = await createHarness(redis, {
      retryMs: [hourMs, hourMs],
      maxInFlight: 2,
      now: () => clock.now,
    });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...Array.from({ length: count }, (_, i) => [`bad${i}`, `good${i}`]).flat());
    await deliverOn(harness);
    expect((await harness.state(id)).parked).toBe(count);
    const before = receiver.received.length;
    receiver.answer(200);
    clock.now += hourMs;
    await harness.drain();
    expect(receiver.received).toHaveLength(before + count);
    expect(await deliverOn(harness)).toEqual({ wakeAt: null });
    expect(receiver.received).toHaveLength(before + count);
    expect(await harness.state(id)).toMatchObject({ parked: 0, nextAttemptAt: 0 });
  });

  test('is not believed by a Redis that was set back: what was delivered after that is sent again', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    await harness.subscribe(receiver.url);
    await harness.append('a');
    await deliverOn(harness);
    const setBack = await rememberKeys(harness.redis, harness.keys.base);
    await harness.append('b');
    await deliverOn(harness);
    await setBack();
    await harness.append('c');
    await vi.waitFor(async () => {
      await deliverOn(harness);
      expect(filings(receiver.received)).toEqual(['a', 'b', 'c']);
    });
    expect(await deliverOn(harness)).toEqual({ wakeAt: null });
    expect(receiver.received).toHaveLength(3);
  });

  test('is forgotten when a run has failed: what was in flight is sent again, and nothing else', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { maxInFlight: 4 });
    await harness.subscribe(receiver.url);
    await harness.append(...Array.from({ length: 20 }, (_, i) => `f${i}`));
    const { deliveries } = harness.stores;
    const settle = deliveries.settle.bind(deliveries);
    let settles = 0;
    const failing = vi.spyOn(deliveries, 'settle').mockImplementation(async (...args) => {
      settles += 1;
      if (settles === 3) throw new Error('Redis is away');
      return settle(...args);
    });
    await expect(deliverOn(harness)).rejects.toThrow('Redis is away');
    failing.mockRestore();
    await deliverOn(harness);
    expect(new Set(filings(receiver.received)).size).toBe(20);
    expect(receiver.received.length).toBeGreaterThan(20);
    expect(receiver.received.length).toBeLessThanOrEqual(24);
  });
});
