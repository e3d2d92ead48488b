import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { checkJournals } from '../../crash/support/check-journals.ts';
import type { Dwell, Journals, TapedCallback } from '../../crash/support/journals.ts';

const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const strict = { repeatsMax: 0, setBack: false };
const noReason = { completedAt: null, rejectionReason: null };

function dwell(status: string, from: number, until: number): Dwell {
  return { account: 'one', filingId: 'f', state: { status, ...noReason }, from, until };
}

interface Told {
  readonly at: number;
  readonly status: string;
  readonly before: string | null;
  readonly sequence: number;
  readonly id?: string;
  readonly account?: string;
  readonly answer?: number;
  readonly key?: string;
  readonly timestamp?: string;
}

function callback(told: Told): TapedCallback {
  const { at, status, before, sequence, account = 'one', id = `evt_${sequence}`, timestamp = '' } = told;
  const data = {
    account,
    filingId: 'f',
    status,
    previousStatus: before,
    sequence,
    ...noReason,
    observed: timestamp,
  };
  const body = Buffer.from(JSON.stringify({ type: `filing.${status.toLowerCase()}`, timestamp, data }));
  const seconds = String(Math.floor(at / 1000));
  const key = Buffer.from((told.key ?? secret).slice(6), 'base64');
  const signature = `v1,${createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64')}`;
  const answered = { arrivedAt: at, answeredAt: at + 1, status: told.answer ?? 200 };
  return { subscription: 's', id, timestamp: seconds, signature, body, ...answered };
}

const paid: Told = { at: 1_150, status: 'PAID', before: 'UNPAID', sequence: 1 };
const pending: Told = { at: 2_150, status: 'PENDING', before: 'PAID', sequence: 2 };

/** A filing of the baseline that becomes PAID at 1000 and PENDING at 2000, polled ten times a second, told as given. */
function journals(told: readonly Told[], edit: Partial<Journals> = {}): Journals {
  const dwells = [
    dwell('UNPAID', -Infinity, 1_000),
    dwell('PAID', 1_000, 2_000),
    dwell('PENDING', 2_000, Infinity),
  ];
  return {
    dwells,
    served: dwells.map(({ account, filingId, state, from }) => ({
      account,
      filingId,
      state,
      first: Math.max(0, from + 100),
    })),
    polls: Array.from({ length: 40 }, (_, i) => ({ account: 'one', from: i * 100, to: i * 100 + 50 })),
    subscribers: [{ id: 's', account: 'one', secret }],
    callbacks: told.map(callback),
    ...edit,
  };
}

const rulesBroken = (run: Journals, allowance = strict) =>
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
