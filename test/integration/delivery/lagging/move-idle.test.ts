import { afterAll, describe, expect, test, vi } from 'vitest';
import type { DeliveryState } from '../../../../src/subscriptions/subscription.ts';
import { appendScript, paidEvent } from '../../../support/redis/append-script.ts';
import { startPrivateRedis } from '../../../support/redis/test-redis.ts';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { rowsRead } from '../../../support/redis/rows-read.ts';
import { shareOf, testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, startReplay, type Harness } from '../drain-harness.ts';
import { unasked, watchLooks } from './watched-looks.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const nowhere = 'http://127.0.0.1:1/';

describe('a look at subscriptions for which nothing waits', () => {
  test('moves the cursors of those that want none of the new events, and wakes those that want one', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const { woken, placeOf, head, appendPaid } = watchLooks(harness);
    const asked = await harness.subscribe(receiver.url, { eventTypes: ['filing.paid'] });
    const early = await harness.subscribe(receiver.url, unasked);
    await harness.append('a');
    const late = await harness.subscribe(receiver.url, { states: ['CA'] });
    await harness.append('b', 'c');
    await appendPaid('p');
    const past = await harness.subscribe(receiver.url, { eventTypes: ['filing.paid'] });
    await harness.append('d');
    // Of an event without a state, the one for California has to be asked.
    expect((await woken())?.toSorted()).toEqual([asked, late].toSorted());
    expect(await placeOf(early)).toEqual(await head());
    expect(await placeOf(past)).toEqual(await head());
    await harness.drain(asked);
    await harness.drain(late);
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['p', 'p']);
    expect(await woken()).toEqual([]);

    await harness.append('e');
    expect(await woken()).toEqual([]);
    for (const id of [asked, early, late]) expect(await placeOf(id)).toEqual(await head());
    await harness.change(early, { eventTypes: ['filing.pending'] });
    await harness.append('f');
    expect(await woken()).toEqual([early]);
    await harness.drain(early);
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['p', 'p', 'f']);
  });

  test('leaves to a drain what a content filter has to judge, and nothing else', async () => {
    await using harness = await createHarness(redis);
    const { woken, placeOf, head } = watchLooks(harness);
    const filter = 'data.status == "REJECTED"';
    const judged = await harness.subscribe(nowhere, { filter });
    const before = await harness.state(judged);
    const passed = await harness.subscribe(nowhere, { filter, ...unasked });
    await harness.append('a');
    expect(await woken()).toEqual([judged]);
    expect(await harness.state(judged)).toEqual(before);
    expect(await placeOf(passed)).toEqual(await head());
  });

  test('keeps the lag, the replays and the deliveries of an event true', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const { woken, appendPaid } = watchLooks(harness);
    const id = await harness.subscribe(receiver.url, { eventTypes: ['filing.paid'] });
    await appendPaid('p');
    await harness.drain(id);
    const drained = await harness.state(id);
    await harness.append('a', 'b');
    expect(await woken()).toEqual([]);
    expect(await harness.state(id)).toEqual({
      ...drained,
      cursor: 3,
      timeline: (await harness.log.head(harness.account)).timeline,
    });
    expect(await startReplay(harness, id)).toMatchObject({ matched: 1 });
    await harness.drain(id);
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['p', 'p']);
  });

  test.each<[string, Partial<Record<keyof DeliveryState, string | number>>]>([
    ['a retry', { parked: 1, nextAttemptAt: Date.now() + 60_000 }],
    ['events beyond the cursor', { done: '2-2' }],
    ['a pause', { pausedUntil: Date.now() + 60_000 }],
    ['a release', { release: 1 }],
    ['a replay', { replaying: 1 }],
    ['a write by a clock that was ahead', { settledAt: Date.now() + 3_600_000 }],
    ['a block', { blocked: JSON.stringify({ reason: 'r', since: 1, times: 1, nextAt: 1 }) }],
    ['an end', { enabled: 0 }],
    ['a cursor that is none', { cursor: '0x1' }],
    ['a timeline that is not known', { timeline: '' }],
    ['a cursor beyond the head', { cursor: 99 }],
  ])('moves none with %s', async (_name, fields) => {
    await using harness = await createHarness(redis);
    const { woken } = watchLooks(harness);
    const [id, idle] = [await harness.subscribe(nowhere, unasked), await harness.subscribe(nowhere, unasked)];
    await harness.append('a');
    await woken();
    expect(await harness.state(idle)).toMatchObject({ cursor: 1 });
    const { state } = harness.keys.subscription(id);
    await harness.redis.hset(state, fields);
    const before = await harness.redis.hgetall(state);
    await harness.append('b', 'c');
    await woken();
    expect(await harness.redis.hgetall(state)).toEqual(before);
    expect(await harness.state(idle)).toMatchObject({ cursor: 3 });
  });

  test('moves none whose settings cannot be read', async () => {
    await using harness = await createHarness(redis);
    const { woken } = watchLooks(harness);
    const [id, other] = [
      await harness.subscribe(nowhere, unasked),
      await harness.subscribe(nowhere, unasked),
    ];
    await harness.redis.hset(harness.keys.subscriptions, id, '{');
    await harness.append('a');
    expect(await woken()).toEqual([id]);
    expect(await harness.redis.hget(harness.keys.subscription(id).state, 'cursor')).toBe('0');
    expect(await harness.state(other)).toMatchObject({ cursor: 1 });
    expect(await harness.waker.keepAwake(harness.account)).toBe(false);
  });

  test('moves none over a gap in the log', async () => {
    await using harness = await createHarness(redis);
    const { woken } = watchLooks(harness);
    const id = await harness.subscribe(nowhere, unasked);
    await harness.append('a', 'b', 'c');
    await harness.redis.xdel(harness.keys.events, '2-0');
    expect(await woken()).toEqual([id]);
    expect(await harness.state(id)).toMatchObject({ cursor: 0 });
  });

  test('moves none whose next events are gone or too many to be read, and a drain gets on with them', async () => {
    await using harness = await createHarness(redis);
    const { woken, placeOf, head } = watchLooks(harness);
    const far = await harness.subscribe(nowhere, unasked);
    const events = Array.from({ length: 2_001 }, (_, i) => paidEvent(`f${i}`));
    const { keys } = harness;
    const values = events.flatMap(({ id, type, filingId, state, status, body }) => [
      id,
      type,
      filingId,
      state,
      status,
      Date.now(),
      body,
    ]);
    await appendScript.run(
      harness.redis,
      [keys.head, keys.events, keys.bodies, keys.filingEvents],
      values.slice(0, 7),
    );
    const near = await harness.subscribe(nowhere, unasked);
    for (let from = 7; from < values.length; from += 700)
      await appendScript.run(
        harness.redis,
        [keys.head, keys.events, keys.bodies, keys.filingEvents],
        values.slice(from, from + 700),
      );
    expect(await woken()).toEqual([far]);
    expect(await placeOf(near)).toEqual(await head());
    await vi.waitFor(async () => {
      await harness.drain(far);
      expect(await placeOf(far)).toEqual(await head());
    });

    const behind = await harness.subscribe(nowhere, unasked);
    await harness.append('a', 'b');
    await harness.redis.xtrim(harness.keys.events, 'MINID', '2003-0');
    const later = await harness.subscribe(nowhere, unasked);
    await harness.append('c');
    expect((await woken())?.toSorted()).toEqual([far, near, behind].toSorted());
    expect(await placeOf(later)).toEqual(await head());
    await harness.drain(behind);
    expect(harness.expired).toEqual([1]);
  });
});

