import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeState, encodeState, type FilingState } from '../../../src/filings/filing-state.ts';

const text = fc.string({ unit: 'binary' });
const time = fc.integer({ min: 0, max: 2e12 });
const status = fc.oneof(
  fc.constantFrom(
    'UNPAID',
    'PAID',
    'PENDING',
    'COMPLETED',
    'REJECTED',
    'U',
    '=C',
    '__proto__',
    'constructor',
  ),
  text.filter((value) => value !== ''),
);
const state: fc.Arbitrary<FilingState> = fc.record({
  status,
  completedAt: fc.option(text),
  rejectionReason: fc.option(text),
  sequence: fc.nat(),
  since: time,
  readFrom: time,
  readAt: time,
  removed: fc.boolean(),
});

describe('a stored filing state', () => {
  it('is read back as it was written, whatever the status is called', () => {
    fc.assert(
      fc.property(state, (value) => {
        expect(decodeState(encodeState(value))).toEqual(value);
      }),
    );
  });

  it('takes little space when it is completed', () => {
    const completed: FilingState = {
      status: 'COMPLETED',
      completedAt: '2026-02-01T10:00:03.123Z',
      rejectionReason: null,
      sequence: 0,
      since: 1.79e12,
      readFrom: 1.79e12 - 20,
      readAt: 1.79e12,
      removed: false,
    };
    expect(encodeState(completed).length).toBeLessThanOrEqual(80);
  });

  it('of a newer format is refused rather than overwritten', () => {
    expect(() => decodeState('[2,"C"]')).toThrow('format 2');
  });
});
