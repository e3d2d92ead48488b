import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from '../../../../src/api/shared/paging.ts';
import { Problem } from '../../../../src/api/shared/problem.ts';

test('a cursor stands for its position, whatever is in it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (position) => {
      expect(decodeCursor('accounts', encodeCursor('accounts', position))).toBe(position);
    }),
  );
});

test('no cursor is the beginning', () => {
  expect(decodeCursor('events', undefined)).toBeNull();
});

test('a cursor goes through a URL as it is', () => {
  expect(encodeCursor('filings:ON HOLD', 'f/1?#&')).toMatch(/^[A-Za-z0-9_-]+$/);
});

test('any changed, added or missing character is refused', () => {
  const cursor = encodeCursor('events', '42');
  fc.assert(
    fc.property(fc.nat(cursor.length - 1), fc.constantFrom('A', 'b', '7', '_', '-', ''), (at, character) => {
      const altered = cursor.slice(0, at) + character + cursor.slice(at + 1);
      fc.pre(altered !== cursor);
      expect(() => decodeCursor('events', altered)).toThrow(Problem);
    }),
  );
  expect(() => decodeCursor('events', `${cursor}A`)).toThrow(Problem);
});

test.each([
  '',
  'x',
  '{}',
  'null',
  Buffer.from('[1,"42"]').toString('base64url'),
  Buffer.from('[2,"42","a"]').toString('base64url'),
])('%s is no cursor', (text) => {
  expect(() => decodeCursor('events', text)).toThrow(
    expect.objectContaining({ code: 'invalid_cursor', statusCode: 422 }),
  );
});

test.each([
  ['events', '0'],
  ['attempts', '1767225600000-3 sub_1'],
  ['dead-letters', '1767225600000-0'],
  ['subscriptions', '001767225600000 sub_1'],
  ['filings:', '0'],
  ['filings:COMPLETED', '1280 f_1 \n'],
  ['found-filings:[]', 'k 1767225600000 a UkVKRUNURUQ f_1 \n'],
] as const)('a cursor for %s is a place that such a list can have', (kind, position) => {
  expect(decodeCursor(kind, encodeCursor(kind, position))).toBe(position);
  expect(() => decodeCursor(kind, encodeCursor(kind, `x${position}`))).toThrow(Problem);
});

test('a cursor of one list does not work for another', () => {
  expect(() => decodeCursor('attempts', encodeCursor('dead-letters', '1-0'))).toThrow(Problem);
  expect(() => decodeCursor('filings:PAID', encodeCursor('filings:UNPAID', 'f'))).toThrow(Problem);
});
