import { afterAll, expect, test, vi } from 'vitest';
import { createLatch, startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, startReplay, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const hourMs = 3_600_000;
const times = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`);
const progress = (harness: Harness, id: string, replay: { id: string }) =>
  harness.replayer.progress(harness.account, id, replay.id);
const cancel = (harness: Harness, id: string, replay: { id: string }) =>
  harness.replayer.cancel(harness.account, id, replay.id);

test('a replay that is cancelled while it is worked on sends nothing but what was in flight', async () => {
  const [one, others] = [createLatch(), createLatch()];
  let held = 0;
  await using receiver = await startReceiver(async ({ attempt }) => {
    if (attempt === 1) return 200;
    held += 1;
    await (held === 1 ? one : others).opened;
    return 200;
  });
  await using harness = await createHarness(redis, { maxInFlight: 8 });
  const id = await harness.subscribe(receiver.url);
  await harness.append(...times(60));
  await harness.drain(id);
  const replay = await startReplay(harness, id);
  const draining = harness.drain(id);
  await expect.poll(() => held).toBe(4);
  expect(await cancel(harness, id, replay)).toBe(true);
  // Events of the log and of the next replay go on.
  const next = await startReplay(harness, id, { filingId: 'f59' });
  await harness.append('new');
  await expect.poll(() => receiver.accepted.some(({ filingId }) => filingId === 'new')).toBe(true);
  one.open();
  await expect.poll(() => harness.reports.length).toBe(60 + 1 + 1);
  // Its place is free now, and is given to the next replay and to no other event of this one.
  await harness.append('newer');
  await expect.poll(() => receiver.accepted.some(({ filingId }) => filingId === 'newer')).toBe(true);
  await expect.poll(() => held).toBe(5);
  others.open();
  await draining;
  expect(held).toBe(5);
  expect(receiver.accepted).toHaveLength(60 + 4 + 2 + 1);
  expect(await progress(harness, id, replay)).toMatchObject({
    state: 'cancelled',
    delivered: 0,
    matched: 60,
  });
  expect(await progress(harness, id, next)).toMatchObject({ state: 'finished', delivered: 1, failed: 0 });
  expect(await harness.state(id)).toMatchObject({ replaying: 0, parked: 0, nextAttemptAt: 0 });
  const { items } = await harness.journal.list(harness.account, id, 'attempts', null, 100);
  expect(items.filter((attempt) => attempt.replay === replay.id)).toHaveLength(4);
  expect(items.filter((attempt) => attempt.replay === next.id)).toHaveLength(1);
  // Another cancellation changes nothing, and a finished replay stays finished.
  expect(await cancel(harness, id, replay)).toBe(true);
  expect(await cancel(harness, id, next)).toBe(true);
  expect((await progress(harness, id, next))?.state).toBe('finished');
  expect(await cancel(harness, id, { id: 'rpl_unknown' })).toBe(false);
});

test('the lanes of a cancelled replay go, and no other replay gets them', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis, { retryMs: [hourMs, hourMs] });
  const id = await harness.subscribe(receiver.url);
  await harness.append('a', 'b');
  await harness.drain(id);
  receiver.answer(422);
  const replay = await startReplay(harness, id);
  await harness.drain(id);
  expect(await harness.stored.of(id).replayLanes()).toBe(2);
  const next = await startReplay(harness, id, { filingId: 'b' });
  expect(await cancel(harness, id, replay)).toBe(true);
  expect(await harness.stored.of(id).replayLanes()).toBe(0);
  receiver.answer(200);
  const accepted = receiver.accepted.length;
  await harness.drain(id);
  expect(receiver.accepted.slice(accepted).map(({ filingId }) => filingId)).toEqual(['b']);
  expect(await progress(harness, id, next)).toMatchObject({ state: 'finished', delivered: 1 });
  expect((await harness.drain(id)).wakeAt).toBeNull();
});

test('a replay that rests until a retry leaves nothing due when it is cancelled', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis, { retryMs: [hourMs, hourMs] });
  const id = await harness.subscribe(receiver.url);
  await harness.append('a', 'b');
  await harness.drain(id);
  receiver.answer(422);
  const replay = await startReplay(harness, id, { filingId: 'a' });
  expect((await harness.drain(id)).wakeAt).not.toBeNull();
  await cancel(harness, id, replay);
  expect(await harness.state(id)).toMatchObject({ nextAttemptAt: 0, replaying: 0 });
  expect(await harness.drain(id)).toEqual({ wakeAt: null });
});

test('a cancellation holds when the process that worked on the replay is killed, before and after', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis, { maxInFlight: 4 });
  const id = await harness.subscribe(receiver.url);
  await harness.append(...times(40));
  await harness.drain(id);
  const replay = await startReplay(harness, id);
  const settle = harness.stores.deliveries.settle.bind(harness.stores.deliveries);
  let writes = 0;
  const failing = vi.spyOn(harness.stores.deliveries, 'settle').mockImplementation(async (...args) => {
    writes += 1;
    if (writes === 4) await cancel(harness, id, replay);
    if (writes > 4) throw new Error('killed');
    return settle(...args);
  });
  await expect(harness.drain(id)).rejects.toThrow('killed');
  failing.mockRestore();
  const sent = receiver.received.length;
  const cancelled = await progress(harness, id, replay);
  expect(cancelled?.state).toBe('cancelled');
  await harness.drain(id);
  expect(receiver.received).toHaveLength(sent);
  expect(sent).toBeLessThan(80);
  expect(await progress(harness, id, replay)).toEqual(cancelled);
});

test('cancelling again and again beside running drains leaves no replay and no lane behind', async () => {
  await using receiver = await startReceiver(({ attempt }) => (attempt % 3 === 2 ? 500 : 200));
  await using harness = await createHarness(redis, { retryMs: [1, 1, 1, 1], maxInFlight: 4 });
  const id = await harness.subscribe(receiver.url);
  await harness.append(...times(30));
  await harness.drain(id);
  for (let round = 0; round < 12; round += 1) {
    const replay = await startReplay(harness, id);
    const both = [harness.drain(id), harness.drain(id)];
    const target = receiver.received.length + round;
    const ended = Promise.all(both);
    const isUnderWay = vi.waitFor(() => expect(receiver.received.length).toBeGreaterThanOrEqual(target), {
      interval: 1,
      timeout: 20_000,
    });
    // Both may end before, with lanes that wait for a retry.
    await Promise.race([isUnderWay.catch(() => undefined), ended]);
    await cancel(harness, id, replay);
    await ended;
    expect(['cancelled', 'finished']).toContain((await progress(harness, id, replay))?.state);
  }
  expect(await harness.stored.of(id).replayLanes()).toBe(0);
  expect(await harness.state(id)).toMatchObject({ replaying: 0, parked: 0, cursor: 30 });
  expect(receiver.overlapping).toEqual([]);
  const final = await startReplay(harness, id);
  receiver.answer(200);
  await harness.drain(id);
  expect(await progress(harness, id, final)).toMatchObject({ state: 'finished', delivered: 30 });
});

test('replays are listed, the latest first, with their conditions', async () => {
  await using harness = await createHarness(redis);
  const id = await harness.subscribe('http://127.0.0.1:1/');
  await harness.append('a', 'b');
  const first = await startReplay(harness, id, { filingId: 'a' });
  const second = await startReplay(harness, id, { filingId: 'b' });
  const listed = await harness.replayer.list(harness.account, id);
  expect(listed.map((replay) => replay.id)).toEqual([second.id, first.id]);
  expect(listed[1]?.request).toMatchObject({ filingId: 'a', deadLettersOnly: false });
});
