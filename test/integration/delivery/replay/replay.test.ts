import { afterAll, describe, expect, test, vi } from 'vitest';
import type { ReplayRequest } from '../../../../src/delivery/replay/replay.ts';
import { ReplayRefusedError } from '../../../../src/delivery/replay/replay.ts';
import { createLatch, startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, everything, startReplay, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const hourMs = 3_600_000;
const times = (count: number, name: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => name(i));
function progress(harness: Harness, id: string, replay: { id: string }) {
  return harness.replayer.progress(harness.account, id, replay.id);
}

describe('a replay', () => {
  test('delivers everything in the log once more, in order per filing, under the same ids and bytes', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    const filings = times(120, (i) => `f${i % 30}`);
    await harness.append(...filings);
    await harness.drain(id);
    const replay = await startReplay(harness, id);
    expect(replay.matched).toBe(120);
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'running', delivered: 0 });
    await harness.drain(id);
    expect(await progress(harness, id, replay)).toMatchObject({
      id: replay.id,
      state: 'finished',
      matched: 120,
      delivered: 120,
      failed: 0,
    });
    expect(receiver.received).toHaveLength(240);
    const bodies = new Map(receiver.received.slice(0, 120).map((callback) => [callback.id, callback.raw]));
    for (const again of receiver.received.slice(120)) expect(again.raw).toBe(bodies.get(again.id));
    const order = receiver.received.slice(120).filter(({ filingId }) => filingId === 'f3');
    expect(order.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    expect(receiver.overlapping).toEqual([]);
    expect(await harness.state(id)).toMatchObject({ cursor: 120, parked: 0, replaying: 0 });
    const { items } = await harness.journal.list(harness.account, id, 'attempts', null, 1);
    expect(items[0]).toMatchObject({ attempt: 1, replay: replay.id });
  });

  test('takes what was settled behind a callback that hangs, and not what waits', async () => {
    const answered = createLatch();
    await using receiver = await startReceiver(async ({ filingId }) => {
      if (filingId === 'a') await answered.opened;
      return 200;
    });
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b', 'a', 'c');
    const drained = harness.drain(id);
    await vi.waitFor(async () => expect(await harness.state(id)).toMatchObject({ cursor: 0, done: '2,4' }));
    const ids = (await harness.log.outlineAt(harness.account, [2, 3])).flatMap((entry) => entry?.id ?? []);
    const countOf = (narrowed: Partial<ReplayRequest>) =>
      harness.replayer.count(harness.account, id, { ...everything, ...narrowed });
    expect(await countOf({ eventIds: ids })).toBe(1);
    expect(await countOf({ filingId: 'a' })).toBe(0);
    expect(await countOf({ filingId: 'b' })).toBe(1);
    expect(await startReplay(harness, id)).toMatchObject({ matched: 2 });
    const got = () => receiver.accepted.map(({ filingId, sequence }) => `${filingId}${sequence}`);
    await vi.waitFor(() => expect(got().toSorted()).toEqual(['b1', 'b1', 'c1', 'c1']));
    answered.open();
    await drained;
    expect(got().slice(4)).toEqual(['a1', 'a2']);
    expect(await harness.state(id)).toMatchObject({ cursor: 4, done: '', replaying: 0 });
  });

  test('counts the events of a very long log one by one only so far, and still delivers only what matches', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { countMax: 1 });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...times(1_100, (i) => `f${i % 100}`), 'last');
    await harness.drain(id);
    const from = receiver.accepted.length;
    const replay = await startReplay(harness, id, { eventTypes: ['filing.rejected'] });
    expect(replay.matched).toBe(1_101 - 200);
    await harness.drain(id);
    expect(receiver.accepted).toHaveLength(from);
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 0 });
  });

  test('is narrowed by time, types and filing, and by what the subscription itself asks for', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b');
    await new Promise((resolve) => setTimeout(resolve, 5));
    const after = Date.now();
    await harness.append('a', 'c');
    await new Promise((resolve) => setTimeout(resolve, 5));
    const before = Date.now();
    await harness.append('a');
    await harness.drain(id);
    const again = async (request: Partial<ReplayRequest>) => {
      const from = receiver.accepted.length;
      const { matched } = await startReplay(harness, id, request);
      await harness.drain(id);
      const seen = receiver.accepted.slice(from).map(({ filingId, sequence }) => `${filingId}${sequence}`);
      expect(seen).toHaveLength(matched);
      return seen.toSorted();
    };
    expect(await again({ after })).toEqual(['a2', 'a3', 'c1']);
    expect(await again({ before })).toEqual(['a1', 'a2', 'b1', 'c1']);
    expect(await again({ after, before })).toEqual(['a2', 'c1']);
    expect(await again({ filingId: 'a' })).toEqual(['a1', 'a2', 'a3']);
    expect(await again({ filingId: 'a', before })).toEqual(['a1', 'a2']);
    expect(await again({ filingId: 'nobody' })).toEqual([]);
    expect(await again({ eventTypes: ['filing.*'], after: before })).toEqual(['a3']);
    expect(await again({ after: Date.now() + 60_000 })).toEqual([]);
    expect(await again({ before: after - 60_000 })).toEqual([]);
    expect(await again({ eventTypes: ['filing.rejected'] })).toEqual([]);
    await harness.change(id, { eventTypes: ['filing.rejected'] });
    expect(await again({})).toEqual([]);
  });

  test('that matches nothing is finished at once', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    const replay = await startReplay(harness, id);
    expect(replay.matched).toBe(0);
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 0, failed: 0 });
    expect((await harness.state(id)).replaying).toBe(0);
  });

  test('leaves alone what is still on its way to the subscription', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId === 'poison' ? 500 : 200));
    await using harness = await createHarness(redis, { retryMs: [3_600_000] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'poison', 'poison');
    await harness.drain(id);
    await harness.append('b');
    const replay = await startReplay(harness, id);
    await harness.drain(id);
    expect(receiver.accepted.map(({ filingId }) => filingId).toSorted()).toEqual(['a', 'a', 'b']);
    expect(receiver.received.filter(({ filingId }) => filingId === 'poison')).toHaveLength(1);
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 1, failed: 0 });
    expect((await harness.state(id)).parked).toBe(2);
  });

  test('asked for twice while it runs is one; asked for again when it is finished is another', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b');
    await harness.drain(id);
    const both = await Promise.all([startReplay(harness, id), startReplay(harness, id)]);
    expect(both[0]).toEqual(both[1]);
    const other = await startReplay(harness, id, { filingId: 'a' });
    expect(other.id).not.toBe(both[0]?.id);
    await harness.drain(id);
    expect(receiver.accepted).toHaveLength(2 + 2 + 1);
    expect((await startReplay(harness, id)).id).not.toBe(both[0]?.id);
  });

  test('goes behind live events and never takes all places', async () => {
    const latch = createLatch();
    let replaying = false;
    await using receiver = await startReceiver(async ({ attempt }) => {
      if (replaying && attempt > 1) await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis, { maxInFlight: 4 });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...times(20, (i) => `f${i}`));
    await harness.drain(id);
    replaying = true;
    const replay = await startReplay(harness, id);
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(2));
    await harness.append(...times(10, (i) => `new${i}`));
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(30), 5_000);
    expect(receiver.inFlight()).toBe(2);
    latch.open();
    await drained;
    expect(receiver.accepted).toHaveLength(50);
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 20 });
  });

  test('leaves the only place to a live event that has come meanwhile', async () => {
    const latch = createLatch();
    let replayed = false;
    await using receiver = await startReceiver(async () => {
      if (replayed) await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis, { maxInFlight: 1 });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...times(5, (i) => `f${i}`));
    await harness.drain(id);
    replayed = true;
    await startReplay(harness, id);
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(1));
    await harness.append('live');
    latch.open();
    await drained;
    // One more that is replayed may start while the live one is read.
    expect(receiver.accepted.map(({ filingId }) => filingId).indexOf('live')).toBeLessThanOrEqual(7);
    expect(receiver.accepted).toHaveLength(11);
  });

  test('never has a filing in flight together with a live event of it', async () => {
    await using receiver = await startReceiver(async () => {
      await new Promise((resolve) => setTimeout(resolve, 3));
      return 200;
    });
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    harness.startWorker();
    await harness.publish(...times(60, (i) => `f${i % 3}`));
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(60), 10_000);
    const replay = await startReplay(harness, id);
    for (const filing of times(60, (i) => `f${i % 3}`)) await harness.publish(filing);
    await vi.waitFor(
      async () => expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished' }),
      10_000,
    );
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(180), 10_000);
    expect(receiver.overlapping).toEqual([]);
    const live = receiver.accepted.filter(({ filingId, attempt }) => filingId === 'f1' && attempt === 1);
    expect(live.map(({ sequence }) => sequence)).toEqual(times(40, (i) => String(i + 1)).map(Number));
  });

  test('retries by the schedule and counts what it gives up, without a second dead letter', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { retryMs: [10, 10] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'poison', 'b', 'poison');
    await harness.drain(id);
    receiver.answer(({ filingId, attempt }) => (filingId === 'poison' || attempt === 2 ? 500 : 200));
    const replay = await startReplay(harness, id);
    await vi.waitFor(async () => {
      await harness.drain(id);
      expect(await progress(harness, id, replay)).toMatchObject({
        state: 'finished',
        delivered: 2,
        failed: 2,
      });
    }, 5_000);
    expect((await harness.journal.list(harness.account, id, 'dead', null, 10)).items).toEqual([]);
    expect(
      receiver.accepted
        .slice(4)
        .map(({ filingId }) => filingId)
        .toSorted(),
    ).toEqual(['a', 'b']);
  });

  test('goes on where it was after a crash, repeating at most what was in flight', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { maxInFlight: 4 });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...times(60, (i) => `f${i}`));
    await harness.drain(id);
    const replay = await startReplay(harness, id);
    const settle = harness.stores.deliveries.settle.bind(harness.stores.deliveries);
    let writes = 0;
    const failing = vi.spyOn(harness.stores.deliveries, 'settle').mockImplementation((...args) => {
      writes += 1;
      return writes > 8 ? Promise.reject(new Error('killed')) : settle(...args);
    });
    await expect(harness.drain(id)).rejects.toThrow('killed');
    failing.mockRestore();
    const before = await progress(harness, id, replay);
    expect(before?.state).toBe('running');
    expect(before?.delivered).toBeGreaterThan(0);
    await harness.drain(id);
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 60 });
    expect(receiver.received.length).toBeLessThanOrEqual(60 + 60 + 2);
  });

  test('waits while the subscription is disabled and goes on when it is enabled', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a');
    await harness.drain(id);
    await harness.change(id, {}, { enabled: false });
    const replay = await startReplay(harness, id);
    await harness.drain(id);
    expect(receiver.accepted).toHaveLength(1);
    await harness.change(id, {}, { enabled: true, release: true });
    await harness.drain(id);
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 1 });
  });

  test('passes over what retention took meanwhile', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append(...times(100, (i) => `f${i}`));
    await harness.drain(id);
    const range = await startReplay(harness, id);
    const filing = await startReplay(harness, id, { filingId: 'f10' });
    await harness.stored.dropEventsBelow(51);
    await harness.drain(id);
    expect(await progress(harness, id, range)).toMatchObject({
      state: 'finished',
      matched: 100,
      delivered: 50,
    });
    expect(await progress(harness, id, filing)).toMatchObject({
      state: 'finished',
      matched: 1,
      delivered: 0,
    });
  });

  test('is chosen anew when Redis is set back while it is chosen', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('kept');
    await harness.drain(id);
    const setBack = await harness.stored.remember();
    await harness.append('asked', 'other');
    await harness.drain(id);
    const { outlineAt } = harness.log;
    const spy = vi.spyOn(harness.log, 'outlineAt').mockImplementationOnce(async (...args) => {
      const chosen = await outlineAt(...args);
      await setBack();
      await harness.append('taken', 'asked');
      return chosen;
    });
    const replay = await startReplay(harness, id, { filingId: 'asked' });
    spy.mockRestore();
    await harness.drain(id);
    // It was on its way to the subscription when it was chosen at last.
    expect(await progress(harness, id, replay)).toMatchObject({ matched: 0, state: 'finished' });
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual([
      'kept',
      'asked',
      'other',
      'taken',
      'asked',
    ]);
  });

  test('is refused for a subscription that is gone, and when too many wait', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append(...times(51, (i) => `f${i}`));
    await harness.drain(id);
    for (const filingId of times(50, (i) => `f${i}`)) await startReplay(harness, id, { filingId });
    await expect(startReplay(harness, id)).rejects.toThrow(ReplayRefusedError);
    expect((await startReplay(harness, id, { filingId: 'f7' })).matched).toBe(1);
    await expect(startReplay(harness, 'sub_unknown')).rejects.toMatchObject({ reason: 'no_subscription' });
    await harness.drain(id);
    expect(receiver.accepted).toHaveLength(51 + 50);
    const next = await startReplay(harness, id, { filingId: 'f50' });
    expect(await progress(harness, id, next)).toMatchObject({ state: 'running' });
    expect(await progress(harness, id, { id: 'rpl_unknown' })).toBeNull();
  });

  test('is one of fifty unfinished ones at most, however many are begun at once', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append(...times(60, (i) => `f${i}`));
    await harness.drain(id);
    const begun = await Promise.allSettled(
      times(60, (i) => `f${i}`).map((filingId) => startReplay(harness, id, { filingId })),
    );
    expect(begun.filter(({ status }) => status === 'fulfilled')).toHaveLength(50);
  });

  test('goes with the subscription', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a');
    await harness.drain(id);
    const replay = await startReplay(harness, id);
    await harness.subscriptions.remove(harness.account, id);
    expect(await progress(harness, id, replay)).toBeNull();
    expect(await harness.stored.of(id).keys()).toEqual([]);
  });
});

