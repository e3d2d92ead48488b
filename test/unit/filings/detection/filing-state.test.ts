import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeState,
  encodeState,
  isReadableState,
  isShownBy,
  type FilingState,
} from '../../../../src/filings/detection/filing-state.ts';

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

  it('is told to show what a read shows from its text, never wrongly', () => {
    const tricky = fc.option(
      fc.oneof(
        fc.string({ unit: fc.constantFrom('"', '\\', ',', 'n', 'u', '1', ']') }),
        fc.constantFrom('null', '2026-02-01T10:00:03Z', '"'),
      ),
    );
    const shown = fc.record({
      status: fc.constantFrom('COMPLETED', 'C', '=C', 'REJECTED', 'C"'),
      completedAt: tricky,
      rejectionReason: tricky,
    });
    fc.assert(
      fc.property(state, shown, shown, fc.boolean(), (value, before, read, alike) => {
        const stored = { ...value, ...before };
        const other = alike ? before : read;
        const same = Object.entries(other).every(
          ([name, seen]) => stored[name as keyof typeof other] === seen,
        );
        expect(isShownBy(encodeState(stored), other) && !(same && !stored.removed)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['COMPLETED', '2026-02-01T10:00:03.123Z', null],
    ['REJECTED', null, 'Not signed, see é 𝒳'],
    ['PAID', null, null],
  ])('is told to show %s without decoding', (named, completedAt, rejectionReason) => {
    const shown = { status: named, completedAt, rejectionReason };
    const stored: FilingState = { ...shown, sequence: 3, since: 1, readFrom: 1, readAt: 9, removed: false };
    expect(isShownBy(encodeState(stored), shown)).toBe(true);
    expect(isShownBy(encodeState({ ...stored, removed: true }), shown)).toBe(false);
    expect(isShownBy(encodeState(stored), { ...shown, rejectionReason: 'Late' })).toBe(false);
  });

  it.each<[string, Partial<FilingState>, boolean]>([
    ['its limits were reported', { stalled: [60_000, 120_000] }, true],
    ['it was so at the first read', { stalled: [60_000], firstRead: true }, true],
    ['its date counts in a state', { effective: { stateAbbr: 'TX', at: 1_767_225_600_000 } }, true],
    ['its date counts in no known state', { stalled: [1], effective: { stateAbbr: '', at: 5 } }, true],
    ['it looks like another and is answered', { lookAlike: 'a_b-', answeredBy: 'f_2 restate' }, true],
    ['its own time is known', { created: 1_700_000_000_000, firstRead: true }, true],
    // Only decoding shows that it is so.
    ['an id of other signs answers it', { answeredBy: 'f"\\,"restate' }, false],
    ['it is to be restated', { firstRead: true, restate: true }, false],
  ])('is read back, and told to show a status, where %s', (_, marks, isShown) => {
    const shown = { status: 'REJECTED', completedAt: null, rejectionReason: null };
    const times = { sequence: 3, since: 1, readFrom: 8, readAt: 9, removed: false };
    const stored = encodeState({ ...shown, ...times, ...marks });
    expect(decodeState(stored)).toEqual({ ...shown, ...times, ...marks });
    expect([isReadableState(stored), isShownBy(stored, shown)]).toEqual([true, isShown]);
  });

  it.each([null, 'Not signed'])('is told to show what a read of one millisecond showed: %s', (reason) => {
    const shown = { status: 'REJECTED', completedAt: null, rejectionReason: reason };
    const stored: FilingState = { ...shown, sequence: 3, since: 1, readFrom: 8, readAt: 9, removed: false };
    expect(isShownBy(encodeState(stored), shown)).toBe(true);
    expect(isShownBy(encodeState({ ...stored, removed: true }), shown)).toBe(false);
  });

  it('is not told to show what only looks so in JSON', () => {
    const shown = { status: 'REJECTED', completedAt: null, rejectionReason: 'a\nb' };
    const stored: FilingState = { ...shown, sequence: 3, since: 1, readFrom: 1, readAt: 9, removed: false };
    expect(isShownBy(encodeState(stored), { ...shown, rejectionReason: 'a\\nb' })).toBe(false);
    const two = { ...stored, completedAt: 'a', rejectionReason: 'b' };
    expect(isShownBy(encodeState(two), { ...two, completedAt: 'a","b', rejectionReason: null })).toBe(false);
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

  it('of another layout is none', () => {
    const shown = { status: 'PAID', completedAt: null, rejectionReason: null };
    expect(isShownBy('[1,"A",null,null,0,1,9,8]', shown)).toBe(true);
    expect(isShownBy('[2,"A",null,null,0,1,9,8]', shown)).toBe(false);
    expect(() => decodeState('[2,"C"]')).toThrow(SyntaxError);
  });
});
