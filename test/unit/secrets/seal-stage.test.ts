import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  firstMark,
  formerForMs,
  laterMark,
  markText,
  mayBeMarkedBound,
  parseMark,
  sealStage,
  type SealMark,
} from '../../../src/secrets/seal-stage.ts';

const marks: fc.Arbitrary<SealMark> = fc.oneof(fc.constant('bound' as const), fc.nat());

test.each([
  ['an empty store', { bound: 0, former: 0 }, 'bound'],
  ['a store with bound seals alone', { bound: 3, former: 0 }, 'bound'],
  ['a store of an older version', { bound: 0, former: 3 }, 1_000 + formerForMs],
  ['a store that lost its mark on the way', { bound: 1, former: 3 }, 1_000],
])('%s is marked by what is in it', (_, seals, mark) => {
  expect(firstMark(seals, 1_000)).toBe(mark);
});

test('an hour passes before the first seal that older versions cannot open, and it is never gone back', () => {
  const mark = firstMark({ bound: 0, former: 1 }, 0);
  expect([0, 3_599_999, 3_600_000].map((now) => sealStage(mark, now))).toEqual([
    'former',
    'former',
    'binding',
  ]);
  const order = ['former', 'binding', 'bound'];
  fc.assert(
    fc.property(marks, fc.nat(), fc.nat(), (any, now, later) => {
      expect(order.indexOf(sealStage(any, now + later))).toBeGreaterThanOrEqual(
        order.indexOf(sealStage(any, now)),
      );
    }),
  );
});

test('of two marks the one that is further on counts', () => {
  fc.assert(
    fc.property(marks, marks, fc.nat(), (one, other, now) => {
      const mark = laterMark(one, other);
      const order = ['former', 'binding', 'bound'];
      const stages = [one, other].map((each) => order.indexOf(sealStage(each, now)));
      expect(order.indexOf(sealStage(mark, now))).toBe(Math.max(...stages));
    }),
  );
  expect([laterMark(null, 5), laterMark(5, null), laterMark(null, null)]).toEqual([5, 5, null]);
});

test('the store is called bound only after the last write of the other kind has ended', () => {
  expect([0, 1_000, 300_999, 301_000].map((now) => mayBeMarkedBound(1_000, now))).toEqual([
    false,
    false,
    false,
    true,
  ]);
  expect([mayBeMarkedBound(null, 1e12), mayBeMarkedBound('bound', 1e12)]).toEqual([false, false]);
});

test('a mark is read as it was written, and any other text opens the least', () => {
  fc.assert(
    fc.property(marks, (mark) => {
      expect(parseMark(markText(mark))).toBe(mark);
    }),
  );
  expect(parseMark(null)).toBeNull();
  for (const text of ['', 'from', 'from -1', 'from 1e9', 'FROM 1', 'from 1 '])
    expect(parseMark(text)).toBe('bound');
});
