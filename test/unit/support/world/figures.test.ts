import { expect, test } from 'vitest';
import { describeRecoveries } from '../../../support/world/kill-at-random.ts';
import { quarters } from '../../../support/world/memory.ts';

test('a run is told by the median of each of its quarters', () => {
  const samples = [1, 9, 1, 2, 2, 90, 5, 4, 3, 70, 8, 8].map((redisKeys) => ({
    daemonBytes: 0,
    redisBytes: 0,
    redisKeys,
  }));
  expect(quarters(samples, 'redisKeys')).toEqual([1, 2, 4, 8]);
});

test('recoveries are told by their middle, their 99th percentile and their worst', () => {
  const recoveries = Array.from({ length: 200 }, (_, i) => ({ startMs: 1_000, deliveryMs: 200 - i }));
  expect(describeRecoveries(recoveries)).toBe(
    '200 times ms to the start p50 1000 p99 1000 max 1000, to a new change delivered to everybody p50 100 p99 198 max 200',
  );
});
