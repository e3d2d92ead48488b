import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLatch, startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, startReplay, type Harness, type HarnessOptions } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const hourMs = 3_600_000;
const narrow = { eventTypes: ['filing.rejected'] };
const wide = { eventTypes: ['filing.*'] };

const times = (count: number, name: string) => Array.from({ length: count }, () => name);
const progress = (harness: Harness, id: string, replay: { id: string }) =>
  harness.replayer.progress(harness.account, id, replay.id);

/** Event 1 of `f` waits for a retry after an hour, event 2 was passed over and a replay is to send it. */
async function replayBehindRetry(url: string, options: HarnessOptions = {}) {
  const clock = { now: Date.now() };
  const harness = await createHarness(redis, {
    retryMs: [hourMs, hourMs],
    maxInFlight: 2,
    ...options,
    now: () => clock.now,
  });
  const id = await harness.subscribe(url);
  await harness.append('f');
  await harness.drain(id);
  const replay = await replaySecond(harness, id);
  return { harness, id, replay, clock };
}

/** Passes over an event of `f` and begins a replay of it. */
async function replaySecond(harness: Harness, id: string) {
  await harness.change(id, narrow);
  const [position = 0] = await harness.append('f');
  await harness.drain(id);
  await harness.change(id, wide);
  const [entry] = await harness.log.outlineAt(harness.account, [position]);
  return startReplay(harness, id, { eventIds: [entry?.id ?? ''] });
}

describe('a replayed event waits for an earlier one of its filing', () => {
  test('that is to be tried again, until it is delivered', async () => {
    await using receiver = await startReceiver(422);
    const { harness, id, replay, clock } = await replayBehindRetry(receiver.url);
    await using _ = harness;
    receiver.answer(200);
    expect(await harness.drain(id)).toEqual({ wakeAt: clock.now + hourMs });
    // Another filing's event is not held back, and neither are those of another process.
    await harness.append('other');
    expect(await harness.drain(id)).toEqual({ wakeAt: clock.now + hourMs });
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'running', delivered: 0 });
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['other']);

    clock.now += hourMs;
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    expect(sequences(receiver.accepted)).toEqual([1, 2]);
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 1 });
  });

  test('that is to be tried again, until it is given up', async () => {
    await using receiver = await startReceiver(({ sequence }) => (sequence === 1 ? 422 : 200));
    const { harness, id, replay, clock } = await replayBehindRetry(receiver.url, { retryMs: [hourMs] });
    await using _ = harness;
    expect(await harness.drain(id)).toEqual({ wakeAt: clock.now + hourMs });
    clock.now += hourMs;
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    expect(sequences(receiver.received)).toEqual([1, 1, 2]);
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 1 });
  });

  test('at an endpoint that is down, until a probe delivers it', async () => {
    await using receiver = await startReceiver(500);
    const { harness, id, replay, clock } = await replayBehindRetry(receiver.url);
    await using _ = harness;
    await harness.drain(id);
    await harness.append('g', 'h');
    for (let probe = 0; probe < 4; probe += 1) {
      const { wakeAt } = await harness.drain(id);
      expect(wakeAt).not.toBeNull();
      clock.now = wakeAt ?? 0;
    }
    expect((await harness.state(id)).probes).toBeGreaterThan(1);
    receiver.answer(200);
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    expect(sequences(receiver.received).at(-1)).toBe(2);
    expect(sequences(receiver.received).filter((sequence) => sequence === 2)).toHaveLength(1);
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 1 });
  });

  test('that is in flight and fails', async () => {
    const answered = createLatch();
    await using receiver = await startReceiver(async ({ filingId, sequence, attempt }) => {
      if (filingId !== 'f' || sequence > 1 || attempt > 1) return 200;
      await answered.opened;
      return 422;
    });
    let clock = Date.now();
    await using harness = await createHarness(redis, { retryMs: [hourMs], now: () => clock });
    const id = await harness.subscribe(receiver.url);
    await harness.append('f');
    const draining = harness.drain(id);
    await expect.poll(() => receiver.inFlight()).toBe(1);
    await harness.change(id, narrow);
    await harness.append('f', 'other');
    await vi.waitFor(async () => expect((await harness.state(id)).done).toBe('2-3'));
    await harness.change(id, wide);
    const replay = await startReplay(harness, id);
    expect(replay.matched).toBe(2);
    // The replay is under way once it has sent the event of the other filing.
    await expect.poll(() => receiver.accepted.map(({ filingId }) => filingId)).toEqual(['other']);
    answered.open();
    expect(await draining).toEqual({ wakeAt: clock + hourMs });
    expect(sequences(receiver.received)).toEqual([1]);
    clock += hourMs;
    await harness.drain(id);
    expect(sequences(receiver.received)).toEqual([1, 1, 2]);
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 2 });
  });

  test('that the drain has yet to read, behind many others', async () => {
    await using receiver = await startReceiver('hang');
    await using harness = await createHarness(redis, { maxInFlight: 2 });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...times(200, 'slow'), 'f');
    const settle = harness.stores.deliveries.settle.bind(harness.stores.deliveries);
    const failing = vi.spyOn(harness.stores.deliveries, 'settle').mockImplementation(settle);
    const draining = harness.drain(id).catch(() => 'killed');
    await expect.poll(() => receiver.inFlight()).toBe(2);
    await harness.change(id, narrow);
    const [position = 0] = await harness.append('f');
    await vi.waitFor(async () => expect((await harness.state(id)).done).toBe(String(position)));
    failing.mockRejectedValue(new Error('killed'));
    await receiver.stop();
    expect(await draining).toBe('killed');
    failing.mockRestore();

    receiver.answer(200);
    await receiver.start();
    await harness.change(id, wide);
    const replay = await startReplay(harness, id, { filingId: 'f' });
    expect(replay.matched).toBe(1);
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    expect(sequences(receiver.accepted)).toEqual([1, 2]);
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 1 });
  });
});

