import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLatch, startReceiver, type Receiver } from '../../support/receivers/receiver.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { appendEvent } from '../../support/redis/append-script.ts';
import { createHarness, eventOf, newSubscription, type Harness } from './drain-harness.ts';

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

/** Another account of the same process, with one subscription. Returns what publishes an event in it. */
async function neighbour(harness: Harness, url: string): Promise<() => Promise<void>> {
  const account = `b${harness.account}`;
  await harness.subscriptions.create(newSubscription(account, url), null);
  return async () => {
    const keys = createKeys(redis.prefix).account(account);
    await appendEvent(harness.redis, keys, eventOf(account, 'f', 1), Date.now());
    await harness.waker.wakeMatching(account, [{ type: 'filing.pending', state: '', status: '' }]);
  };
}

describe('the drain worker', () => {
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

  test('retries and probes by itself when they are due, with one delayed wake-up per subscription', async () => {
    let fails = true;
    await using receiver = await startReceiver(() => (fails ? 500 : 200));
    await using harness = await createHarness(redis, { retryMs: [30, 60, 60_000] });
    const id = await harness.subscribe(receiver.url);
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(receiver.received).toHaveLength(3), 5_000);
    // Every drain that finds nothing due asks to be woken; there is still one wake-up.
    for (const filing of filings(12)) {
      await harness.publish(filing);
      await vi.waitFor(async () => expect((await harness.state(id)).done).toBe(''));
    }
    await vi.waitFor(async () => expect((await harness.state(id)).probes).toBeGreaterThan(2), 5_000);
    expect(await harness.queue.queues[0].getDelayedCount()).toBeLessThanOrEqual(1);
    fails = false;
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(13), 10_000);
    expect(await harness.queue.queues[0].getDelayedCount()).toBeLessThanOrEqual(1);
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
    // Its drain looks for further events from time to time only; none of its callbacks has run out of time yet.
    await vi.waitFor(() => expect(hanging.inFlight()).toBe(3), 5_000);
    expect(hanging.inFlightMax()).toBe(3);
    expect(hanging.received).toHaveLength(3);
    await Promise.all(healthy.map((receiver) => receiver.stop()));
  });

  test.each([
    ['each in a job of its own', 60],
    ['in slices', 250],
  ])('leaves places for other accounts while the endpoints of one hang, %s', async (_, hanging) => {
    await using hangs = await hangingReceiver();
    await using other = await startReceiver();
    const concurrency = hanging < 100 ? 40 : 200;
    await using harness = await createHarness(redis, { timeoutMs: 60_000, maxInFlight: 1, concurrency });
    for (const each of times(hanging, () => hangs.url)) await harness.subscribe(each);
    const publish = await neighbour(harness, other.url);
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(hangs.inFlight()).toBeGreaterThan(concurrency / 2), 5_000);
    await publish();
    await vi.waitFor(() => expect(other.accepted).toHaveLength(1), 5_000);
    expect(hangs.inFlight()).toBeLessThan(concurrency);
  });

  test('serves accounts by turns: one of hundreds of subscriptions does not come first with all', async () => {
    const order: string[] = [];
    const noting = (name: string) => () => (order.push(name), 200);
    await using many = await startReceiver(noting('many'));
    await using other = await startReceiver(noting('other'));
    await using harness = await createHarness(redis, { concurrency: 1 });
    for (const each of times(300, () => many.url)) await harness.subscribe(each);
    const publish = await neighbour(harness, other.url);
    await harness.publish('a');
    await publish();
    harness.startWorker();
    await vi.waitFor(() => expect(order).toHaveLength(301), 20_000);
    expect(order.indexOf('other')).toBeLessThanOrEqual(100);
  });

  test('a later turn is a delay of seconds: a job that waits comes before those of the first turn in time', async () => {
    await using harness = await createHarness(redis);
    const at = Date.now();
    const take = async (subscription: string, afterMs: number, turn: number) => {
      vi.setSystemTime(at + afterMs);
      await harness.queue.wake(harness.account, [subscription], turn);
    };
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      await take('late', 0, 3);
      await take('soon', 1_000, 0);
      await take('after', 5_000, 0);
    } finally {
      vi.useRealTimers();
    }
    const jobs = await harness.queue.queues[0].getPrioritized();
    expect(jobs.map(({ data }) => data.subscription)).toEqual(['soon', 'late', 'after']);
  });

  test('lets others in after its time slice, though all places are taken', async () => {
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
    await vi.waitFor(() => expect(other.accepted).toHaveLength(1), 10_000);
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

  test('reports a drain that failed, naming it, and takes it up again, a second later', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    const claim = vi.spyOn(harness.delivery, 'claim');
    claim.mockRejectedValueOnce(new Error('no such thing'));
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(1), 5_000);
    expect(claim.mock.calls.length).toBeLessThanOrEqual(3);
    expect(harness.errors.map(({ message }) => message)).toEqual([
      `drain of ${harness.account} ${id}: no such thing`,
    ]);
  });

  test('keeps no stack trace in the jobs that it tries again, whoever made them', async () => {
    await using harness = await createHarness(redis);
    const id = await harness.subscribe('http://127.0.0.1:9/');
    const latch = createLatch();
    const claim = vi.spyOn(harness.delivery, 'claim');
    claim.mockImplementationOnce(() => latch.opened.then(() => null));
    claim.mockRejectedValue(new Error('fails again and again'));
    const wakes: string[] = [];
    const wake = harness.queue.wake.bind(harness.queue);
    harness.startWorker();
    await harness.queue.wake(harness.account, [id]);
    await vi.waitFor(() => expect(claim).toHaveBeenCalledTimes(1));
    // One that follows the drain under way, and one that is delayed and fails itself.
    await harness.queue.wake(harness.account, [id]);
    vi.spyOn(harness.queue, 'wake').mockImplementation(async (account, [subscription = '']) => {
      wakes.push(subscription);
      if (subscription === 'fails') throw new Error('fails as well');
      return wake(account, [subscription]);
    });
    await harness.queue.wakeAt(harness.account, 'fails', Date.now(), Date.now());
    latch.open();
    await vi.waitFor(async () => {
      const jobs = await harness.queue.queues[0].getJobs(['delayed']);
      expect(jobs.map(({ name }) => name).toSorted()).toEqual(['drain', 'wake']);
      expect(jobs.every(({ attemptsMade }) => attemptsMade > 0)).toBe(true);
      expect(jobs.map(({ stacktrace }) => stacktrace)).toEqual([[], []]);
    }, 10_000);
  });
});

