import { expect, it } from 'vitest';
import { spanOf } from '../../../src/partner/read-span.ts';

const at = 1_000_000_000;

it.each([
  ['is from question to answer', at, at + 300, 299.5, { start: at, end: at + 300 }],
  ['never ends before it began', at, at - 1, 0.3, { start: at, end: at }],
  [
    'is on the clock as it is after it was set back',
    at,
    at - 90_000 + 300,
    299.5,
    { start: at - 90_000, end: at - 89_700 },
  ],
  [
    'is on the clock as it is after it was set ahead',
    at,
    at + 90_000 + 300,
    299.5,
    { start: at + 90_000, end: at + 90_300 },
  ],
])("a read's span %s", (_title, start, end, tookMs, expected) => {
  expect(spanOf(start, end, tookMs)).toEqual(expected);
});
