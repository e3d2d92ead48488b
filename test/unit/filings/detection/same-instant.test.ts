import { describe, expect, it } from 'vitest';
import { isInstant, isNoInstant, isSameInstant } from '../../../../src/filings/detection/same-instant.ts';

describe('isNoInstant', () => {
  it.each([
    null,
    '',
    '0000-00-00T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '1970-01-01T00:00:00Z',
    '1971-12-31T23:00:00Z',
    '1972-01-01T00:00:00Z',
    '2026-11-20T10:00:03Z',
    '2026-13-45T10:00:03Z',
    '20261120100003',
    'soon',
  ])('of %j is what isSameInstant says of it and null', (text) => {
    expect(isNoInstant(text)).toBe(isSameInstant(text, null));
  });
});

describe('isSameInstant', () => {
  it.each([
    ['2026-02-01T10:00:03Z', '2026-02-01T10:00:03.000Z', true],
    ['2026-02-01T10:00:03Z', '2026-02-01T10:00:03+00:00', true],
    ['2026-02-01T10:00:03Z', '2026-02-01T11:00:03+01:00', true],
    ['2026-02-01T10:00:03Z', '2026-02-01T11:00:03+0100', true],
    ['2026-02-01T10:00:03Z', '2026-02-01 10:00:03', true],
    ['2026-02-01T10:00:03.123Z', '2026-02-01T10:00:03.123456Z', true],
    ['2026-02-01', '2026-02-01T00:00:00Z', true],
    ['2026-02-01T10:00:03Z', '2026-02-01T10:00:04Z', false],
    ['2026-02-01T10:00:03Z', '2026-02-01T10:00:03+01:00', false],
    ['soon', 'soon', true],
    ['soon', 'later', false],
    ['2026-13-45', '2026-13-46', false],
    ['1', '01', false],
    [null, null, true],
    [null, '2026-02-01', false],
    ['1767225600000', '1767225600000', true],
    ['1767225600000', '1767225600001', true],
    ['1767225600123', '1767225600124', false],
  ])('of %j and %j is %j', (a, b, same) => {
    expect(isSameInstant(a, b)).toBe(same);
    expect(isSameInstant(b, a)).toBe(same);
  });

  const written = '2026-11-20T10:00:03.482Z';
  it.each([
    '2026-11-20T10:00:03Z',
    '2026-11-20T10:00:03.000Z',
    '2026-11-20T10:00:03.48Z',
    '2026-11-20T10:00:03.5Z',
    '2026-11-20T10:00:03,482Z',
    '2026-11-20T10:00:03.4820000Z',
    '2026-11-20T10:00:03.482123456Z',
    '2026-11-20T10:00Z',
    '2026-11-20',
    '2026-11-20t10:00:03.482z',
    '2026-11-20 10:00:03.482+00',
    '2026-11-20T10:00:03.482+0000',
    '2026-11-20T10:00:03.482-00:00',
    '2026-11-20T15:30:03.482+05:30',
    '2026-11-20T04:00:03.482-06',
    '2026-11-20T10:00:03.482+00:00[UTC]',
    '2026-11-20T04:00:03.482-06:00[America/Chicago]',
    '2026-11-20 10:00:03.482 +0000',
    '2026-11-20 10:00:03 UTC',
    '2026-11-20 10:00:03.482',
    '2026/11/20 10:00:03',
    '20261120T100003Z',
    '20261120100003',
    ' 2026-11-20T10:00:03.482Z\n',
    '1795168803482',
    '1795168803',
    '1795168803.482',
    '1795168803482123',
    '1795168803482000000',
    '/Date(1795168803482)/',
    '/Date(1795168803482+0000)/',
    'Fri, 20 Nov 2026 10:00:03 GMT',
    'Fri, 20 Nov 2026 10:00:03 +0000',
    'Fri Nov 20 10:00:03 UTC 2026',
    'Fri Nov 20 2026 10:00:03 GMT+0000 (Coordinated Universal Time)',
  ])('takes %j for another notation of one moment', (other) => {
    expect(isSameInstant(written, other)).toBe(true);
    expect(isSameInstant(other, written)).toBe(true);
    expect(isInstant(other)).toBe(true);
  });

  it.each([
    '2026-11-20T10:00:04.482Z',
    '2026-11-20T10:00:03.483Z',
    '2026-11-20T10:00:02Z',
    '2026-11-20T10:00:05Z',
    '2026-11-20T10:01Z',
    '2026-11-21',
    '2026-11-20T10:00:03.482+01',
    '2026-11-20 04:00:03',
    '1795168804482',
    '1795168802',
    'Fri, 20 Nov 2026 10:00:04 GMT',
    'Fri Nov 20 2026 10:00:03 GMT+0100',
    '10:00:03',
    '2026',
  ])('takes %j for another moment', (other) => {
    expect(isSameInstant(written, other)).toBe(false);
    expect(isSameInstant(other, written)).toBe(false);
  });

  it('takes a time that was rounded up for the same, and one that is later for another', () => {
    expect(isSameInstant('2026-11-20T10:00:03.600Z', '2026-11-20T10:00:04Z')).toBe(true);
    expect(isSameInstant('2026-11-20T10:00:03.400Z', '2026-11-20T10:00:04Z')).toBe(false);
    expect(isSameInstant('2026-11-20T10:00:59.6Z', '2026-11-20T10:01:00.00Z')).toBe(true);
  });

  it.each([
    '',
    ' ',
    '0',
    '0.0',
    '0000-00-00',
    '0000-00-00 00:00:00',
    '0000-00-00T00:00:00.000Z',
    '00/00/0000',
    '0001-01-01T00:00:00',
    '0001-01-01T00:00:00+00:00',
    '1900-01-01T00:00:00.000Z',
    '1970-01-01T00:00:00Z',
    '1970-01-01T01:00:00+01:00',
    '1969-12-31T19:00:00-05:00',
    '1970-01-01',
    '-62135596800000',
    '/Date(-62135596800000)/',
    'Thu, 01 Jan 1970 00:00:00 GMT',
  ])('takes %j for none', (none) => {
    expect(isSameInstant(null, none)).toBe(true);
    expect(isSameInstant(none, '')).toBe(true);
    expect(isSameInstant(none, written)).toBe(false);
    expect(isInstant(none)).toBe(false);
  });
});
