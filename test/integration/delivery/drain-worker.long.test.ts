import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLatch, startReceiver, type Receiver } from '../../support/receivers/receiver.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness } from './drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i));
const filings = (count: number) => times(count, (i) => `f${i}`);

/** Opens every answer when the test is over, so that nothing is left under way. */
async function hangingReceiver(): Promise<Receiver> {
  const latch = createLatch();
  const receiver = await startReceiver(async () => {
    await latch.opened;
    return 200;
  });
  return {
    ...receiver,
    inFlight: receiver.inFlight,
    async [Symbol.asyncDispose]() {
      latch.open();
      await receiver.stop();
    },
  };
}

describe('the worker of deliveries', () => {
  test('delivers what is published while it runs, each event once', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    await harness.subscribe(receiver.url);
    harness.startWorker();
    for (const i of times(60, (n) => n)) await harness.publish(`f${i % 7}`);
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(60), 10_000);
    expect(receiver.received).toHaveLength(60);
    expect(receiver.overlapping).toEqual([]);
    expect(harness.errors).toEqual([]);
  });

  test('retries and probes by itself when they are due, with one delayed wake-up per account', async () => {
    let fails = true;
    await using receiver = await startReceiver(() => (fails ? 500 : 200));
    await using harness = await createHarness(redis, { retryMs: [30, 60, 60_000] });
    const id = await harness.subscribe(receiver.url);
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(receiver.received).toHaveLength(3), 5_000);
    // Every run that finds nothing due asks to be woken; there is still one wake-up.
    for (const filing of filings(12)) {
      await harness.publish(filing);
      await vi.waitFor(async () => expect((await harness.state(id)).done).toBe(''));
    }
    await vi.waitFor(async () => expect((await harness.state(id)).probes).toBeGreaterThan(2), 5_000);
    expect(await harness.queue.jobs.getDelayedCount()).toBeLessThanOrEqual(1);
    fails = false;
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(13), 10_000);
    expect(await harness.queue.jobs.getDelayedCount()).toBeLessThanOrEqual(1);
    expect(harness.errors).toEqual([]);
  });

  test('keeps the healthy quick beside one that hangs, which never gets more than its share', async () => {
    await using hanging = await hangingReceiver();
    const healthy = await Promise.all(times(8, () => startReceiver()));
    await using harness = await createHarness(redis, { timeoutMs: 20_000, maxInFlight: 3, concurrency: 9 });
    await harness.subscribe(hanging.url);
    for (const receiver of healthy) await harness.subscribe(receiver.url);
    harness.startWorker();
    for (const filing of filings(40)) await harness.publish(filing);
    await vi.waitFor(
      () => expect(healthy.every(({ accepted }) => accepted.length === 40)).toBe(true),
      15_000,
    );
    // None of its callbacks has run out of time yet.
    await vi.waitFor(() => expect(hanging.inFlight()).toBe(3), 5_000);
    expect(hanging.inFlightMax()).toBe(3);
    expect(hanging.received).toHaveLength(3);
    await Promise.all(healthy.map((receiver) => receiver.stop()));
  });

  test('lets a subscription in that is registered while another one is busy, though all places are taken', async () => {
    await using busy = await startReceiver(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return 200;
    });
    await using other = await startReceiver();
    await using harness = await createHarness(redis, { maxInFlight: 1, concurrency: 1 });
    await harness.subscribe(busy.url);
    harness.startWorker();
    await harness.publish(...filings(280));
    await vi.waitFor(() => expect(busy.accepted.length).toBeGreaterThan(5), 5_000);
    await harness.subscribe(other.url);
    await harness.publish('late');
    await vi.waitFor(() => expect(other.accepted).toHaveLength(1), 5_000);
    expect(busy.accepted.length).toBeLessThan(280);
    await vi.waitFor(() => expect(busy.accepted).toHaveLength(281), 30_000);
    expect(busy.received).toHaveLength(281);
  });

  test('finishes what is in flight when it is closed, and repeats none of that later', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async () => {
      await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis);
    for (const _ of filings(20)) await harness.subscribe(receiver.url);
    const worker = harness.startWorker();
    await harness.publish(...filings(30));
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(200), 10_000);
    const closed = worker.stop();
    latch.open();
    await closed;
    expect(receiver.accepted).toHaveLength(200);
    harness.startWorker();
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(600), 10_000);
    expect(receiver.received).toHaveLength(600);
  });

  test('reports a delivery that failed, naming the account, and takes it up again, a second later', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    await harness.subscribe(receiver.url);
    const open = vi.spyOn(harness.stores.deliveries, 'open');
    open.mockRejectedValueOnce(new Error('no such thing'));
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(1), 5_000);
    expect(open.mock.calls.length).toBeLessThanOrEqual(3);
    expect(harness.errors.map(({ message }) => message)).toEqual([
      `delivery of ${harness.account}: no such thing`,
    ]);
  });

  test('keeps no stack trace in the jobs that it tries again, whoever made them', async () => {
    await using harness = await createHarness(redis);
    await harness.subscribe('http://127.0.0.1:9/');
    const latch = createLatch();
    const open = vi.spyOn(harness.stores.deliveries, 'open');
    open.mockImplementationOnce(() => latch.opened.then(() => null));
    open.mockRejectedValue(new Error('fails again and again'));
    const wake = harness.queue.wake.bind(harness.queue);
    harness.startWorker();
    await wake(harness.account);
    await vi.waitFor(() => expect(open).toHaveBeenCalledTimes(1));
    // One that follows the run under way, and one that is delayed and fails itself.
    await wake(harness.account);
    vi.spyOn(harness.queue, 'wake').mockRejectedValue(new Error('fails as well'));
    await harness.queue.wakeAt(harness.account, Date.now(), Date.now());
    latch.open();
    await vi.waitFor(async () => {
      const jobs = await harness.queue.jobs.getJobs(['delayed']);
      expect(jobs.map(({ name }) => name).toSorted()).toEqual(['due', 'now']);
      expect(jobs.every(({ attemptsMade }) => attemptsMade > 0)).toBe(true);
      expect(jobs.map(({ stacktrace }) => stacktrace)).toEqual([[], []]);
    }, 10_000);
  });
});