test('a replay that waits for an event can be cancelled, and another one of the same event goes on after it', async () => {
  await using receiver = await startReceiver(422);
  const { harness, id, replay, clock } = await replayBehindRetry(receiver.url);
  await using _ = harness;
  await harness.drain(id);
  expect(await harness.replayer.cancel(harness.account, id, replay.id)).toBe(true);
  const next = await startReplay(harness, id, { eventIds: replayedIds(await progress(harness, id, replay)) });
  expect(next.id).not.toBe(replay.id);
  receiver.answer(200);
  expect(await harness.drain(id)).toEqual({ wakeAt: clock.now + hourMs });
  clock.now += hourMs;
  expect(await harness.drain(id)).toEqual({ wakeAt: null });
  expect(sequences(receiver.accepted)).toEqual([1, 2]);
  expect(await progress(harness, id, next)).toMatchObject({ state: 'finished', delivered: 1 });
  expect(await harness.state(id)).toMatchObject({ replaying: 0, parked: 0, nextAttemptAt: 0 });
});

test('a replayed event does not wait for a later one of its filing', async () => {
  await using receiver = await startReceiver(({ sequence }) => (sequence === 2 ? 422 : 200));
  await using harness = await createHarness(redis, { retryMs: [hourMs] });
  const id = await harness.subscribe(receiver.url);
  await harness.append('f', 'f');
  await harness.drain(id);
  const replay = await startReplay(harness, id, { filingId: 'f' });
  await harness.drain(id);
  expect(sequences(receiver.received)).toEqual([1, 2, 1]);
  expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 1 });
});

function sequences(callbacks: readonly { readonly filingId: string; readonly sequence: number }[]) {
  return callbacks.filter(({ filingId }) => filingId === 'f').map(({ sequence }) => sequence);
}

function replayedIds(replay: { readonly request: { readonly eventIds?: readonly string[] } } | null) {
  return replay?.request.eventIds ?? [];
}
