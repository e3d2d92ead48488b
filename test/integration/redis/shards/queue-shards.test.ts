import { afterAll, expect, test } from 'vitest';
import { createKeys } from '../../../../src/redis/keys.ts';
import { openQueueShards } from '../../../../src/redis/shards/queue-shards.ts';
import { announceMs, gapMs } from '../../../../src/redis/shards/shard-plan.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
const settleMs = 60_000;
let deployments = 0;

/** A deployment whose processes have one clock, at 0. */
function deployment() {
  deployments += 1;
  const keys = createKeys(`${redis.prefix}${deployments}`);
  const client = redis.connect();
  const clock = { now: 1_000_000 };
  const changes: string[] = [];
  const start = (wanted: number, fresh = false) =>
    openQueueShards({
      redis: client,
      key: keys.shards,
      queues: keys.queues,
      wanted,
      fresh,
      settleMs,
      now: () => clock.now,
      onChange: ({ from, to }) => void changes.push(`${from} ${to}`),
    });
  return { keys, client, clock, changes, start };
}

test('one shard with the usual name needs no agreement', async () => {
  const { client, keys, start } = deployment();
  const shards = await start(1);
  expect([shards.count(), shards.prefix(0), shards.homeOf('acme')]).toEqual([1, keys.queues, 0]);
  expect(await client.exists(keys.shards)).toBe(0);
});

test('in an empty store the number is in force at once, under hash tags of their own', async () => {
  const { start } = deployment();
  const shards = await start(16, true);
  expect(shards.count()).toBe(16);
  const prefixes = Array.from({ length: 16 }, (_, shard) => shards.prefix(shard));
  const slots = prefixes.map(slotOf);
  expect(new Set(slots).size).toBe(16);
  // Three primaries have a third of the slots each.
  const primaries = slots.map((slot) => Math.floor((slot * 3) / 16_384));
  expect([0, 1, 2].map((n) => primaries.filter((each) => each === n).length)).toEqual([6, 5, 5]);
});

test('processes with different numbers follow the one that started last, all at the same time', async () => {
  const { clock, changes, start } = deployment();
  const former = await start(1);
  const later = await start(4);
  const moves = (account: string) => [former.homeOf(account), later.homeOf(account)];
  await later.look();
  await former.look();
  expect([former.count(), later.count()]).toEqual([4, 4]);
  clock.now += announceMs - 1;
  expect(names.map(moves)).toEqual(names.map(() => [0, 0]));
  clock.now += 1;
  const homes = names.map(moves);
  expect(homes.every(([one, other]) => one === other)).toBe(true);
  expect(new Set(homes.map(([one]) => one)).size).toBe(4);
  expect(former.formerHomeOf('acme')).toBe(0);
  expect([former.hasJustChanged(), later.hasJustChanged()]).toEqual([true, true]);
  clock.now += gapMs;
  expect(former.hasJustChanged()).toBe(false);
  await Promise.all([former.look(), later.look()]);
  expect(changes).toEqual(['1 4', '1 4']);
});

test('a change is over when the schedules were moved and the drains before it have ended', async () => {
  const { clock, start } = deployment();
  const first = await start(2);
  await first.look();
  clock.now += announceMs;
  const plan = first.plan();
  const second = await start(3);
  clock.now += settleMs;
  await second.look();
  expect(second.formerHomeOf('acme')).toBe(0);
  await first.noteMoved(plan);
  await second.look();
  expect(second.formerHomeOf('acme')).toBeNull();
  await second.look();
  expect(second.plan()).toMatchObject({ number: 2, next: 3, wanted: 3 });
});

test('shards beyond a smaller number are worked on until they are found empty', async () => {
  const { clock, start } = deployment();
  const first = await start(4, true);
  const lowering = await start(2);
  await lowering.look();
  clock.now += announceMs;
  expect(lowering.homeOf('acme')).toBeLessThan(2);
  await lowering.noteEmptyAbove(lowering.plan());
  expect((await start(2)).count()).toBe(4);
  await first.noteMoved(lowering.plan());
  clock.now += settleMs;
  await lowering.look();
  await lowering.noteEmptyAbove(lowering.plan());
  expect([first.count(), lowering.count(), (await start(2)).count()]).toEqual([4, 4, 2]);
});

test('a plan that was lost, or cannot be read, is written again by a process that knows it', async () => {
  const { client, keys, start } = deployment();
  const shards = await start(4, true);
  for (const [stored, count] of [
    [null, 4],
    ['garbage', 64],
  ] as const) {
    await (stored === null ? client.del(keys.shards) : client.set(keys.shards, stored));
    await shards.look();
    expect(JSON.parse((await client.get(keys.shards)) ?? '')).toMatchObject({ number: 4, highest: count });
    expect([shards.plan().number, shards.count()]).toEqual([4, count]);
  }
});

test('what is known is read again before it may be out of date', async () => {
  const { client, keys, start } = deployment();
  const shards = await start(4, true);
  await client.set(keys.shards, JSON.stringify({ ...shards.plan(), number: 2 }));
  await shards.known();
  expect(shards.plan().number).toBe(4);
  const { now } = performance;
  performance.now = () => now.call(performance) + 5_001;
  try {
    await shards.known();
  } finally {
    performance.now = now;
  }
  expect(shards.plan().number).toBe(2);
});

const names = Array.from({ length: 40 }, (_, i) => `account-${i}`);

function slotOf(key: string): number {
  return crc16(/\{(.*?)\}/.exec(key)?.[1] ?? '') % 16_384;
}

// CRC-16/XMODEM, as the specification of Redis Cluster has it.
function crc16(text: string): number {
  let crc = 0;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}
