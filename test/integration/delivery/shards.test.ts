import { afterAll, expect, test, vi } from 'vitest';
import { createShardUpkeep } from '../../../src/daemon/upkeep/shard-upkeep.ts';
import { announceMs, gapMs } from '../../../src/redis/shards/shard-plan.ts';
import { createLatch, startReceiver } from '../../support/receivers/receiver.ts';
import { createProduct, testConfig } from '../../support/daemon/product.ts';
import { appendEvent } from '../../support/redis/append-script.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { eventOf, newSubscription } from './drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const accounts = ['acme', 'agency-7', 'bluebonnet', 'default', 'oak', 'pine'];
const removed = 'removed-1';
const types = [{ type: 'filing.pending', state: '', status: '' }];

/** A process of the deployment; all have one clock, which tests set forward. */
async function startProcess(clock: { ahead: number }, queueShards: number) {
  const errors: Error[] = [];
  const product = await createProduct(testConfig(redis.prefix, redis.url), {
    overrides: {
      queueShards,
      now: () => Date.now() + clock.ahead,
      onError: (error) => void errors.push(error),
    },
  });
  const worker = product.parts.startDelivery();
  return {
    ...product.parts,
    errors,
    async [Symbol.asyncDispose]() {
      await worker.stop();
      await product[Symbol.asyncDispose]();
    },
  };
}

test('raising and lowering the number beside a process with another one loses and doubles nothing', async () => {
  const clock = { ahead: 0 };
  const held = createLatch();
  // The first callback of each account is under way while the number changes.
  await using receiver = await startReceiver(async ({ sequence }) => {
    if (sequence === 1) await held.opened;
    return 200;
  });
  await using one = await startProcess(clock, 1);
  const sequences = new Map<string, number>();
  async function publish(by: typeof one): Promise<void> {
    for (const account of accounts) {
      const sequence = (sequences.get(account) ?? 0) + 1;
      sequences.set(account, sequence);
      const event = eventOf(account, `filing-of-${account}`, sequence);
      await appendEvent(by.redis, by.keys.account(account), event, Date.now());
      await by.waker.wakeMatching(account, types);
    }
  }
  const counts = async ({ drainQueue }: typeof one) =>
    Promise.all(drainQueue.queues().map((queue) => queue.getJobCountByTypes('active', 'waiting', 'delayed')));
  const untilAccepted = (count: number) =>
    vi.waitFor(() => expect(receiver.accepted).toHaveLength(count), 8_000);

  for (const account of accounts)
    await one.stores.subscriptions.create(newSubscription(account, receiver.url), null);
  await publish(one);
  await vi.waitFor(() => expect(receiver.received).toHaveLength(accounts.length), 5_000);

  await using other = await startProcess(clock, 4);
  await other.shards.look();
  await one.shards.look();
  clock.ahead += announceMs + gapMs;
  expect(new Set(accounts.map(other.shards.homeOf)).size).toBeGreaterThan(2);
  // The drains of the former shard hold their callbacks, and each account gets a wake-up in its new one.
  await publish(other);
  await publish(one);
  await vi.waitFor(async () =>
    expect((await counts(other)).filter((count) => count > 0).length).toBeGreaterThan(2),
  );
  expect(receiver.received).toHaveLength(accounts.length);
  held.open();
  await untilAccepted(3 * accounts.length);

  const third = await startProcess(clock, 2);
  clock.ahead += 120_000;
  await createShardUpkeep(other).moveSchedules();
  await other.shards.look();
  await other.shards.look();
  // As each does within the time of the announcement, which the clock leaves out.
  await Promise.all([one.shards.look(), third.shards.look()]);
  clock.ahead += announceMs + gapMs;
  expect(other.shards.plan()).toMatchObject({ number: 2, former: 4 });
  await Promise.all([publish(one), publish(other), publish(third)]);
  await untilAccepted(6 * accounts.length);
  await third[Symbol.asyncDispose]();

  expect(receiver.received).toHaveLength(receiver.accepted.length);
  expect(receiver.overlapping).toEqual([]);
  for (const account of accounts) {
    const order = receiver.accepted.filter(({ filingId }) => filingId === `filing-of-${account}`);
    expect(order.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6]);
  }
  await vi.waitFor(async () => expect(await counts(other)).toEqual([0, 0, 0, 0]), 5_000);
  expect([one.errors, other.errors]).toEqual([[], []]);
}, 30_000);

test('schedules move to the shards of their accounts, once, and those of removed accounts go', async () => {
  const clock = { ahead: 0 };
  const start = (queueShards: number) =>
    createProduct(testConfig(`${redis.prefix}polls`, redis.url), {
      overrides: { queueShards, now: () => Date.now() + clock.ahead },
    });
  await using _ = await start(1);
  await using product = await start(4);
  const { pollQueue, shards, stores } = product.parts;
  await shards.look();
  const settings = { baseUrl: 'http://127.0.0.1:1', partnerKey: 'key', sweepIntervalMs: null };
  for (const account of accounts) {
    await stores.accounts.put(account, { ...settings, pollIntervalMs: 60_000 }, Date.now());
    await pollQueue.schedule(account, 60_000);
  }
  // It moves, and is found to be gone then.
  await pollQueue.schedule(removed, 60_000);
  const next = () =>
    Promise.all(
      pollQueue.queues().map(async (queue) => {
        const schedulers = await queue.getJobSchedulers(0, -1, true);
        return schedulers.map(({ key, next: at }) => `${key} ${at}`).toSorted();
      }),
    );
  const before = (await next()).flat();
  expect(before).toHaveLength(accounts.length + 1);
  clock.ahead += 2 * announceMs;
  const upkeep = createShardUpkeep(product.parts);
  await upkeep.moveSchedules();
  const after = await next();
  expect(after.flat().toSorted()).toEqual(before.filter((each) => !each.includes(removed)).toSorted());
  expect(after.map((keys) => keys.map((key) => shards.homeOf(key.slice(5).split(' ')[0] ?? '')))).toEqual(
    after.map((keys, shard) => keys.map(() => shard)),
  );
  expect(shards.plan().moved).toBe(true);
  // Each was polled once when it was scheduled, and not for having moved.
  const waiting = await Promise.all(pollQueue.queues().map((queue) => queue.getWaitingCount()));
  expect(waiting.reduce((sum, count) => sum + count, 0)).toBe(accounts.length + 1);
});
