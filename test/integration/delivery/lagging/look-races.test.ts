import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLatch, startReceiver } from '../../../support/receivers/receiver.ts';
import { rememberKeys } from '../../../support/redis/set-back.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, startReplay } from '../drain-harness.ts';
import { unasked, watchLooks } from './watched-looks.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const nowhere = 'http://127.0.0.1:1/';

describe('while a look judges the new events', () => {
  test('a change of the settings keeps the cursor where it is, and the new ones hold', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const { woken, wokenWhile, placeOf, head } = watchLooks(harness);
    const [id, other] = [
      await harness.subscribe(receiver.url, unasked),
      await harness.subscribe(receiver.url, unasked),
    ];
    await harness.append('a');
    expect(
      await wokenWhile({ beforeRead: () => harness.change(id, { eventTypes: ['filing.pending'] }) }),
    ).toEqual([id]);
    expect(await placeOf(other)).toEqual(await head());
    await harness.drain(id);
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['a']);
    expect(await woken()).toEqual([]);
  });

  test('an event that is recorded after a change of the settings was answered is not passed over', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const { woken, wokenWhile, placeOf } = watchLooks(harness);
    const [id, other] = [
      await harness.subscribe(receiver.url, unasked),
      await harness.subscribe(receiver.url, unasked),
    ];
    await harness.append('a');
    const afterRead = async () => {
      await harness.change(id, { eventTypes: ['filing.pending'] });
      await harness.append('b');
    };
    await wokenWhile({ afterRead });
    expect(await placeOf(other)).toMatchObject({ position: 1 });
    expect(await woken()).toEqual([id]);
    await harness.drain(id);
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['a', 'b']);
    expect(await placeOf(other)).toMatchObject({ position: 2 });
  });

  test('what comes to wait, and an end, keep the cursor where it is', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const { woken, wokenWhile, placeOf, appendPaid } = watchLooks(harness);
    const subscribe = () => harness.subscribe(receiver.url, { eventTypes: ['filing.paid'] });
    const [replayed, ended, lately] = [await subscribe(), await subscribe(), await subscribe()];
    await appendPaid('p');
    for (const id of [replayed, ended, lately]) await harness.drain(id);
    await harness.append('a');
    const beforeRead = async () => {
      await startReplay(harness, replayed);
      // As drains do it, without a new version of the settings.
      await harness.redis.hset(harness.keys.subscription(ended).state, 'enabled', 0);
      await harness.redis.hset(harness.keys.subscription(lately).state, 'parked', 1);
    };
    expect((await wokenWhile({ beforeRead }))?.toSorted()).toEqual([replayed, lately].toSorted());
    for (const id of [replayed, ended, lately]) expect(await placeOf(id)).toMatchObject({ position: 1 });
    for (const id of [replayed, lately]) await harness.drain(id);
    expect(await woken()).toEqual([]);
  });

  test('a cursor that is moved by others stays where they have moved it', async () => {
    await using harness = await createHarness(redis);
    const { wokenWhile, placeOf, head } = watchLooks(harness);
    const subscribe = () => harness.subscribe(nowhere, unasked);
    const ids = [await subscribe(), await subscribe(), await subscribe()];
    const { timeline: ofBefore } = await placeOf(ids[0] ?? '');
    await harness.append('a', 'b');
    const { timeline } = await head();
    const places = [
      { cursor: 1, timeline: '' },
      { cursor: 0, timeline },
      { cursor: 1, timeline: ofBefore },
    ];
    const beforeRead = () =>
      Promise.all(
        ids.map((id, i) => harness.redis.hset(harness.keys.subscription(id).state, places[i] ?? {})),
      );
    expect((await wokenWhile({ beforeRead }))?.toSorted()).toEqual(ids.toSorted());
    for (const [i, id] of ids.entries()) expect(await harness.state(id)).toMatchObject(places[i] ?? {});
  });

  test('a subscription that is removed leaves nothing', async () => {
    await using harness = await createHarness(redis);
    const { wokenWhile } = watchLooks(harness);
    const id = await harness.subscribe(nowhere, unasked);
    await harness.append('a');
    await wokenWhile({ beforeRead: () => harness.subscriptions.remove(harness.account, id) });
    expect(await harness.redis.exists(harness.keys.subscription(id).state)).toBe(0);
  });

  test.each(['beforeRead', 'afterRead'] as const)(
    'Redis is set back, %s: the cursor stays, and what takes the place of lost events is delivered',
    async (when) => {
      await using receiver = await startReceiver();
      await using harness = await createHarness(redis);
      const { wokenWhile, placeOf, appendPaid } = watchLooks(harness);
      const id = await harness.subscribe(receiver.url, { eventTypes: ['filing.paid'] });
      await harness.append('a');
      const before = await placeOf(id);
      const setBack = await rememberKeys(harness.redis, harness.keys.base);
      await harness.append('b', 'c');
      const meanwhile = async () => {
        await setBack();
        await appendPaid('p');
        await harness.append('d');
      };
      expect(await wokenWhile({ [when]: meanwhile })).toEqual([id]);
      expect(await placeOf(id)).toEqual(before);
      await harness.drain(id);
      expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['p']);
    },
  );

  test('entries are not believed that Redis had for a moment only', async () => {
    await using harness = await createHarness(redis);
    const { wokenWhile, placeOf, appendPaid } = watchLooks(harness);
    const id = await harness.subscribe(nowhere, { eventTypes: ['filing.paid'] });
    await harness.append('a');
    const before = await placeOf(id);
    const setBack = await rememberKeys(harness.redis, harness.keys.base);
    await appendPaid('p');
    await harness.append('b');
    const setForward = await rememberKeys(harness.redis, harness.keys.base);
    const beforeRead = async () => {
      await setBack();
      await harness.append('x', 'y');
    };
    expect(await wokenWhile({ beforeRead, afterRead: setForward })).toEqual([id]);
    expect(await placeOf(id)).toEqual(before);
  });

  test('a cursor of a log that Redis has lost is brought back by its drain', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const { woken, appendPaid } = watchLooks(harness);
    const id = await harness.subscribe(receiver.url, { eventTypes: ['filing.paid'] });
    const { head, events, bodies, filingEvents } = harness.keys;
    await harness.append('a', 'b');
    expect(await woken()).toEqual([]);
    // The log alone, as after a file that was cut.
    await harness.redis.unlink(head, events, bodies, filingEvents);
    await appendPaid('p');
    await harness.append('c', 'd');
    expect(await woken()).toEqual([id]);
    await harness.drain(id);
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['p']);
  });
});

