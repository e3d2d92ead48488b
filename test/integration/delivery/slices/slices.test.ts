import { afterAll, describe, expect, test, vi } from 'vitest';
import { createHeldDrains } from '../../../../src/delivery/slices/held-drains.ts';
import { createLatch, startReceiver, type Callback } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const subscriptions = 120;

async function subscribeMany(harness: Harness, url: string, count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, (_, i) => harness.subscribe(url, { headers: { 'x-number': `${i}` } })),
  );
}

/** The deduplication keys that are left: one would keep its subscription from being woken. */
async function heldKeys(harness: Harness): Promise<string[]> {
  return harness.redis.keys(`*${harness.account}*:de:*`);
}

const numbers = (callbacks: readonly Callback[]) =>
  new Set(callbacks.map(({ headers }) => headers['x-number']));

describe('an event for many subscriptions', () => {
  test('wakes them in slices, and reaches each once', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    await subscribeMany(harness, receiver.url, subscriptions);
    await harness.publish('a');
    // The same event once more before any slice is drained adds none.
    await harness.waker.wakeMatching(harness.account, [{ type: 'filing.pending', state: '', status: '' }]);
    const jobs = await harness.queue.queues[0].getJobs();
    expect(jobs.map(({ data }) => data.slice?.length)).toEqual([40, 40, 40]);
    harness.startWorker();
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(subscriptions), 10_000);
    expect(numbers(receiver.accepted).size).toBe(subscriptions);
    await vi.waitFor(async () => expect(await heldKeys(harness)).toEqual([]), 5_000);
    await harness.publish('a', 'b');
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(3 * subscriptions), 10_000);
    expect(receiver.received).toHaveLength(3 * subscriptions);
    expect(harness.errors).toEqual([]);
  });

  test('reaches all but those that hang, whose drains hold nobody else, and are not begun twice', async () => {
    const latch = createLatch();
    await using hanging = await startReceiver(async () => {
      await latch.opened;
      return 200;
    });
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { timeoutMs: 20_000, concurrency: 60 });
    // Its drain is under way before the slice is.
    await harness.subscribe(hanging.url);
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(hanging.inFlight()).toBe(1), 5_000);
    await subscribeMany(harness, hanging.url, 2);
    await subscribeMany(harness, receiver.url, subscriptions);
    for (const [i, filing] of ['b', 'c', 'd'].entries()) {
      await harness.publish(filing);
      await vi.waitFor(() => expect(receiver.accepted).toHaveLength((i + 1) * subscriptions), 10_000);
    }
    expect(numbers(hanging.received).size).toBe(3);
    latch.open();
    await vi.waitFor(() => expect(hanging.accepted).toHaveLength(4 + 2 * 3), 10_000);
    await vi.waitFor(async () => expect(await heldKeys(harness)).toEqual([]), 10_000);
    expect(hanging.received).toHaveLength(4 + 2 * 3);
    expect(receiver.received).toHaveLength(3 * subscriptions);
    expect(harness.errors).toEqual([]);
  });

  test('is tried again for those whose drain failed, and for them alone', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    await subscribeMany(harness, receiver.url, subscriptions);
    const claim = vi.spyOn(harness.delivery, 'claim');
    claim.mockRejectedValueOnce(new Error('no such thing'));
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(subscriptions), 10_000);
    expect(harness.errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^drain of \S+ sub_\w+: no such thing$/),
    ]);
    expect(receiver.received).toHaveLength(subscriptions);
  });

  test('is tried again in slices for those whose drain failed, where these are many', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    await subscribeMany(harness, receiver.url, subscriptions);
    const away = vi.spyOn(harness.delivery, 'claim').mockRejectedValue(new Error('Redis is away'));
    const wakeAlone = vi.spyOn(harness.queue, 'wakeAt');
    const wakeSlices = vi.spyOn(harness.queue, 'wakeManyLater');
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(harness.errors).toHaveLength(subscriptions), 10_000);
    away.mockRestore();
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(subscriptions), 10_000);
    expect(wakeSlices.mock.calls.flatMap(([, woken]) => woken)).toHaveLength(subscriptions);
    expect(wakeAlone).not.toHaveBeenCalled();
    expect(receiver.received).toHaveLength(subscriptions);
    await vi.waitFor(async () => expect(await heldKeys(harness)).toEqual([]), 5_000);
  });

  test('does not wait for the others of its slice where one has a broken record', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const [broken = ''] = await subscribeMany(harness, receiver.url, subscriptions);
    const { lanes } = harness.keys.subscription(broken);
    await harness.redis.set(lanes, 'of another type');
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(subscriptions - 1), 10_000);
    expect(receiver.received).toHaveLength(subscriptions - 1);
    expect(harness.errors).toEqual([]);
    await vi.waitFor(async () => {
      const [state] = await harness.subscriptions.deliveries(harness.account, [broken]);
      expect(state?.blocked?.reason).toBe(`the record ${lanes} cannot be read: it is of another type`);
    }, 5_000);
  });

  test('reaches all once what all of them read can be read again, and no drain fails for another one', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    await subscribeMany(harness, receiver.url, subscriptions);
    await harness.append('a');
    const bodies = (await harness.redis.dumpBuffer(harness.keys.bodies)) ?? '';
    await harness.redis.multi().del(harness.keys.bodies).set(harness.keys.bodies, 'of another type').exec();
    const claim = vi.spyOn(harness.delivery, 'claim');
    harness.startWorker();
    const wake = () =>
      harness.waker.wakeMatching(harness.account, [{ type: 'filing.pending', state: '', status: '' }]);
    await wake();
    await vi.waitFor(() => expect(claim.mock.calls.length).toBeGreaterThanOrEqual(subscriptions), 10_000);
    await Promise.allSettled(claim.mock.results.map(({ value }) => value as Promise<unknown>));
    await harness.redis.restore(harness.keys.bodies, 0, bodies, 'REPLACE');
    await vi.waitFor(async () => {
      await wake();
      expect(receiver.accepted).toHaveLength(subscriptions);
    }, 10_000);
    expect(harness.errors).toEqual([]);
  });

  test('goes on for the others of a slice where one hangs, after Redis did not take back what had ended', async () => {
    const latch = createLatch();
    await using hanging = await startReceiver(async () => {
      await latch.opened;
      return 200;
    });
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { timeoutMs: 20_000 });
    await harness.subscribe(hanging.url);
    await subscribeMany(harness, receiver.url, subscriptions);
    const away = vi.spyOn(harness.queue, 'giveBack').mockRejectedValue(new Error('no reply'));
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(subscriptions), 10_000);
    await vi.waitFor(() => expect(away.mock.calls.length).toBeGreaterThanOrEqual(3), 5_000);
    away.mockRestore();
    await harness.publish('b');
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(2 * subscriptions), 10_000);
    expect(hanging.inFlight()).toBeGreaterThan(0);
    latch.open();
    await vi.waitFor(async () => expect(await heldKeys(harness)).toEqual([]), 10_000);
    expect(receiver.received).toHaveLength(2 * subscriptions);
  });

  test('asks for the retries of a slice at once', async () => {
    await using receiver = await startReceiver(() => 500);
    await using harness = await createHarness(redis, { retryMs: [60_000] });
    await subscribeMany(harness, receiver.url, subscriptions);
    const wakeAt = harness.queue.wakeAt.bind(harness.queue);
    let [underWay, most] = [0, 0];
    vi.spyOn(harness.queue, 'wakeAt').mockImplementation(async (...args) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await wakeAt(...args);
      underWay -= 1;
    });
    harness.startWorker();
    await harness.publish('a');
    const wakeUps = () => harness.redis.keys(`*${harness.account}*:de:wake.*`);
    await vi.waitFor(async () => expect(await wakeUps()).toHaveLength(subscriptions), 10_000);
    // One for each slice if they were asked for one after the other.
    await vi.waitFor(() => expect(most).toBeGreaterThan(3), 10_000);
  });
});

