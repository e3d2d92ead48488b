import { expect, test } from 'vitest';
import { isNestedDeeper, weightOf } from '../../../src/json/nesting.ts';

test.each([
  ['1', 0, false],
  ['null', 0, false],
  ['{}', 0, true],
  ['{}', 1, false],
  ['{"a":1,"b":[2]}', 1, true],
  ['{"a":1,"b":[2]}', 2, false],
  ['[[],[[[]]]]', 3, true],
  ['[[],[[[]]]]', 4, false],
  ['{"__proto__":{"a":{}}}', 2, true],
])('whether %s is nested deeper than %i: %s', (text, levels, expected) => {
  expect(isNestedDeeper(JSON.parse(text), levels)).toBe(expected);
});

test.each([
  ['null', 1],
  ['[]', 1],
  ['{"a":1,"b":[2,"x"]}', 5],
])('%s has %i values', (text, values) => {
  expect(weightOf(JSON.parse(text), 2)).toBe(values);
});

test('what is nested a million times is judged without going there', () => {
  const deep: unknown = JSON.parse('['.repeat(1_000_000) + ']'.repeat(1_000_000));
  expect(isNestedDeeper(deep, 50)).toBe(true);
});
