import { expect, test } from 'vitest';
import { createCounts } from '../../../src/memory/counts.ts';

test('what was added and not removed is counted, key by key', () => {
  const counts = createCounts();
  counts.add('a');
  counts.add('a');
  counts.add('b');
  expect([counts.of('a'), counts.of('b'), counts.of('c')]).toEqual([2, 1, 0]);
  counts.remove('a');
  counts.remove('b');
  counts.remove('b');
  counts.remove('c');
  expect([counts.of('a'), counts.of('b'), counts.of('c')]).toEqual([1, 0, 0]);
  counts.add('b');
  expect(counts.of('b')).toBe(1);
});
