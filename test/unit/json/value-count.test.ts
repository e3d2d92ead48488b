import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasMoreValues } from '../../../src/json/value-count.ts';

test.each([
  ['', 1, false],
  ['5', 1, false],
  ['[]', 1, true],
  ['[1,2]', 3, false],
  ['[1,2]', 2, true],
  ['{"a":1,"b":[2,3]}', 5, false],
  ['{"a":1,"b":[2,3]}', 4, true],
  ['",[{,[{"', 1, false],
  [String.raw`"\",[{\\"`, 1, false],
  [String.raw`["\\",1]`, 3, false],
  [String.raw`["\\",1]`, 2, true],
])('%s has more than %i values: %s', (text, max, more) => {
  expect(hasMoreValues(text, max)).toBe(more);
});

test('no JSON has more values than are counted', () => {
  const valuesOf = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? Object.values(value).reduce<number>((sum, inner) => sum + valuesOf(inner), 1)
      : 1;
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary' }), (text) => {
      expect(hasMoreValues(text, valuesOf(JSON.parse(text)) - 1)).toBe(true);
    }),
  );
});