describe('a replay of dead letters', () => {
  test('delivers them again, and those delivered leave the list', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId.startsWith('dead') ? 500 : 200));
    await using harness = await createHarness(redis, { retryMs: [1] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'dead1', 'b', 'dead2');
    await vi.waitFor(async () => {
      await harness.drain(id);
      expect((await harness.journal.list(harness.account, id, 'dead', null, 10)).items).toHaveLength(2);
    });
    receiver.answer(({ filingId }) => (filingId === 'dead2' ? 500 : 200));
    const from = receiver.accepted.length;
    const replay = await startReplay(harness, id, { deadLettersOnly: true });
    expect(replay.matched).toBe(2);
    await vi.waitFor(async () => {
      await harness.drain(id);
      expect(await progress(harness, id, replay)).toMatchObject({
        state: 'finished',
        delivered: 1,
        failed: 1,
      });
    });
    expect(receiver.accepted.slice(from).map(({ filingId }) => filingId)).toEqual(['dead1']);
    const { items } = await harness.journal.list(harness.account, id, 'dead', null, 10);
    expect(items.map(({ filingId }) => filingId)).toEqual(['dead2']);
    const other = await startReplay(harness, id, { deadLettersOnly: true, filingId: 'dead1' });
    expect(other.matched).toBe(0);
  });

  test.each([
    { of: 'a range', request: () => ({}) },
    { of: 'a filing', request: () => ({ filingId: 'dead' }) },
    { of: 'events', request: (eventIds: readonly string[]) => ({ eventIds }) },
  ])('is also one of $of that has some among it: those delivered leave the list', async ({ request }) => {
    await using receiver = await startReceiver(({ filingId }) => (filingId.startsWith('dead') ? 500 : 200));
    await using harness = await createHarness(redis, { retryMs: [1] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'dead', 'b', 'dead', 'dead2');
    const letters = async () => {
      await harness.drain(id);
      const { items } = await harness.journal.list(harness.account, id, 'dead', null, 10);
      return items.map(({ filingId, position }) => `${filingId} ${position}`).toSorted();
    };
    await expect.poll(letters).toEqual(['dead 2', 'dead 4', 'dead2 5']);
    receiver.answer(({ filingId }) => (filingId === 'dead2' ? 500 : 200));
    const entries = await harness.log.outlineAt(harness.account, [1, 2, 4, 5]);
    const replay = await startReplay(harness, id, request(entries.flatMap((entry) => entry?.id ?? [])));
    await expect.poll(letters).toEqual(['dead2 5']);
    await expect
      .poll(async () => {
        await harness.drain(id);
        return progress(harness, id, replay);
      })
      .toMatchObject({ state: 'finished' });
    expect(await letters()).toEqual(['dead2 5']);
  });

  test.each([
    { delivered: 'at once', attempts: 3, left: 0 },
    { delivered: 'by another process after a retry', attempts: 4, left: 1 },
  ])('is also one of an event that was given up after it was begun, if delivered $delivered', async (of) => {
    await using receiver = await startReceiver(({ filingId, attempt }) =>
      filingId === 'dead' && attempt < of.attempts ? 422 : 200,
    );
    let clock = Date.now();
    await using harness = await createHarness(redis, {
      retryMs: [hourMs],
      maxInFlight: 1,
      now: () => clock,
    });
    const id = await harness.subscribe(receiver.url);
    // The replay has no room for its last event before it has sent others.
    await harness.append(...times(20, (i) => `f${i}`), 'dead');
    await harness.drain(id);
    const replay = await startReplay(harness, id);
    const letters = vi.spyOn(harness.journal, 'list');
    clock += hourMs;
    await harness.drain(id);
    expect(harness.reports.filter(({ deadLetter }) => deadLetter)).toHaveLength(1);
    // It looks for them when it begins and when it reads on, not for each event.
    expect(letters.mock.calls.length).toBeLessThan(10);
    expect(await harness.stored.of(id).deadLetters()).toBe(of.left);
    clock += hourMs;
    await harness.drain(id);
    expect(receiver.received.filter(({ filingId }) => filingId === 'dead')).toHaveLength(of.attempts);
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 21 });
    expect(await harness.stored.of(id).deadLetters()).toBe(0);
  });

  test('counts only those whose event is still in the log', async () => {
    await using receiver = await startReceiver(500);
    await using harness = await createHarness(redis, { retryMs: [1] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('x', 'x', 'x');
    await vi.waitFor(async () => {
      await harness.drain(id);
      expect((await harness.journal.list(harness.account, id, 'dead', null, 10)).items).toHaveLength(3);
    });
    await harness.stored.dropEventsBelow(3);
    expect((await startReplay(harness, id, { deadLettersOnly: true })).matched).toBe(1);
  });
});
