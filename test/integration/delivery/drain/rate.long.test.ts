import { afterAll, describe, expect, test, vi } from 'vitest';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { mostPerSecond, timedReceiver } from '../../../support/receivers/timed-receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, startReplay } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const filings = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`);
const soon = { timeout: 10_000, interval: 10 };

describe('a rate', () => {
  test('holds in any second, beside a subscription without one that gets everything at once', async () => {
    await using paced = await timedReceiver();
    await using plain = await startReceiver();
    await using harness = await createHarness(redis, { maxInFlight: 64 });
    const id = await harness.subscribe(paced.url, { rate: 20 });
    await harness.subscribe(plain.url);
    harness.startWorker();
    await harness.publish(...filings(30));
    await vi.waitFor(() => expect(plain.accepted).toHaveLength(30), soon);
    expect(paced.times.length).toBeLessThan(30);
    expect((await harness.state(id)).throttledUntil).toBeGreaterThan(Date.now() - 1_000);
    await vi.waitFor(() => expect(paced.accepted).toHaveLength(30), soon);
    expect(mostPerSecond(paced.times)).toBeLessThanOrEqual(20);
  });

  test('counts retries and replays, and keeps the order of a filing', async () => {
    let failures = 5;
    await using receiver = await timedReceiver(() => ((failures -= 1) >= 0 ? 503 : 200));
    await using harness = await createHarness(redis, { retryMs: [10, 10, 10, 10, 10, 10] });
    const id = await harness.subscribe(receiver.url, { rate: 30 });
    await harness.append('a', 'a', 'b', 'b', 'c');
    harness.startWorker();
    await harness.queue.wake(harness.account);
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(5), soon);
    await startReplay(harness, id);
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(10), soon);
    const gaps = receiver.times.slice(1).map((at, i) => at - (receiver.times[i] ?? 0));
    // Ten successes and five failures in turns of 36 ms, each up to 30 ms late.
    expect(receiver.times.length).toBeGreaterThanOrEqual(15);
    expect(gaps.reduce((sum, gap) => sum + gap, 0)).toBeGreaterThan(14 * 35 - 60);
    const orders = Map.groupBy(receiver.accepted, ({ filingId }) => filingId);
    expect(orders.get('a')?.map(({ sequence }) => sequence)).toEqual([1, 2, 1, 2]);
  });

  test('that is slow ends the run, and new events come no earlier than their turn', async () => {
    await using receiver = await timedReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, { rate: 0.5 });
    await harness.append('a', 'b');
    const { wakeAt } = await harness.drain(id);
    expect(receiver.times).toHaveLength(1);
    expect(wakeAt).toBeGreaterThan(Date.now() + 1_000);
    expect(wakeAt).toBeLessThan(Date.now() + 2_100);
    await harness.append('c');
    expect(await harness.drain(id)).toMatchObject({ wakeAt: expect.any(Number) });
    expect(receiver.times).toHaveLength(1);
    harness.startWorker();
    await harness.queue.wakeAt(harness.account, wakeAt ?? 0, Date.now());
    await vi.waitFor(() => expect(receiver.times).toHaveLength(2), soon);
    expect((receiver.times[1] ?? 0) - (receiver.times[0] ?? 0)).toBeGreaterThan(1_900);
  });

  test('is followed by a running deliverer once it is changed, and lifted', async () => {
    await using receiver = await timedReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, { rate: 1 });
    await harness.append(...filings(60));
    harness.startWorker();
    await harness.queue.wake(harness.account);
    await vi.waitFor(() => expect(receiver.times).toHaveLength(1), soon);
    await harness.change(id, { rate: 25 });
    await harness.queue.wake(harness.account);
    await vi.waitFor(() => expect(receiver.times.length).toBeGreaterThan(10), soon);
    await harness.change(id, { rate: null });
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(60), soon);
    expect(receiver.accepted.map(({ filingId }) => filingId).toSorted()).toEqual(filings(60).toSorted());
  });

  test('costs a few commands for each callback, however many events wait', async () => {
    await using receiver = await timedReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, { rate: 10 });
    await harness.append(...filings(500));
    const stop = new AbortController();
    const count = vi.spyOn(harness.redis, 'call');
    const drained = harness.drain(id, stop.signal);
    await vi.waitFor(() => expect(receiver.times.length).toBeGreaterThanOrEqual(10), soon);
    stop.abort();
    await drained;
    const { calls } = count.mock;
    count.mockRestore();
    // Turns, a look before the turn and a settle; a half more, and the reads of the claim, for the machine.
    expect(calls.length).toBeLessThanOrEqual(5 * receiver.times.length + 10);
  });
});
