import { describe, expect, it } from 'vitest';
import type { FilingState } from '../../../../src/filings/detection/filing-state.ts';
import { notBefore, type SeenMarks } from '../../../../src/polling/beliefs/not-before.ts';
import { missedByAbsence } from '../../../../src/polling/beliefs/missed-reads.ts';

const state = (more: Partial<FilingState> = {}): FilingState => ({
  status: 'PENDING',
  completedAt: null,
  rejectionReason: null,
  sequence: 0,
  since: 110,
  readFrom: 100,
  readAt: 110,
  removed: false,
  ...more,
});
const marks = (more: Partial<SeenMarks> = {}): SeenMarks => ({
  unsettledSeenAt: 0,
  allSeenAt: 0,
  bornSeenAt: 0,
  countedAt: 0,
  ...more,
});

describe('notBefore', () => {
  it.each<[string, Partial<SeenMarks>, Partial<FilingState>, number]>([
    ['its own read, before any mark', {}, {}, 100],
    ['the last poll that saw all unsettled', { unsettledSeenAt: 300 }, {}, 300],
    ['the last sweep', { allSeenAt: 400, unsettledSeenAt: 300 }, {}, 400],
    [
      'not a poll that saw the unsettled only, for a settled one',
      { unsettledSeenAt: 300, allSeenAt: 200 },
      { status: 'COMPLETED' },
      200,
    ],
    [
      'not those either for a status nobody knows: not every poll reads them all',
      { unsettledSeenAt: 300, allSeenAt: 200 },
      { status: 'ON_HOLD' },
      200,
    ],
    ['its own read, when that is newer', { allSeenAt: 50 }, {}, 100],
    ['its own read, when it was still under way as the marked poll began', { allSeenAt: 105 }, {}, 100],
    [
      'its own 404, when it is removed: nobody asks for it any more',
      { allSeenAt: 400 },
      { removed: true },
      100,
    ],
  ])('is %s', (_title, seen, more, expected) => {
    expect(notBefore(marks(seen), undefined, state(more), null)).toBe(expected);
  });

  it('stands still while a filing is missed', () => {
    const missed = missedByAbsence(undefined, 260, 250);
    expect(notBefore(marks({ allSeenAt: 400, unsettledSeenAt: 400 }), missed, state(), null)).toBe(250);
  });

  it.each<[string, Partial<SeenMarks>, object | null, number]>([
    ['nothing', {}, null, 0],
    ['a full list without it', { bornSeenAt: 500, countedAt: 900 }, null, 500],
    [
      'matching counts, when its own date is later',
      { countedAt: 900 },
      { createdAt: new Date(950).toISOString() },
      900,
    ],
    [
      'its own date, when that is before matching counts',
      { countedAt: 900 },
      { createdAt: new Date(700).toISOString() },
      700,
    ],
    [
      'the list rather than an old date',
      { bornSeenAt: 500, countedAt: 900 },
      { createdAt: new Date(1).toISOString() },
      500,
    ],
    ['no date that is none', { bornSeenAt: 500, countedAt: 900 }, { createdAt: 'soon' }, 500],
    ['no date of a wrong type', { bornSeenAt: 500, countedAt: 900 }, { createdAt: 5 }, 500],
  ])('of a filing never seen rests on %s', (_title, seen, document, expected) => {
    expect(notBefore(marks(seen), undefined, null, document as never)).toBe(expected);
  });
});
