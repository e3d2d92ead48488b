import { expect, test } from 'vitest';
import { shardOf } from '../../../../src/redis/shards/shard-of.ts';

const accounts = Array.from({ length: 4_000 }, (_, i) => `account-${i}`);

test('an account keeps its shard from version to version', () => {
  const shards = ['default', 'acme', 'agency-7', 'a', '0'].map((name) => shardOf(name, 16));
  expect(shards).toEqual([4, 15, 3, 12, 12]);
  expect(accounts.every((name) => shardOf(name, 1) === 0)).toBe(true);
});

test('every shard gets its share of the accounts', () => {
  const counts = new Map<number, number>();
  for (const name of accounts) counts.set(shardOf(name, 16), (counts.get(shardOf(name, 16)) ?? 0) + 1);
  expect([...counts.keys()].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, i) => i));
  for (const count of counts.values()) expect(Math.abs(count - 250)).toBeLessThan(80);
});

test('one more shard moves accounts to that shard only, and its share of them', () => {
  const moved = accounts.filter((name) => shardOf(name, 8) !== shardOf(name, 9));
  expect(moved.every((name) => shardOf(name, 9) === 8)).toBe(true);
  expect(Math.abs(moved.length - 4_000 / 9)).toBeLessThan(100);
});
