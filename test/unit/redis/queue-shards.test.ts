import { expect, test } from 'vitest';
import { clusterShards, createQueueShards, oneShard } from '../../../src/redis/jobs/queue-shards.ts';

const shards = createQueueShards('{~queues}', clusterShards);

test('a single Redis has one shard under the usual name', () => {
  const one = oneShard('{~queues}');
  expect([one.count, one.prefix(0), one.homeOf('acme')]).toEqual([1, '{~queues}', 0]);
});

test('the shards of a cluster are spread over its servers', () => {
  const prefixes = Array.from({ length: 16 }, (_, shard) => shards.prefix(shard));
  const slots = prefixes.map(slotOf);
  expect(new Set(slots).size).toBe(16);
  // Three primaries have a third of the slots each.
  const primaries = slots.map((slot) => Math.floor((slot * 3) / 16_384));
  expect([0, 1, 2].map((n) => primaries.filter((each) => each === n).length)).toEqual([6, 5, 5]);
});

test('an account has the same shard in every process and version', () => {
  expect(['default', 'acme', 'agency-7', 'a', '0'].map(shards.homeOf)).toEqual([7, 2, 10, 10, 15]);
});

test('every shard gets its share of the accounts', () => {
  const counts = new Map<number, number>();
  for (let i = 0; i < 4_000; i += 1) {
    const home = shards.homeOf(`account-${i}`);
    counts.set(home, (counts.get(home) ?? 0) + 1);
  }
  expect([...counts.keys()].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, i) => i));
  for (const count of counts.values()) expect(Math.abs(count - 250)).toBeLessThan(80);
});

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
