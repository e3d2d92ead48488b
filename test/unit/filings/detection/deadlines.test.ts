import { describe, expect, it } from 'vitest';
import { passedDeadline } from '../../../../src/filings/detection/deadlines.ts';
import { dueDate, toDueRules } from '../../../../src/filings/detection/due-dates.ts';
import { detectChange, detectPassed } from '../../../../src/filings/detection/detect-change.ts';
import type { FilingState } from '../../../../src/filings/detection/filing-state.ts';
import { stayLimitProblem, toStayLimits } from '../../../../src/filings/detection/stay-limits.ts';

const dayMs = 86_400_000;
const effective = { stateAbbr: 'TX', at: Date.UTC(2026, 0, 1) };
const dueAt = effective.at + 60 * dayMs;
const state: FilingState = {
  status: 'REJECTED',
  completedAt: null,
  rejectionReason: 'no',
  sequence: 2,
  since: effective.at,
  readFrom: effective.at,
  readAt: effective.at,
  removed: false,
  effective,
};
const due = toDueRules({ due: { TX: 'P60D', '*': 'P45D' }, dueWarnings: null });
const deadlines = { limits: toStayLimits(null), due };

describe('a due date', () => {
  it.each([
    ['by the rule of the state', effective, 60],
    ['by the rule for all others', { ...effective, stateAbbr: 'NY' }, 45],
    ['by the rule for all others, for a state that is not known', { ...effective, stateAbbr: '' }, 45],
  ])('is counted %s', (_, from, days) => {
    expect(dueDate(due, from)).toBe(from.at + days * dayMs);
  });

  it('is missing without rules, without a date and without a rule of the state', () => {
    const texas = toDueRules({ due: { TX: 'P60D' }, dueWarnings: null });
    expect([
      toDueRules({ due: null, dueWarnings: null }),
      dueDate(null, effective),
      dueDate(due, undefined),
      dueDate(texas, { ...effective, stateAbbr: 'NY' }),
    ]).toEqual([null, null, null, null]);
  });
});

describe('a deadline', () => {
  const week = dueAt - 7 * dayMs;
  it.each<[string, number, Partial<FilingState>, string | null]>([
    ['before the first warning', week - 1, {}, null],
    ['from the first warning on', week, {}, 'P7D'],
    ['after both, of which the nearer one counts', dueAt, {}, 'P0D'],
    ['once it was reported', dueAt - 1, { warned: { dueAt, ms: 7 * dayMs } }, null],
    ['after another one was reported', dueAt, { warned: { dueAt, ms: 7 * dayMs } }, 'P0D'],
    ['after the last one was reported', dueAt + dayMs, { warned: { dueAt, ms: 0 } }, null],
    ['after that of another due date was reported', week, { warned: { dueAt: dueAt - 1, ms: 0 } }, 'P7D'],
    ['of a completed filing', dueAt, { status: 'COMPLETED' }, null],
    ['of a removed filing', dueAt, { removed: true }, null],
    ['of a rejection that is answered', dueAt, { answeredBy: 'f_2' }, null],
    ['of a filing that waits', dueAt, { status: 'PENDING' }, 'P0D'],
  ])('is passed or not %s', (_, now, more, expected) => {
    const passed = passedDeadline(deadlines, { ...state, ...more }, now);
    expect(passed?.type === 'filing.due' ? passed.warning.after : null).toBe(expected);
  });

  it('of a stay comes before that of a due date, and each is reported once', () => {
    const both = { limits: toStayLimits({ REJECTED: 'P1D' }), due };
    const types: string[] = [];
    let now = dueAt;
    let next = state;
    for (;;) {
      now += 10;
      const detection = detectPassed(next, both, { start: now, end: now + 1 });
      if (detection.kind !== 'change') break;
      types.push(detection.type);
      ({ next } = detection);
    }
    expect(types).toEqual(['filing.stalled', 'filing.due']);
    expect(next.sequence).toBe(4);
  });

  it('that was reported counts as such in another status, too', () => {
    const warned = { ...state, warned: { dueAt, ms: 0 } };
    const read = { status: 'PENDING', completedAt: null, rejectionReason: null };
    const moved = detectChange(warned, read, { start: dueAt, end: dueAt + 1 }, true);
    expect(moved).toMatchObject({ kind: 'change', next: { warned: { dueAt, ms: 0 } } });
  });

  it.each([
    ['P0D', false, 'must be from one second (PT1S) to ten years (P3650D)'],
    ['P0D', true, null],
    ['-P1D', true, 'must be P0D, or from one second (PT1S) to ten years (P3650D)'],
    ['P60D', false, null],
  ])('may be %s, where zero is allowed: %s', (text, mayBeZero, problem) => {
    expect(stayLimitProblem(text, mayBeZero)).toBe(problem);
  });
});
