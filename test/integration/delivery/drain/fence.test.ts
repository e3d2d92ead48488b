import { afterAll, describe, expect, test, vi } from 'vitest';
import { createRedisConnections } from '../../../../src/redis/connection/connect.ts';
import { createLatch, startReceiver } from '../../../support/receivers/receiver.ts';
import { startPrivateRedis, testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const times = (count: number, name: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => name(i));

describe('a deliverer that another one has overtaken', () => {
  test('writes nothing any more, starts nothing and asks for no further run', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async ({ filingId, attempt }) => {
      if (attempt === 1 && 'ab'.includes(filingId)) await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis, { maxInFlight: 2 });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b', 'c', 'd');
    const overtaken = harness.drain(id);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(2));
    // As after a long stop of the process: the events in flight are repeated, under the same ids.
    const successor = harness.drain(id);
    expect(await successor).toEqual({ wakeAt: null });
    latch.open();
    expect(await overtaken).toEqual({ wakeAt: null });
    expect(await harness.state(id)).toMatchObject({ cursor: 4, done: '' });
    expect(new Set(receiver.received.map((callback) => callback.id)).size).toBe(4);
    expect(receiver.received).toHaveLength(6);
  });

  test('whose endpoint hangs notices it without any result', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId === 'slow' ? 'hang' : 200));
    await using harness = await createHarness(redis, { timeoutMs: 1_200 });
    const id = await harness.subscribe(receiver.url);
    await harness.append('slow');
    const overtaken = harness.drain(id);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(1));
    await harness.stored.overtake();
    await new Promise((resolve) => setTimeout(resolve, 300));
    await harness.append('a');
    expect(await overtaken).toEqual({ wakeAt: null });
    expect(receiver.received).toHaveLength(1);
    expect((await harness.state(id)).cursor).toBe(0);
  });
});

describe('a run that loses Redis', () => {
  test('rejects when nothing is in flight any more; the next one repeats only what was not written', async () => {
    await using server = await startPrivateRedis();
    const latch = createLatch();
    await using receiver = await startReceiver(async ({ filingId, attempt }) => {
      if (filingId.startsWith('held') && attempt === 1) await latch.opened;
      return 200;
    });
    await using connections = createRedisConnections(server.url, {
      connectionName: 'test',
      onStateChange: () => {},
    });
    await using harness = await createHarness(redis, { redis: connections.command() });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b', 'held1', 'held2');
    const drained = harness.drain(id);
    await vi.waitFor(async () => expect(await harness.state(id)).toMatchObject({ cursor: 2 }));
    await server.kill();
    let over = false;
    const outcome = drained.then(
      () => 'resolved',
      () => 'rejected',
    );
    void outcome.then(() => (over = true));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect([over, receiver.inFlight()]).toEqual([false, 2]);
    latch.open();
    expect(await outcome).toBe('rejected');
    await server.restart();
    await vi.waitFor(() => harness.drain(id), 10_000);
    expect(receiver.received.map(({ filingId }) => filingId).toSorted()).toEqual([
      'a',
      'b',
      'held1',
      'held1',
      'held2',
      'held2',
    ]);
    expect(await harness.state(id)).toMatchObject({ cursor: 4 });
  });
});

test('a run under which Redis was set back writes nothing, though its connection holds', async () => {
  const latch = createLatch();
  await using receiver = await startReceiver(async ({ filingId, attempt }) => {
    if (filingId === 'set back' && attempt === 1) await latch.opened;
    return 200;
  });
  await using harness = await createHarness(redis);
  const id = await harness.subscribe(receiver.url);
  await harness.append('set back');
  const drained = harness.drain(id);
  await vi.waitFor(() => expect(receiver.inFlight()).toBe(1));
  // As after a failover to a replica that had not got the event yet; another one takes its position.
  await harness.stored.dropLog();
  expect(await harness.append('other')).toEqual([1]);
  latch.open();
  expect((await drained).wakeAt).toBeLessThanOrEqual(Date.now());
  await harness.drain(id);
  expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['set back', 'other']);
});

test('what is in flight counts as not delivered, whatever else is written meanwhile', async () => {
  const latch = createLatch();
  await using receiver = await startReceiver(async ({ filingId }) => {
    if (filingId === 'held') await latch.opened;
    return 200;
  });
  await using harness = await createHarness(redis, { maxInFlight: 2 });
  const id = await harness.subscribe(receiver.url);
  await harness.append('held', 'a');
  const drained = harness.drain(id);
  await vi.waitFor(async () => expect(await harness.state(id)).toMatchObject({ cursor: 0, done: '2' }));
  latch.open();
  await drained;
  expect(await harness.state(id)).toMatchObject({ cursor: 2, done: '' });
});

test('killed at any write, a run leaves a state from which the next one goes on in order', async () => {
  await using receiver = await startReceiver(({ filingId, attempt }) =>
    filingId === 'f1' && attempt === 1 ? 500 : 200,
  );
  const filings = times(12, (i) => `f${i % 4}`);
  for (const survivedWrites of [0, 1, 2, 3, 4, 5]) {
    // oxlint-disable no-await-in-loop
    await using harness = await createHarness(redis, { maxInFlight: 3, retryMs: [1, 1, 1] });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...filings);
    const before = receiver.accepted.length;
    const { settle } = harness.stores.deliveries;
    let writes = 0;
    const failing = vi.spyOn(harness.stores.deliveries, 'settle').mockImplementation((...args) => {
      writes += 1;
      return writes > survivedWrites ? Promise.reject(new Error('killed')) : settle(...args);
    });
    await expect(harness.drain(id)).rejects.toThrow('killed');
    failing.mockRestore();
    await vi.waitFor(async () => {
      await harness.drain(id);
      expect(await harness.state(id)).toMatchObject({ cursor: 12, done: '', parked: 0 });
    });
    const accepted = receiver.accepted.slice(before);
    expect(accepted.length).toBeLessThanOrEqual(12 + 3);
    for (const filing of ['f0', 'f1', 'f2', 'f3']) {
      const order = accepted.filter(({ filingId }) => filingId === filing).map(({ sequence }) => sequence);
      expect(order.filter((sequence, i) => sequence !== order[i - 1])).toEqual([1, 2, 3]);
    }
    // oxlint-enable no-await-in-loop
  }
  expect(receiver.overlapping).toEqual([]);
});
