import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBoundedMap } from '../../../src/memory/bounded-map.ts';

const keys = ['a', 'b', 'c', 'd'];

function filled(max: number, ...names: readonly string[]) {
  const map = createBoundedMap<string, number>(max);
  for (const [i, name] of names.entries()) map.set(name, i);
  return { map, left: () => keys.filter((key) => map.get(key) !== undefined) };
}

test('one entry too many removes the one whose use lies back longest', () => {
  expect(filled(3, 'a', 'b', 'c', 'd').left()).toEqual(['b', 'c', 'd']);
});

test('reading and setting again are uses', () => {
  const { map, left } = filled(3, 'a', 'b', 'c', 'a');
  expect(map.get('b')).toBe(1);
  map.set('d', 9);
  expect(left()).toEqual(['a', 'b', 'd']);
  expect(map.get('a')).toBe(3);
});

test('what was deleted makes room', () => {
  const { map, left } = filled(2, 'a', 'b');
  map.delete('a');
  map.set('c', 1);
  expect(left()).toEqual(['b', 'c']);
});

test('entries with a weight go until the rest weighs at most the maximum', () => {
  const map = createBoundedMap<string, number>(10, (weight) => weight);
  for (const [key, weight] of Object.entries({ a: 3, b: 3, c: 3 })) map.set(key, weight);
  map.set('b', 4);
  expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([3, 4, 3]);
  map.set('d', 5);
  expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual([undefined, undefined, 3, 5]);
  map.delete('d');
  map.set('e', 7);
  expect(['c', 'e'].map((key) => map.get(key))).toEqual([3, 7]);
  map.set('f', 11);
  expect(['c', 'e', 'f'].map((key) => map.get(key))).toEqual([undefined, undefined, undefined]);
});

test('it holds the entries used last, whatever is done', () => {
  const step = fc.record({ key: fc.nat(9), write: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step), (max, steps) => {
      const map = createBoundedMap<number, string>(max);
      let used: number[] = [];
      for (const { key, write } of steps) {
        const isUse = write || used.includes(key);
        if (write) map.set(key, `v${key}`);
        else map.get(key);
        if (isUse) used = [...used.filter((each) => each !== key), key].slice(-max);
      }
      const all = [...Array.from({ length: 10 }).keys()];
      expect(all.map((key) => map.get(key))).toEqual(
        all.map((key) => (used.includes(key) ? `v${key}` : undefined)),
      );
    }),
  );
});