describe('a drain under way', () => {
  test('keeps its events, also where the settings that hold now ask for none of them', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async ({ filingId, attempt }) => {
      if (filingId === 'held' && attempt === 1) await latch.opened;
      return filingId === 'held' && attempt === 1 ? 500 : 200;
    });
    await using harness = await createHarness(redis, { retryMs: [40, 40] });
    const { woken, placeOf, head, appendPaid } = watchLooks(harness);
    const id = await harness.subscribe(receiver.url, { eventTypes: ['filing.paid'] });
    await appendPaid('held');
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(1));
    await harness.append('a');
    expect(await woken()).toEqual([id]);

    await harness.change(id, unasked);
    // The drain has not written anything yet, so that nothing seems to wait.
    await woken();
    await harness.change(id, { eventTypes: ['filing.paid'] });
    await appendPaid('p');
    latch.open();
    await drained;
    await vi.waitFor(async () => {
      await harness.drain(id);
      expect(await placeOf(id)).toEqual(await head());
      expect(await harness.state(id)).toMatchObject({ parked: 0, done: '' });
    });
    expect(receiver.accepted.map(({ filingId }) => filingId).toSorted()).toEqual(['held', 'p']);
  });

  test('that has begun before the cursor moves writes its own', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const { wokenWhile, placeOf, head, appendPaid } = watchLooks(harness);
    const id = await harness.subscribe(receiver.url, { eventTypes: ['filing.paid'] });
    await harness.append('a');
    const { claim } = harness.delivery;
    const latch = createLatch();
    vi.spyOn(harness.delivery, 'claim').mockImplementationOnce(async (...args) => {
      const claimed = await claim(...args);
      await latch.opened;
      return claimed;
    });
    let drained: Promise<unknown> = Promise.resolve();
    const afterRead = async () => {
      drained = harness.drain(id);
      await vi.waitFor(async () => expect((await harness.state(id)).epoch).not.toBe(''));
    };
    expect(await wokenWhile({ afterRead })).toEqual([]);
    await appendPaid('p');
    latch.open();
    await drained;
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['p']);
    expect(await placeOf(id)).toEqual(await head());
  });

  test.each(['before the drain writes', 'after'] as const)(
    'does not judge by later settings what a look has passed over (settings that change %s)',
    async (when) => {
      await using receiver = await startReceiver();
      await using harness = await createHarness(redis, { maxInFlight: 1 });
      const { woken, placeOf, head } = watchLooks(harness);
      const id = await harness.subscribe(receiver.url, unasked);
      // One more than a claim reads.
      await harness.append('a', 'b', 'c', 'd', 'e');
      const { readAfter } = harness.log;
      async function passOver(...filings: readonly string[]): Promise<void> {
        await harness.append(...filings);
        expect(await woken()).toEqual([]);
        expect(await placeOf(id)).toEqual(await head());
      }
      async function ask(): Promise<void> {
        await harness.change(id, { eventTypes: ['filing.pending'] });
        await harness.append('wanted');
      }
      const reading = vi.spyOn(harness.log, 'readAfter').mockImplementationOnce(async (...args) => {
        const read = when === 'after' ? await readAfter(...args) : null;
        await passOver('passed');
        if (when !== 'after') await ask();
        return read ?? readAfter(...args);
      });
      if (when === 'after')
        reading.mockImplementationOnce(async (...args) => {
          await ask();
          return readAfter(...args);
        });
      await harness.drain(id);
      expect(receiver.received.map(({ filingId }) => filingId)).toEqual(['wanted']);
      expect(await placeOf(id)).toEqual(await head());
    },
  );

  test('ends, although it finds again and again what a look has passed over and cannot read it yet', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, unasked);
    await harness.append('a');
    const known = await harness.log.head(harness.account);
    const { claim, settle } = harness.delivery;
    // As while its endpoint pauses: the log has more, and the drain does not read it.
    const settling = vi.spyOn(harness.delivery, 'settle').mockImplementation(async (...args) => {
      const result = await settle(...args);
      return result.kind === 'settled' ? { ...result, head: known, passed: known.position + 1 } : result;
    });
    await harness.append('passed');
    vi.spyOn(harness.delivery, 'claim').mockImplementationOnce(async (...args) => {
      const claimed = await claim(...args);
      return claimed === null
        ? null
        : { ...claimed, head: known, read: { entries: claimed.read.entries.slice(0, 1), more: false } };
    });
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    expect(settling.mock.calls.length).toBeLessThan(5);
  });
});
