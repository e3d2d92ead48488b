import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLatch, startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const filings = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`);
const soon = { timeout: 10_000, interval: 10 };

describe('a rate', () => {
  test('is not held up by a time of a clock that was ahead', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, { rate: 5 });
    await harness.stored.of(id).setState({ throttledUntil: Date.now() + 3_600_000 });
    await harness.append('a');
    await harness.drain(id);
    expect(receiver.accepted).toHaveLength(1);
    expect((await harness.state(id)).throttledUntil).toBeLessThan(Date.now() + 1_000);
  });

  test('holds from one run to the next', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, { rate: 0.2 });
    await harness.append('a');
    await harness.drain(id);
    await harness.append('b');
    const { wakeAt } = await harness.drain(id);
    expect(receiver.accepted).toHaveLength(1);
    expect(wakeAt).toBeGreaterThan(Date.now() + 3_000);
  });

  test('costs nothing while a run that ends waits for callbacks in flight', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async () => {
      await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, { rate: 5 });
    await harness.append(...filings(60));
    const stopping = new AbortController();
    const drained = harness.drain(id, stopping.signal);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(2), soon);
    stopping.abort();
    const looks = vi.spyOn(harness.stores.deliveries, 'settle');
    // Its next turn comes and goes.
    await delay(1_500);
    const count = looks.mock.calls.length;
    latch.open();
    await drained;
    expect(count).toBeLessThan(10);
  });
});

describe('a subscription with limits of its own', () => {
  test('gets one event after the other with one callback in flight at most, and more once that is lifted', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, { maxInFlight: 1 });
    await harness.append(...filings(20));
    await harness.drain(id);
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(filings(20));
    expect(receiver.inFlightMax()).toBe(1);
    const latch = createLatch();
    receiver.answer(async () => {
      await latch.opened;
      return 200;
    });
    await harness.append(...filings(20));
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(1), soon);
    await harness.change(id, { maxInFlight: 5 });
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(5), soon);
    latch.open();
    await drained;
    expect(receiver.inFlightMax()).toBe(5);
    expect(receiver.overlapping).toEqual([]);
  });

  test('waits for an answer as long as it says, whatever the daemon does', async () => {
    await using receiver = await startReceiver(async ({ filingId }) => {
      await delay(filingId === 'slow' ? 300 : 0);
      return 200;
    });
    await using harness = await createHarness(redis, { timeoutMs: 200, retryMs: [60_000] });
    const [short, long, usual] = await Promise.all(
      [{ timeoutMs: 100 }, { timeoutMs: 2_000 }, {}].map((own) => harness.subscribe(receiver.url, own)),
    );
    await harness.append('slow');
    await Promise.all([short, long, usual].map((id) => harness.drain(id ?? '')));
    const outcome = (id: string | undefined) =>
      harness.reports.find(({ subscription }) => subscription.id === id)?.attempt;
    expect(outcome(short)).toMatchObject({ outcome: 'timeout' });
    expect(outcome(short)?.durationMs).toBeLessThan(200);
    expect(outcome(usual)).toMatchObject({ outcome: 'timeout' });
    expect(outcome(long)).toMatchObject({ outcome: 'delivered' });
  });

  test('is given up after as many attempts as its own schedule has', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId === 'bad' ? 500 : 200));
    await using harness = await createHarness(redis, { retryMs: [60_000, 60_000] });
    const id = await harness.subscribe(receiver.url, { retryMs: [20, 20, 20] });
    harness.startWorker();
    await harness.publish('bad', 'good');
    await vi.waitFor(
      async () =>
        expect((await harness.journal.list(harness.account, id, 'dead', null, 5)).items).toMatchObject([
          { attempts: 4, filingId: 'bad' },
        ]),
      soon,
    );
  });
});
