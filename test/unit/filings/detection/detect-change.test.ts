import { describe, expect, it } from 'vitest';
import {
  comparedSpan,
  detectChange,
  detectRemoval,
} from '../../../../src/filings/detection/detect-change.ts';
import {
  isSinceFirstRead,
  type FilingState,
  type ShownState,
} from '../../../../src/filings/detection/filing-state.ts';

const read = (status: string, completedAt: string | null = null, rejectionReason: string | null = null) => ({
  status,
  completedAt,
  rejectionReason,
});
const known = (from: ShownState, more: Partial<FilingState> = {}): FilingState => ({
  ...from,
  sequence: 4,
  since: 500,
  readFrom: 990,
  readAt: 1000,
  removed: false,
  ...more,
});
const later = { start: 2000, end: 2010 };
const day1 = '2026-02-01T10:00:00Z';
const day2 = '2026-02-02T10:00:00Z';

describe('detectChange', () => {
  // before, read, type, changed, inferred
  it.each([
    [read('UNPAID'), read('PAID'), 'filing.paid', ['status'], false],
    [read('PAID'), read('UNPAID'), 'filing.unpaid', ['status'], false],
    [read('PAID'), read('PENDING'), 'filing.pending', ['status'], false],
    [read('PENDING'), read('COMPLETED', day1), 'filing.completed', ['status', 'completedAt'], false],
    [read('PENDING'), read('REJECTED', null, 'x'), 'filing.rejected', ['status', 'rejectionReason'], false],
    [read('REJECTED', null, 'x'), read('PENDING'), 'filing.pending', ['status', 'rejectionReason'], false],
    [read('COMPLETED', day1), read('PENDING'), 'filing.reopened', ['status', 'completedAt'], false],
    [read('COMPLETED', day1), read('PENDING', day1), 'filing.reopened', ['status'], false],
    [read('COMPLETED', day1), read('UNPAID'), 'filing.unpaid', ['status', 'completedAt'], false],
    [
      read('COMPLETED', day1),
      read('REJECTED', day1, 'x'),
      'filing.rejected',
      ['status', 'rejectionReason'],
      false,
    ],
    [
      read('REJECTED', null, 'x'),
      read('COMPLETED', day1),
      'filing.completed',
      ['status', 'completedAt', 'rejectionReason'],
      false,
    ],
    [read('PENDING'), read('ON_HOLD'), 'filing.status_changed', ['status'], false],
    [read('PENDING'), read('__proto__'), 'filing.status_changed', ['status'], false],
    [read('PENDING'), read('constructor'), 'filing.status_changed', ['status'], false],
    [read('ON_HOLD'), read('PENDING'), 'filing.pending', ['status'], false],
    [read('COMPLETED', day1), read('COMPLETED', day2), 'filing.completed', ['completedAt'], true],
    [read('COMPLETED'), read('COMPLETED', day1), 'filing.completed', ['completedAt'], false],
    [read('COMPLETED', day1), read('COMPLETED'), 'filing.completed', ['completedAt'], false],
    [
      read('COMPLETED', day1),
      read('COMPLETED', day1, 'note'),
      'filing.completed',
      ['rejectionReason'],
      false,
    ],
    [read('REJECTED', null, 'x'), read('REJECTED', null, 'y'), 'filing.rejected', ['rejectionReason'], false],
    [read('REJECTED', null, 'x'), read('REJECTED', day1, 'x'), 'filing.rejected', ['completedAt'], true],
    [read('COMPLETED', day1), read('COMPLETED', 'yesterday'), 'filing.completed', ['completedAt'], false],
    [read('COMPLETED', 'yesterday'), read('COMPLETED', day1), 'filing.completed', ['completedAt'], false],
    [read('REJECTED', null, 'x'), read('REJECTED', 'today', 'x'), 'filing.rejected', ['completedAt'], false],
    [read('COMPLETED', day1), read('COMPLETED', ''), 'filing.completed', ['completedAt'], false],
    [
      read('REJECTED', null, 'a b'),
      read('REJECTED', null, 'ab'),
      'filing.rejected',
      ['rejectionReason'],
      false,
    ],
    [read('REJECTED', day1, 'x'), read('REJECTED', null, 'x'), 'filing.rejected', ['completedAt'], false],
  ])('%j read as %j is %s of %j, inferred %j', (before, now, type, changed, inferred) => {
    const detection = detectChange(known(before), now, later, true);
    expect(detection).toMatchObject({ kind: 'change', type, changed, inferred });
    expect(detection).toMatchObject({
      next: { ...now, sequence: 5, readFrom: 2000, readAt: 2010, removed: false },
    });
  });

  it.each([
    [read('PENDING'), read('PENDING')],
    [read('PENDING', null, null), read('PENDING', null, '')],
    [read('COMPLETED', '2026-02-01T10:00:00Z'), read('COMPLETED', '2026-02-01T10:00:00.000+00:00')],
    [read('COMPLETED', day1), read('COMPLETED', String(Date.parse(day1)))],
    [read('REJECTED', null, 'x'), read('REJECTED', '0001-01-01T00:00:00', 'x')],
    [read('REJECTED', null, 'not\r\nsigned \u00e9'), read('REJECTED', '', ' not\nsigned\u00a0 e\u0301\n')],
    [read('COMPLETED', day1, null), read('COMPLETED', day1, ' \r\n')],
    [read('__proto__'), read('__proto__')],
  ])('%j read as %j is no change', (before, now) => {
    expect(detectChange(known(before), now, later, true)).toEqual({ kind: 'unchanged' });
  });

  it.each([
    [read('PENDING'), read('PENDING', day1)],
    [read('UNPAID'), read('UNPAID', null, 'note')],
    [read('ON_HOLD'), read('ON_HOLD', null, 'note')],
  ])('%j read as %j is kept without an event: no type speaks of it', (before, now) => {
    expect(detectChange(known(before), now, later, true)).toMatchObject({
      kind: 'silent',
      next: { ...now, sequence: 4 },
    });
  });

  it('keeps since when the status is what it was', () => {
    const detection = detectChange(
      known(read('REJECTED', null, 'x')),
      read('REJECTED', null, 'y'),
      later,
      true,
    );
    expect(detection).toMatchObject({ next: { since: 500 } });
    expect(detectChange(known(read('PAID')), read('PENDING'), later, true)).toMatchObject({
      next: { since: 2010 },
    });
  });

  it('announces a first sight with sequence 1, or takes it in silently with 0', () => {
    const next = { ...read('PAID'), since: 2010, readFrom: 2000, readAt: 2010, removed: false };
    expect(detectChange(null, read('PAID'), later, true)).toEqual({
      kind: 'change',
      type: 'filing.created',
      changed: ['status'],
      inferred: false,
      next: { ...next, sequence: 1 },
    });
    expect(detectChange(null, read('PAID'), later, false)).toEqual({
      kind: 'silent',
      next: { ...next, sequence: 0 },
    });
  });

  it.each<[string, Partial<FilingState>, ShownState, boolean]>([
    ['a filing of the baseline that has another reason', { sequence: 0 }, read('REJECTED', null, 'y'), true],
    ['one that keeps the mark', { firstRead: true }, read('REJECTED', null, 'y'), true],
    ['one that was seen to come into its status', {}, read('REJECTED', null, 'y'), false],
    ['a filing of the baseline that moves', { sequence: 0 }, read('PENDING'), false],
    ['one with the mark that moves', { firstRead: true }, read('PENDING'), false],
    ['a removed one that is back', { firstRead: true, removed: true }, read('REJECTED', null, 'x'), true],
  ])('knows whether since is the first read of %s', (_title, more, now, expected) => {
    const detection = detectChange(known(read('REJECTED', null, 'x'), more), now, later, true);
    expect(detection.kind === 'change' && isSinceFirstRead(detection.next)).toBe(expected);
  });

  it.each([
    ['started before the end of the one that is known', { start: 900, end: 1100 }],
    ['was over before the one that is known began', { start: 100, end: 200 }],
    ['started in the very millisecond', { start: 1000, end: 1100 }],
  ])('leaves aside a read that %s', (_title, span) => {
    expect(detectChange(known(read('PAID')), read('UNPAID'), span, true)).toEqual({ kind: 'outdated' });
    expect(detectRemoval(known(read('PAID')), span)).toEqual({ kind: 'outdated' });
  });

  const ahead = { start: 90_000, end: 90_010 };
  // Redis's clock, which is right since `steadySince`, says 3010 at the time of the comparison.
  it.each([
    ['a state of a clock ahead does not hold up a read since', 90_000, later, 2_000, 'change'],
    ['nor one that began before, which gives way', 90_000, later, 2_001, 'outdated'],
    ['a state a little ahead may be newer', 5_009, later, 900, 'outdated'],
    ['a read gives way where the clock was set during it', 1_000, later, 2_001, 'outdated'],
    ['a read gives way that was timed by a clock ahead', 1_000, ahead, 900, 'outdated'],
  ])('%s', (_title, readAt, span, steadySince, kind) => {
    const state = { readAt };
    const compared = comparedSpan(span, { at: 3_010, steadySince });
    expect(detectChange(known(read('PAID'), state), read('PENDING'), compared, true)).toMatchObject({ kind });
    expect(detectRemoval(known(read('PAID'), state), compared)).toMatchObject({ kind });
  });

  it.each([
    [read('PAID'), [], false],
    [read('COMPLETED', day1), ['status', 'completedAt'], false],
  ])('restores a removed filing read as %j', (now, changed, inferred) => {
    const removed = known(read('PAID'), { removed: true });
    expect(detectChange(removed, now, later, true)).toMatchObject({
      kind: 'change',
      type: 'filing.restored',
      changed,
      inferred,
      next: { removed: false, sequence: 5 },
    });
  });
});

describe('detectRemoval', () => {
  it('moves nothing but the mark', () => {
    const before = known(read('PENDING', null, 'x'));
    expect(detectRemoval(before, later)).toEqual({
      kind: 'change',
      type: 'filing.removed',
      changed: [],
      inferred: false,
      next: { ...before, sequence: 5, readFrom: 2000, readAt: 2010, removed: true },
    });
  });

  it('keeps in mind that the status was so at the first read', () => {
    const detection = detectRemoval(known(read('PENDING'), { sequence: 0 }), later);
    expect(detection).toMatchObject({ next: { firstRead: true, sequence: 1 } });
  });

  it('happens once', () => {
    expect(detectRemoval(known(read('PENDING'), { removed: true }), later)).toEqual({ kind: 'unchanged' });
  });
});
