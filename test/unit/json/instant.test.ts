import { expect, test } from 'vitest';
import { instantMs, isInstant } from '../../../src/json/instant.ts';

test.each([
  ['2026-11-21T10:00:00Z', Date.UTC(2026, 10, 21, 10)],
  ['2026-11-21t10:00:00z', Date.UTC(2026, 10, 21, 10)],
  ['2026-11-21T10:00:00.5Z', Date.UTC(2026, 10, 21, 10, 0, 0, 500)],
  ['2026-11-21T10:00:00.123456789Z', Date.UTC(2026, 10, 21, 10, 0, 0, 123)],
  ['2026-11-21T10:00:00+05:30', Date.UTC(2026, 10, 21, 4, 30)],
  ['2024-02-29T00:00:00-01:00', Date.UTC(2024, 1, 29, 1)],
])('%s is a time', (text, ms) => {
  expect(isInstant(text)).toBe(true);
  expect(instantMs(text)).toBe(ms);
});

test.each([
  '',
  'now',
  '2026-11-21',
  '2026-11-21T10:00:00',
  '2026-11-21 10:00:00Z',
  '2026-11-21T10:00Z',
  '2026-13-01T00:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '2026-11-21T25:00:00Z',
  '2026-11-21T10:61:00Z',
  '1700000000',
  ' 2026-11-21T10:00:00Z',
])('%j is no time', (text) => {
  expect(isInstant(text)).toBe(false);
});

test('no text is no time', () => {
  expect([instantMs(null), instantMs(undefined)]).toEqual([null, null]);
});