test('a job that has passed to another worker takes no drains, and leaves the slice to it', async () => {
  const client = redis.connect();
  const key = (kind: string) => (id: string) => `${redis.prefix}:held:${kind}:${id}`;
  const keys = { deduplication: key('de'), next: key('dn'), lock: key('lock') };
  const { hold } = createHeldDrains(client);
  await client.set(keys.lock('1'), 'another');
  await client.set(keys.deduplication('slice'), '1');
  const former = { id: '1', token: 'former', slice: 'slice' };
  expect(await hold(keys, former, ['a', 'b'])).toEqual(new Set(['a', 'b']));
  // The other worker has ended it; nobody would give the drains back.
  await client.del(keys.lock('1'));
  expect(await hold(keys, former, ['a', 'b'])).toEqual(new Set(['a', 'b']));
  expect(await client.exists(keys.deduplication('a'), keys.deduplication('b'))).toBe(0);
  expect(await client.get(keys.deduplication('slice'))).toBe('1');
  await client.set(keys.lock('1'), 'another');
  expect(await hold(keys, { id: '1', token: 'another', slice: 'slice' }, ['a', 'b'])).toEqual(new Set());
});

test('drains are given back with the wake-ups that came meanwhile, and none of another job, or once the job has passed on', async () => {
  const client = redis.connect();
  const key = (kind: string) => (id: string) => `${redis.prefix}:given:${kind}:${id}`;
  const keys = { deduplication: key('de'), next: key('dn'), lock: key('lock') };
  const { hold, release } = createHeldDrains(client);
  const job = { id: '1', token: 'own', slice: 'slice' };
  await client.set(keys.lock('1'), 'own');
  await client.set(keys.deduplication('others'), '2');
  expect(await hold(keys, job, ['woken', 'quiet', 'others'])).toEqual(new Set(['others']));
  for (const id of ['woken', 'others']) await client.hset(keys.next(id), 'name', 'drain');
  const former = { ...job, token: 'former' };
  expect(await release(keys, former, ['woken', 'quiet', 'others'])).toEqual(new Set());
  expect(await release(keys, job, ['woken', 'quiet', 'others'])).toEqual(new Set(['woken']));
  expect(await client.keys(`${redis.prefix}:given:d*`)).toHaveLength(2);
  expect(await client.exists(keys.deduplication('others'), keys.next('others'))).toBe(2);
});

test('what many were woken for is given time before a look for laggards wakes each alone', async () => {
  await using harness = await createHarness(redis);
  await subscribeMany(harness, 'http://127.0.0.1:9', subscriptions);
  await harness.publish('a');
  await harness.waker.keepAwake(harness.account);
  expect(await harness.queue.waiting()).toBe(3);
  await harness.waker.wakeLagging(harness.account);
  expect(await harness.queue.waiting()).toBe(3 + subscriptions);
});
