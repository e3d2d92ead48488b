import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLaggards } from '../../../../src/delivery/lagging/laggards.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
const client = redis.connect();

/** A harness whose wake-ups are only noted, and whose clock may be moved. */
async function watchedHarness() {
  const receiver = await startReceiver(({ filingId }) => (filingId === 'poison' ? 500 : 200));
  let later = 0;
  const now = () => Date.now() + later;
  const harness = await createHarness(redis, { retryMs: [60_000, 3_600_000], now });
  const wake = vi.spyOn(harness.queue, 'wake').mockResolvedValue();
  return {
    harness,
    subscribe: () => harness.subscribe(receiver.url),
    pass: (ms: number) => void (later += ms),
    /** Whom a poll that has just ended wakes. */
    async woken() {
      await harness.waker.keepAwake(harness.account);
      return wake.mock.lastCall?.[1];
    },
    async [Symbol.asyncDispose]() {
      await harness[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

describe('a look after a poll', () => {
  test('finds whoever lags, has a retry due, a replay or a release to do, and nobody else', async () => {
    await using rig = await watchedHarness();
    const { harness, subscribe, woken } = rig;
    const first = await subscribe();
    expect([await woken(), await woken()]).toEqual([[], []]);
    await harness.append('a');
    expect([await woken(), await woken()]).toEqual([[first], [first]]);
    await harness.drain(first);
    expect([await woken(), await woken()]).toEqual([[], []]);

    await harness.append('poison');
    await harness.drain(first);
    expect([await woken(), await woken()]).toEqual([[], []]);
    const second = await subscribe();
    expect(await woken()).toEqual([]);
    rig.pass(90_000);
    expect(await woken()).toEqual([first]);
    await harness.drain(first);
    expect(await woken()).toEqual([]);

    await harness.change(second, {}, { release: true });
    expect(await woken()).toEqual([second]);
    await harness.drain(second);
    expect(await woken()).toEqual([]);
    const all = { after: null, before: null, eventTypes: null, filingId: 'a', deadLettersOnly: false };
    await harness.replayer.start(harness.account, first, all);
    expect(await woken()).toEqual([first]);
    await harness.drain(first);
    expect([await woken(), await woken()]).toEqual([[], []]);
  });

  test('believes no look of before a step of the clock', async () => {
    await using rig = await watchedHarness();
    const { harness } = rig;
    let [aheadMs, steadySince] = [0, 0];
    const { log, subscriptions } = harness;
    const laggards = createLaggards({
      redis: client,
      keys: createKeys(redis.prefix),
      log,
      filtersOf: subscriptions.filtersOf,
      deliveries: subscriptions.deliveries,
      now: () => Date.now() + aheadMs,
      steadySince: () => steadySince,
    });
    const id = await rig.subscribe();
    await harness.append('poison');
    await laggards.find(harness.account, false);
    // The retry is written by a clock that is ahead, after the look at all of them.
    rig.pass(120_000);
    await harness.drain(id);
    aheadMs = 120_000;
    expect(await laggards.find(harness.account, false)).toMatchObject({ ids: [] });
    aheadMs = 0;
    expect(await laggards.find(harness.account, false)).toMatchObject({ ids: [] });
    await delay(5);
    steadySince = Date.now();
    expect(await laggards.find(harness.account, false)).toMatchObject({ ids: [id] });
  });

  test('wakes one with a retry much later for a new event at once, although its next look was later', async () => {
    await using rig = await watchedHarness();
    const first = await rig.subscribe();
    await rig.harness.append('poison');
    await rig.harness.drain(first);
    expect(await rig.woken()).toEqual([]);
    await rig.harness.append('b');
    expect(await rig.woken()).toEqual([first]);
  });

  test('wakes one whose pause is over, also when events came during the pause', async () => {
    await using receiver = await startReceiver(() => ({ status: 429, headers: { 'retry-after': '600' } }));
    await using rig = await watchedHarness();
    const id = await rig.harness.subscribe(receiver.url);
    await rig.harness.append('a');
    await rig.harness.drain(id);
    expect(await rig.woken()).toEqual([]);
    await rig.harness.append('b');
    expect([await rig.woken(), await rig.woken()]).toEqual([[], []]);
    rig.pass(700_000);
    expect(await rig.woken()).toEqual([id]);
  });

  test('finds again what was written by a clock that is set back then', async () => {
    await using rig = await watchedHarness();
    const id = await rig.subscribe();
    rig.pass(86_400_000);
    await rig.harness.append('poison');
    await rig.harness.drain(id);
    expect(await rig.woken()).toEqual([]);
    rig.pass(-86_400_000);
    expect(await rig.woken()).toEqual([id]);
  });

  test('begins anew where the key is gone, or a look was broken off', async () => {
    await using rig = await watchedHarness();
    const id = await rig.subscribe();
    await rig.harness.append('a');
    expect(await rig.woken()).toEqual([id]);
    await client.unlink(rig.harness.keys.lagging);
    expect(await rig.woken()).toEqual([id]);
    await client.zremrangebyscore(rig.harness.keys.lagging, '-inf', '+inf');
    await client.zadd(rig.harness.keys.lagging, -1, '+another look');
    expect(await rig.woken()).toEqual([id]);
  });

  test('reads no subscription at rest, and of those that pause none before the end of the pause', async () => {
    await using receiver = await startReceiver(() => ({ status: 429, headers: { 'retry-after': '600' } }));
    await using rig = await watchedHarness();
    const { harness, woken } = rig;
    const paused = await Promise.all(Array.from({ length: 5 }, () => harness.subscribe(receiver.url)));
    const healthy = await Promise.all(Array.from({ length: 20 }, () => rig.subscribe()));
    await harness.append('a');
    for (const id of [...paused, ...healthy]) await harness.drain(id);
    expect(await woken()).toEqual([]);
    // A retry that is due, and the end of a pause, as no part of the daemon writes them: only a look that reads
    // these states finds them.
    for (const id of healthy) await client.hset(harness.keys.subscription(id).state, 'nextAttemptAt', 1);
    for (const id of paused) await client.hset(harness.keys.subscription(id).state, 'pausedUntil', 0);
    expect(await woken()).toEqual([]);
    await harness.append('b');
    // The paused ones are left out although there is something new.
    expect((await woken())?.toSorted()).toEqual(healthy.toSorted());
  });

  test('leaves nothing of an account whose subscriptions are gone', async () => {
    await using rig = await watchedHarness();
    const id = await rig.subscribe();
    await rig.harness.append('a');
    await rig.woken();
    expect(await client.exists(rig.harness.keys.lagging)).toBe(1);
    await rig.harness.subscriptions.remove(rig.harness.account, id);
    expect(await rig.woken()).toEqual([]);
    expect(await client.exists(rig.harness.keys.lagging)).toBe(0);
  });
});
