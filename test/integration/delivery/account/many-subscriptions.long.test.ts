import { afterAll, describe, expect, test, vi } from 'vitest';
import { createKeys } from '../../../../src/redis/keys.ts';
import { appendEvent } from '../../../support/redis/append-script.ts';
import { rowsRead } from '../../../support/redis/rows-read.ts';
import { createLatch, startReceiver, type Callback } from '../../../support/receivers/receiver.ts';
import { shareOf, startPrivateRedis, testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, eventOf, newSubscription, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const nowhere = 'http://127.0.0.1:1/';
const unasked = { eventTypes: ['filing.rejected'] };

async function subscribeMany(harness: Harness, url: string, count: number): Promise<string[]> {
  const all = Array.from({ length: count }, (_, i) => ({ headers: { 'x-number': `${i}` } }));
  return Promise.all(all.map((settings) => harness.subscribe(url, settings)));
}

const numbers = (callbacks: readonly Callback[]) =>
  new Set(callbacks.map(({ headers }) => headers['x-number']));

describe('an event for many subscriptions of an account', () => {
  test('reaches each once, by one job of the queue', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    await subscribeMany(harness, receiver.url, 250);
    await harness.publish('a');
    await harness.publish('b');
    expect(await harness.queue.jobs.getWaitingCount()).toBe(1);
    harness.startWorker();
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(500), 20_000);
    expect(numbers(receiver.accepted).size).toBe(250);
    await harness.publish('a', 'b');
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(1_000), 20_000);
    expect(receiver.received).toHaveLength(1_000);
    expect(receiver.overlapping).toEqual([]);
    expect(harness.errors).toEqual([]);
  });

  test('reaches all but those that hang, and those get each event once when they answer', async () => {
    const latch = createLatch();
    await using hanging = await startReceiver(() => latch.opened.then(() => 200));
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { timeoutMs: 60_000, maxInFlight: 3 });
    await subscribeMany(harness, hanging.url, 3);
    await subscribeMany(harness, receiver.url, 120);
    harness.startWorker();
    for (const [i, filing] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      await harness.publish(filing);
      await vi.waitFor(() => expect(receiver.accepted).toHaveLength((i + 1) * 120), 10_000);
    }
    expect(hanging.inFlight()).toBe(9);
    latch.open();
    await vi.waitFor(() => expect(hanging.accepted).toHaveLength(15), 10_000);
    expect(hanging.received).toHaveLength(15);
    expect(receiver.received).toHaveLength(5 * 120);
  });

  test('is read for the others although one that hangs has taken none for long', async () => {
    const latch = createLatch();
    await using hanging = await startReceiver(() => latch.opened.then(() => 200));
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { timeoutMs: 60_000, maxInFlight: 3 });
    const read = vi.spyOn(harness.stores.deliveries, 'read');
    await harness.subscribe(hanging.url);
    await harness.subscribe(receiver.url);
    harness.startWorker();
    const filings = Array.from({ length: 10 }, (_, i) => `f${i}`);
    for (let events = 10; events <= 300; events += 10) {
      await harness.publish(...filings);
      await vi.waitFor(() => expect(receiver.accepted).toHaveLength(events), {
        timeout: 10_000,
        interval: 2,
      });
    }
    // No look at the log but was ready to take entries.
    expect(read.mock.calls.length).toBeGreaterThan(30);
    expect(read.mock.calls.filter(([, , , , entries]) => entries === 0)).toEqual([]);
    latch.open();
    await vi.waitFor(() => expect(hanging.accepted).toHaveLength(300), 20_000);
    expect(hanging.received).toHaveLength(300);
  });

  test('is sent by turns: each gets its first callback before the others get many', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(() => latch.opened.then(() => 200));
    await using harness = await createHarness(redis);
    await subscribeMany(harness, receiver.url, 40);
    await harness.append('a', 'b', 'c', 'd', 'e', 'f');
    const running = harness.drain();
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(240), 5_000);
    expect(numbers(receiver.received.slice(0, 100)).size).toBe(40);
    latch.open();
    await running;
    expect(receiver.received).toHaveLength(240);
  });

  test('is behind those for whom it is not, also while another one hangs', async () => {
    const latch = createLatch();
    await using hanging = await startReceiver(() => latch.opened.then(() => 200));
    await using harness = await createHarness(redis, { timeoutMs: 60_000 });
    await harness.subscribe(hanging.url);
    const other = await harness.subscribe(nowhere, unasked);
    await harness.append('a');
    const running = harness.drain();
    await vi.waitFor(() => expect(hanging.inFlight()).toBe(1));
    await vi.waitFor(async () => expect((await harness.state(other)).cursor).toBe(1), 10_000);
    expect(hanging.inFlight()).toBe(1);
    latch.open();
    await running;
  });

  test('does not wait for one that has hundreds of events to catch up on', async () => {
    const order: string[] = [];
    await using receiver = await startReceiver(({ headers }) => {
      order.push(String(headers['x-number'] ?? 'behind'));
      return new Promise((resolve) => setTimeout(resolve, 2, 200));
    });
    await using harness = await createHarness(redis, { maxInFlight: 1 });
    await harness.subscribe(receiver.url);
    await harness.append(...Array.from({ length: 600 }, (_, i) => `f${i}`));
    await subscribeMany(harness, receiver.url, 5);
    await harness.append('new');
    await harness.drain();
    expect(order).toHaveLength(601 + 5);
    const others = order.flatMap((name, i) => (name === 'behind' ? [] : [i]));
    expect(Math.max(...others)).toBeLessThan(300);
  });

  test('does not wait for one with a record that cannot be read, and its level stays behind for that one', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const [broken = ''] = await subscribeMany(harness, receiver.url, 120);
    const { state } = harness.keys.subscription(broken);
    const before = await harness.redis.hgetall(state);
    await harness.redis.multi().del(state).set(state, 'of another type').exec();
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(119), 10_000);
    await harness.redis.multi().del(state).hset(state, before).exec();
    await harness.publish('b');
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(240), 15_000);
    expect(receiver.received).toHaveLength(240);
    expect(numbers(receiver.accepted).size).toBe(120);
    expect(harness.errors).toEqual([]);
  });

  test('costs Redis no write for each of those that do not want it, and few commands in all', async () => {
    // Commands of other files would count.
    await using stack = new AsyncDisposableStack();
    const on = shareOf(stack.use(await startPrivateRedis()).url);
    stack.defer(on.cleanup);
    const costs: number[] = [];
    for (const count of [100, 400]) {
      await using harness = await createHarness(on);
      const ids: string[] = [];
      for (let i = 0; i < count; i += 1) ids.push(await harness.subscribe(nowhere, unasked));
      const run = () => harness.deliverers.run(harness.account, new AbortController().signal);
      // The scripts are known to Redis by then, and the subscriptions to the process.
      await harness.append('a', 'b');
      await run();
      await harness.append('c', 'd', 'e');
      const { commands, result } = await rowsRead(on.connect(), run);
      expect(result).toEqual({ wakeAt: null });
      costs.push(commands);
      const head = (await harness.log.head(harness.account)).position;
      for (const id of ids.slice(0, 3)) {
        expect((await harness.stored.of(id).state())['cursor']).toBe('0');
        expect(await harness.state(id)).toMatchObject({ cursor: head, done: '' });
      }
    }
    expect(costs[1]).toBe(costs[0]);
    expect(costs[0]).toBeLessThan(40);
  });
});

