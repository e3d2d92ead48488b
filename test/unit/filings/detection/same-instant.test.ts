import { describe, expect, it } from 'vitest';
import { isSameInstant } from '../../../../src/filings/detection/same-instant.ts';

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
    ['', null, false],
    ['1767225600000', '1767225600000', true],
  ])('of %j and %j is %j', (a, b, same) => {
    expect(isSameInstant(a, b)).toBe(same);
    expect(isSameInstant(b, a)).toBe(same);
  });
});
