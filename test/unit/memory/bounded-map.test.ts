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