describe('another account of the process', () => {
  test.each([
    ['that have few callbacks in flight each', 300, 1],
    ['that would take all places of the process', 60, 3],
  ])(
    'gets its callback at once while one has hundreds of subscriptions that hang, %s',
    async (_, count, maxInFlight) => {
      const latch = createLatch();
      await using hangs = await startReceiver(() => latch.opened.then(() => 200));
      await using other = await startReceiver();
      await using harness = await createHarness(redis, {
        timeoutMs: 60_000,
        maxInFlight,
        callbacksAtOnce: 120,
      });
      await subscribeMany(harness, hangs.url, count);
      const account = `b${harness.account}`;
      await harness.subscriptions.create(newSubscription(account, other.url), null);
      harness.startWorker();
      await harness.publish('a', 'b', 'c');
      await vi.waitFor(() => expect(hangs.inFlight()).toBeGreaterThan(100), 10_000);
      const publishedAt = performance.now();
      const keys = createKeys(redis.prefix).account(account);
      await appendEvent(harness.redis, keys, eventOf(account, 'f', 1), Date.now());
      await harness.waker.wake(account);
      await vi.waitFor(() => expect(other.accepted).toHaveLength(1), 5_000);
      expect(performance.now() - publishedAt).toBeLessThan(1_500);
      expect(hangs.inFlight()).toBeLessThan(120);
      latch.open();
      await vi.waitFor(() => expect(hangs.accepted).toHaveLength(3 * count), 30_000);
      expect(hangs.received).toHaveLength(3 * count);
    },
  );
});
