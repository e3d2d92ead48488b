import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLatch, startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

/** Answers the first attempt of what is held once the latch is open, and everything else at once. */
const answering =
  (latch = createLatch()) =>
  async ({ filingId, attempt }: { readonly filingId: string; readonly attempt: number }) => {
    if (filingId === 'held' && attempt === 1) await latch.opened;
    return filingId === 'failing' && attempt === 1 ? 500 : 200;
  };

const heard = (receiver: { readonly accepted: readonly { readonly filingId: string }[] }) =>
  receiver.accepted.map(({ filingId }) => filingId);

async function drainAll(harness: Harness, id: string): Promise<void> {
  await vi.waitFor(async () => {
    await harness.drain(id);
    expect(await harness.state(id)).toMatchObject({
      cursor: (await harness.log.head(harness.account)).position,
      parked: 0,
    });
  }, 10_000);
}

describe('Redis is set back under a run, and no connection is lost', () => {
  test('what takes the positions of lost events is delivered, whatever the run had made of those', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(answering(latch));
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('held', 'a', 'b');
    const drained = harness.drain(id);
    await vi.waitFor(async () => expect(await harness.state(id)).toMatchObject({ done: '2-3' }), 10_000);
    const setBack = await harness.stored.remember();
    await harness.append('c', 'd', 'e');
    await vi.waitFor(async () => expect(await harness.state(id)).toMatchObject({ done: '2-6' }), 10_000);
    await setBack();
    await harness.append('x1', 'x2', 'x3', 'x4');
    latch.open();
    expect((await drained).wakeAt).toBeLessThanOrEqual(Date.now());
    await drainAll(harness, id);
    expect(new Set(heard(receiver))).toEqual(
      new Set(['a', 'b', 'c', 'd', 'e', 'held', 'x1', 'x2', 'x3', 'x4']),
    );
  });

  test('an event whose waiting retry was lost with a settle is not passed over', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(answering(latch));
    await using harness = await createHarness(redis, { retryMs: [60_000] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('failing', 'held');
    let setBack: (() => Promise<void>) | undefined;
    const { deliveries } = harness.stores;
    const { open } = deliveries;
    const spy = vi.spyOn(deliveries, 'open').mockImplementationOnce(async (...args) => {
      const opened = await open(...args);
      setBack = await harness.stored.remember();
      return opened;
    });
    const drained = harness.drain(id);
    await vi.waitFor(async () => expect(await harness.state(id)).toMatchObject({ parked: 1 }), 10_000);
    // The log is as it was; only what the run has written is gone.
    await setBack?.();
    latch.open();
    expect(await drained).toEqual({ wakeAt: null });
    spy.mockRestore();
    await drainAll(harness, id);
    expect(heard(receiver).toSorted()).toEqual(['failing', 'held', 'held']);
  });

  test('events that are read on the other timeline are not taken for the next ones', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async () => {
      await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
    const { deliveries } = harness.stores;
    const { read } = deliveries;
    const settle = vi.spyOn(deliveries, 'settle');
    let setBack: (() => Promise<void>) | undefined = await harness.stored.rememberLog();
    await harness.append(...names('lost', 120));
    vi.spyOn(deliveries, 'read').mockImplementation(async (...args) => {
      // After the first entries, before the rest.
      if (setBack !== undefined && args[2].position > 0) {
        // Nothing more is written before there are answers.
        await vi.waitUntil(() => settle.mock.settledResults.length === 1 && receiver.inFlight() === 10);
        await setBack();
        setBack = undefined;
        await Promise.all(names('found', 130).map((name) => harness.append(name)));
      }
      const answer = await read(...args);
      if (setBack === undefined) latch.open();
      return answer;
    });
    await drainAll(harness, id);
    expect(heard(receiver)).toEqual(expect.arrayContaining(names('found', 130)));
  });
});

test('a subscription that joined at the level keeps its cursor alone, and is brought back with the level', async () => {
  await using receiver = await startReceiver();
  await using other = await startReceiver();
  await using harness = await createHarness(redis);
  const first = await harness.subscribe(other.url);
  await harness.append('a');
  await drainAll(harness, first);
  const setBack = await harness.stored.rememberLog();
  await harness.append('b', 'c');
  await drainAll(harness, first);
  const joined = await harness.subscribe(receiver.url);
  expect(await harness.stored.of(joined).state()).toEqual({ cursor: '3' });
  await setBack();
  const found = ['x1', 'x2', 'x3', 'x4'];
  await harness.append(...found);
  await drainAll(harness, joined);
  expect(heard(receiver).slice(-4)).toEqual(found);
});

test('events that a second master answered with are not taken for those of the first', async () => {
  await using receiver = await startReceiver(answering());
  await using harness = await createHarness(redis, { maxInFlight: 1 });
  const id = await harness.subscribe(receiver.url);
  const toSecond = await harness.stored.rememberLog();
  await harness.append('a', 'b', 'c', 'd', 'e', 'f');
  const { deliveries } = harness.stores;
  const { read } = deliveries;
  const spy = vi.spyOn(deliveries, 'read').mockImplementationOnce(async (...args) => {
    const toFirst = await harness.stored.rememberLog();
    await toSecond();
    await harness.append('1', '2', '3', '4', '5', '6');
    const answer = await read(...args);
    await toFirst();
    return answer;
  });
  await harness.drain(id);
  spy.mockRestore();
  await drainAll(harness, id);
  expect(heard(receiver)).toEqual(expect.arrayContaining(['b', 'c', 'd', 'e', 'f']));
  // It is not written that they were delivered, which would bring the cursor back before the first.
  expect(heard(receiver).filter((filingId) => filingId === 'a')).toHaveLength(1);
});