describe('waking', () => {
  test('finds whoever lags, has a retry due, a replay or a release to do, and nobody else', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId === 'poison' ? 500 : 200));
    let later = 0;
    const now = () => Date.now() + later;
    await using harness = await createHarness(redis, { retryMs: [60_000, 3_600_000], now });
    const subscribe = () => harness.subscribe(receiver.url);
    const wake = vi.spyOn(harness.queue, 'wake').mockResolvedValue();
    const lagging = async () => {
      await harness.waker.wakeLagging(harness.account);
      return wake.mock.lastCall?.[1];
    };
    const first = await subscribe();
    expect(await lagging()).toEqual([]);
    await harness.append('a');
    expect(await lagging()).toEqual([first]);
    await harness.drain(first);
    expect(await lagging()).toEqual([]);

    await harness.append('poison');
    await harness.drain(first);
    expect(await lagging()).toEqual([]);
    const second = await subscribe();
    later = 90_000;
    expect(await lagging()).toEqual([first]);
    await harness.drain(first);
    expect(await lagging()).toEqual([]);

    await harness.change(second, {}, { release: true });
    expect(await lagging()).toEqual([second]);
    await harness.drain(second);
    await harness.change(second, {}, { enabled: false });
    await harness.append('b');
    await harness.drain(first);
    expect(await lagging()).toEqual([]);
    await harness.change(second, {}, { enabled: true });
    await harness.drain(second);
    const all = { after: null, before: null, eventTypes: null, filingId: 'b', deadLettersOnly: false };
    await harness.replayer.start(harness.account, second, all);
    expect(await lagging()).toEqual([second]);
    await harness.drain(second);
    expect(await lagging()).toEqual([]);
    // Also one with an attempt due much later.
    await harness.replayer.start(harness.account, first, all);
    expect(await lagging()).toEqual([first]);
    await harness.drain(first);
    expect(await lagging()).toEqual([]);
  });
});
