import { expect, test } from 'vitest';
import { eventPatterns, eventPrefixes, eventTypes } from '../../../src/events/event-types.ts';
import { parseTypes } from '../../../src/api/shared/patterns.ts';
import { matchesFilter } from '../../../src/api/events/scan.ts';

test('every prefix that a type has may be asked for', () => {
  expect(eventPrefixes).toEqual(['filing.*', 'account.*', 'subscription.*']);
  expect(eventPatterns).toHaveLength(1 + eventPrefixes.length + Object.keys(eventTypes).length);
});

test('a filter of types is a list with commas', () => {
  expect(parseTypes(undefined)).toBeNull();
  expect(parseTypes('filing.*, ping')).toEqual(['filing.*', 'ping']);
});

const entry = { type: 'filing.paid', filingId: 'f' };

test.each([
  [{ types: null, filingId: null }, true],
  [{ types: ['filing.*'], filingId: null }, true],
  [{ types: ['filing.unpaid', 'filing.paid'], filingId: 'f' }, true],
  [{ types: ['filing.unpaid'], filingId: null }, false],
  [{ types: ['account.*'], filingId: 'f' }, false],
  [{ types: null, filingId: 'g' }, false],
  [{ types: ['filing.*'], filingId: '' }, false],
])('the filter %j takes a payment: %s', (filter, expected) => {
  expect(matchesFilter(filter, entry)).toBe(expected);
});