test('a look costs Redis three commands for each subscription that wants nothing, and a few for hundreds', async () => {
  // Commands of other files would count.
  await using stack = new AsyncDisposableStack();
  const on = shareOf(stack.use(await startPrivateRedis()).url);
  stack.defer(on.cleanup);
  const costs = [];
  for (const count of [200, 400]) {
    await using harness = await createHarness(on);
    const { woken } = watchLooks(harness);
    for (let i = 0; i < count; i += 1) await harness.subscribe(nowhere, unasked);
    for (let round = 0; round < 2; round += 1) {
      await harness.append('a', 'b', 'c', 'd');
      // The scripts are known to Redis by then.
      if (round === 0) await woken();
    }
    const client = on.connect();
    const scripts = await calls(client, 'evalsha');
    const { commands, result } = await rowsRead(client, woken);
    expect(result).toEqual([]);
    costs.push({ commands: commands - 3 * count, scripts: (await calls(client, 'evalsha')) - scripts });
  }
  expect(costs[0]).toEqual(costs[1]);
  expect(costs[0]?.scripts).toBeLessThan(8);
  expect(costs[0]?.commands).toBeLessThan(30);
});

async function calls(client: Pick<Harness['redis'], 'info'>, command: string): Promise<number> {
  const stats = await client.info('commandstats');
  return Number(new RegExp(String.raw`cmdstat_${command}:calls=(\d+)`).exec(stats)?.[1] ?? 0);
}
