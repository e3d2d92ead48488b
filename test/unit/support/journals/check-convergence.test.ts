import { describe, expect, test } from 'vitest';
import { checkConvergence, findUnconverged } from '../../../support/journals/check-convergence.ts';
import type { Journals } from '../../../support/journals/journals.ts';
import { journals, paid, pending, type Told } from './journal-of-one.ts';

const rulesBroken = (run: Journals) =>
  checkConvergence(run).violations.map((violation) => violation.split(':')[0]);

const removed = { account: 'one', filingId: 'f', state: null, from: 3_000, until: Infinity };

describe('journals of a run in which Redis was set back and all converged', () => {
  test('pass, and are counted', () => {
    expect(checkConvergence(journals([paid, pending, { ...pending, at: 2_300 }]))).toEqual({
      violations: [],
      events: 2,
      callbacks: 3,
      repeats: 1,
    });
  });

  test.each<[string, readonly Told[]]>([
    ['lack a change that was undone before it was sent', [{ ...pending, before: 'UNPAID', sequence: 1 }]],
    ['have a gap in the sequence', [paid, { ...pending, sequence: 7 }]],
    ['repeat an event with new times', [paid, pending, { ...pending, at: 2_500, timestamp: 'later' }]],
    ['repeat an event before it was acknowledged', [paid, { ...pending, answer: 500 }, pending]],
    ['say once more what is so', [paid, pending, { ...pending, at: 2_500, id: 'evt_x', sequence: 9 }]],
  ])('may %s', (_, told) => {
    expect(rulesBroken(journals(told))).toEqual([]);
  });

  test('may lack a filing that came and went before anybody could see it', () => {
    const unseen = { account: 'one', filingId: 'g', state: null, from: 500, until: Infinity };
    const run = journals([paid, pending]);
    expect(rulesBroken({ ...run, dwells: [...run.dwells, unseen] })).toEqual([]);
  });
});

describe('a broken promise is found', () => {
  test.each<[string, readonly Told[], string[]]>([
    ['a change that was never told', [], ['greatest', 'last']],
    ['a last state that was never told', [paid], ['greatest', 'last']],
    ['a last state never acknowledged', [paid, { ...pending, answer: 500 }], ['greatest', 'last']],
    ['a former state told again at the end', [paid, pending, { ...paid, at: 2_500 }], ['last']],
    [
      'the last state under a sequence that the subscriber is beyond',
      [{ ...paid, sequence: 5 }, pending],
      ['greatest'],
    ],
    ['a sequence that stands for two states', [{ ...paid, sequence: 2, id: 'evt_x' }, pending], ['sequence']],
    ['an id that stands for two states', [{ ...paid, id: 'evt_2' }, pending], ['id']],
    [
      'what the service never showed',
      [paid, { ...pending, at: 2_100, status: 'REJECTED', id: 'evt_x', answer: 500 }, pending],
      ['phantom'],
    ],
    ['what the service showed only later', [{ ...paid, at: 1_050 }, pending], ['phantom']],
    [
      'a signature of another secret',
      [paid, { ...pending, key: `whsec_${Buffer.alloc(32, 6).toString('base64')}` }],
      ['signature'],
    ],
    [
      "another account's event",
      [paid, { ...paid, at: 1_200, id: 'evt_y', account: 'two' }, pending],
      ['account'],
    ],
  ])('%s', (_, told, rules) => {
    expect(new Set(rulesBroken(journals(told)))).toEqual(new Set(rules));
  });

  test('a removal that was never told', () => {
    const run = journals([paid, pending]);
    expect(findUnconverged({ ...run, dwells: [...run.dwells, removed] })).toEqual([
      expect.stringMatching(/^greatest: s knows f as .*PENDING.*, it is removed/),
      expect.stringMatching(/^last: s knows f as .*PENDING.*, it is removed/),
    ]);
  });
});