test('the same holds for events that one subscription alone reads, being behind the others', async () => {
  await using receiver = await startReceiver(answering());
  await using harness = await createHarness(redis);
  const id = await harness.subscribe(receiver.url);
  await harness.subscribe(receiver.url, { eventTypes: ['filing.rejected'] });
  await harness.change(id, {}, { enabled: false });
  const toSecond = await harness.stored.rememberLog();
  await harness.append('a', 'b', 'c');
  await harness.drain();
  await harness.change(id, {}, { enabled: true });
  const { deliveries } = harness.stores;
  const elsewhere =
    <Args extends unknown[], Answer>(read: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      const toFirst = await harness.stored.rememberLog();
      await toSecond();
      await harness.append('1', '2', '3');
      const answer = await read(...args);
      await toFirst();
      return answer;
    };
  vi.spyOn(harness.log, 'readAfter').mockImplementationOnce(elsewhere(harness.log.readAfter));
  const { read } = deliveries;
  let isBegun = false;
  vi.spyOn(deliveries, 'read').mockImplementation((...args) => {
    const isOfOne = isBegun && args[4] > 0;
    isBegun = true;
    return isOfOne && !heard(receiver).includes('a') ? elsewhere(read)(...args) : read(...args);
  });
  await harness.drain();
  vi.restoreAllMocks();
  await drainAll(harness, id);
  expect(heard(receiver)).toEqual(expect.arrayContaining(['a', 'b', 'c']));
});

describe('a cursor', () => {
  test.each([
    { at: 'at the newest event', events: ['a', 'b', 'c'], cursor: 3 },
    { at: 'before one in flight', events: ['a', 'b', 'held', 'd', 'e'], cursor: 2 },
    { at: 'between two reads', events: Array.from({ length: 100 }, (_, i) => `f${i}`), cursor: 100 },
  ])('$at is written with the timeline of its entry', async ({ events, cursor }) => {
    const latch = createLatch();
    await using receiver = await startReceiver(answering(latch));
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append(...events);
    const drained = harness.drain(id);
    const last = events.length;
    const done = cursor === last ? '' : `${cursor + 2}-${last}`;
    await vi.waitFor(async () => expect(await harness.state(id)).toMatchObject({ cursor, done }), 10_000);
    const [entry] = await harness.log.outlineAt(harness.account, [cursor]);
    expect(await harness.state(id)).toMatchObject({ timeline: entry?.timeline });
    latch.open();
    await drained;
  });
});

describe('a cursor that is not of the log', () => {
  test('because it is beyond its head, is brought back, and so are waiting retries', async () => {
    await using receiver = await startReceiver(answering());
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b');
    const stored = harness.stored.of(id);
    await stored.setState({ cursor: 40, timeline: 'f'.repeat(48), done: '42-44', parked: 2 });
    await stored.setLane('gone', { positions: [39, 40], spent: 1, tried: 1, dueAt: 0, decidedAt: 0 });
    await harness.drain(id);
    expect(heard(receiver)).toEqual(['a', 'b']);
    expect(await harness.state(id)).toMatchObject({ cursor: 2, done: '', parked: 0 });
  });

  test('goes back no further than the last 32nd, 1024th or 32768th event that both know', async () => {
    await using receiver = await startReceiver(answering());
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
    await harness.append(...names('a', 40));
    const setBack = await harness.stored.rememberLog();
    await harness.append(...names('lost', 5));
    await harness.drain(id);
    expect(await harness.state(id)).toMatchObject({ cursor: 45 });
    await setBack();
    await harness.append(...names('b', 10));
    const before = receiver.accepted.length;
    await harness.drain(id);
    // From the 33rd of the first 40 on.
    expect(heard(receiver).slice(before)).toEqual([...names('a', 40).slice(32), ...names('b', 10)]);
  });
});

test('an event that is recorded after a change of the filters was answered is judged by the new ones', async () => {
  const latch = createLatch();
  await using receiver = await startReceiver(answering(latch));
  await using harness = await createHarness(redis);
  const id = await harness.subscribe(receiver.url, { eventTypes: ['filing.paid', 'filing.pending'] });
  await harness.append('held');
  const drained = harness.drain(id);
  await vi.waitFor(() => expect(receiver.inFlight()).toBe(1));
  await harness.change(id, { eventTypes: ['filing.rejected'] });
  await harness.append('unwanted');
  const { deliveries } = harness.stores;
  const { read } = deliveries;
  const reads = vi.spyOn(deliveries, 'read');
  await vi.waitFor(() => expect(reads.mock.lastCall?.[2]).toMatchObject({ position: 2 }), 5_000);
  reads.mockImplementationOnce(async (...args) => {
    await harness.change(id, { eventTypes: ['filing.pending'] });
    await harness.append('wanted');
    return read(...args);
  });
  await vi.waitFor(() => expect(heard(receiver)).toContain('wanted'), 5_000);
  latch.open();
  await drained;
  expect(heard(receiver)).toEqual(['wanted', 'held']);
});
