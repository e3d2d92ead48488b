import { describe, expect, test } from 'vitest';
import { checkJournals, type Allowance } from '../../../support/journals/check-journals.ts';
import type { Dwell, Journals } from '../../../support/journals/journals.ts';
import { journals, paid, pending, type Told } from './journal-of-one.ts';

const strict = { repeatsMax: 0, setBack: false };
const noReason = { completedAt: null, rejectionReason: null };

const rulesBroken = (run: Journals, allowance: Allowance = strict) =>
  checkJournals(run, allowance).violations.map((violation) => violation.split(':')[0]);

describe('journals of a run in which every promise was kept', () => {
  test('pass, and are counted', () => {
    expect(checkJournals(journals([paid, pending]), strict)).toEqual({
      violations: [],
      events: 2,
      callbacks: 2,
      repeats: 0,
    });
  });

  test('may lack a state that no two polls could see', () => {
    const skipped = { ...pending, before: 'UNPAID', sequence: 1 };
    const polls = Array.from({ length: 6 }, (_, i) => ({
      account: 'one',
      from: 1_950 + i * 100,
      to: 1_980 + i * 100,
    }));
    expect(rulesBroken(journals([skipped], { polls }))).toEqual([]);
  });

  test('may lack a filing that came and went before anybody could see it', () => {
    const unseen = { account: 'one', filingId: 'g' };
    const state = { status: 'PAID', ...noReason };
    const dwells: Dwell[] = [
      ...journals([]).dwells,
      { ...unseen, state, from: 500, until: 540 },
      { ...unseen, state: null, from: 540, until: Infinity },
    ];
    expect(rulesBroken(journals([paid, pending], { dwells }))).toEqual([]);
  });

  test('may hold as many repeats as are allowed', () => {
    const again = { ...paid, at: 1_500 };
    expect(rulesBroken(journals([paid, again, pending]), { ...strict, repeatsMax: 1 })).toEqual([]);
  });

  test('may leave out as many sequences as are allowed', () => {
    const later = { ...pending, sequence: 3 };
    expect(rulesBroken(journals([paid, later]))).toEqual(['gap']);
    expect(rulesBroken(journals([paid, later]), { ...strict, skippedMax: 1 })).toEqual([]);
  });

  test('may repeat an event with new times where Redis was set back', () => {
    const again = { ...pending, at: 2_500, timestamp: 'later' };
    const run = journals([paid, pending, again]);
    expect(rulesBroken(run, { repeatsMax: 1, setBack: true })).toEqual([]);
    expect(rulesBroken(run, { repeatsMax: 1, setBack: false })).toEqual(['bytes']);
  });
});

describe('a broken promise is found', () => {
  test.each<[string, readonly Told[], string[]]>([
    ['a change that was never told', [pending], ['gap', 'chain', 'lost']],
    ['a last state that was never told', [paid], ['lost', 'convergence']],
    [
      'a change that was told and never acknowledged',
      [paid, { ...pending, answer: 500 }],
      ['lost', 'convergence'],
    ],
    ['two events under one sequence', [paid, { ...paid, id: 'evt_x', at: 1_200 }, pending], ['id']],
    ['a status that comes from another', [paid, { ...pending, before: 'REJECTED' }], ['chain']],
    ['a filing of the baseline told as new', [{ ...paid, before: null }, pending], ['chain']],
    ['an event before the former was acknowledged', [{ ...paid, at: 2_200 }, pending], ['order']],
    [
      'what the service never showed',
      [paid, pending, { ...pending, at: 3_000, status: 'REJECTED', before: 'PENDING', sequence: 3 }],
      ['phantom', 'convergence'],
    ],
    ['what the service showed only later', [{ ...paid, at: 1_050 }, pending], ['phantom']],
    ['a repeat too many', [paid, { ...paid, at: 1_500 }, pending], ['repeats']],
    [
      'other bytes under the same id',
      [paid, { ...paid, at: 1_140, answer: 500, timestamp: 'x' }, pending],
      ['bytes'],
    ],
    [
      'a signature of another secret',
      [paid, { ...pending, key: `whsec_${Buffer.alloc(32, 6).toString('base64')}` }],
      ['signature'],
    ],
    [
      "another account's event",
      [paid, pending, { ...paid, at: 2_500, id: 'evt_y', account: 'two' }],
      ['account', 'id'],
    ],
  ])('%s', (_, told, rules) => {
    expect(new Set(rulesBroken(journals(told)))).toEqual(new Set(rules));
  });
});
