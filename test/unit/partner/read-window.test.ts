import { expect, it } from 'vitest';
import { windowOf } from '../../../src/partner/partner-client.ts';

const at = 1_000_000_000;

it.each([
  ['is from question to answer', at, at + 300, 299.5, { start: at, end: at + 300 }],
  ['never ends before it began', at, at - 1, 0.3, { start: at, end: at }],
  [
    'is told by the clock as it is after it was set back',
    at,
    at - 90_000 + 300,
    299.5,
    { start: at - 90_000, end: at - 89_700 },
  ],
  [
    'is told by the clock as it is after it was set ahead',
    at,
    at + 90_000 + 300,
    299.5,
    { start: at + 90_000, end: at + 90_300 },
  ],
])("a read's window %s", (_title, start, end, tookMs, expected) => {
  expect(windowOf(start, end, tookMs)).toEqual(expected);
});
