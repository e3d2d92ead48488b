import { describe, expect, test } from 'vitest';
import type { AccountToken, Right } from '../../../../src/accounts/token-store.ts';
import { bearerToken, refusal, type Access, type Caller } from '../../../../src/api/access/auth.ts';

test.each([
  ['Bearer abc', 'abc'],
  ['bearer   abc', 'abc'],
  ['BEARER a.b_c-d~e+f/g==', 'a.b_c-d~e+f/g=='],
  ['Bearer !{}"#', '!{}"#'],
  ['Bearer', null],
  ['Bearer ', null],
  ['Bearer a b', null],
  ['Bearer a\tb', null],
  ['Bearer é', null],
  ['Basic abc', null],
  ['abc', null],
  ['', null],
  [undefined, null],
])('the token in %j is %j', (header, token) => {
  expect(bearerToken(header)).toBe(token);
});

const token = (right: Right, subscriptions: 'all' | 'own' = 'all'): AccountToken => ({
  id: 'tok_1',
  account: 'own',
  name: 'a',
  link: false,
  parent: null,
  right,
  subscriptions,
  createdAt: 0,
  expiresAt: null,
  lastUsedAt: null,
});
const callers: Record<string, Caller> = {
  operator: { kind: 'operator' },
  account: { kind: 'account', token: token('manage') },
  reader: { kind: 'account', token: token('read') },
  clerk: { kind: 'account', token: token('triage') },
  tool: { kind: 'account', token: token('manage', 'own') },
  'reading tool': { kind: 'account', token: token('read', 'own') },
};
const access = (given: Partial<Access>): Access => ({
  operatorOnly: false,
  account: 'own',
  changes: false,
  ...given,
});

describe('refusal', () => {
  test.each([
    ['operator', access({ operatorOnly: true, account: null, changes: true }), null],
    ['operator', access({ account: 'other', changes: true }), null],
    ['account', access({}), null],
    ['account', access({ changes: true }), null],
    ['account', access({ account: 'other' }), 'not_found'],
    ['account', access({ account: null }), 'not_found'],
    ['account', access({ operatorOnly: true }), 'not_found'],
    ['account', access({ account: 'OWN' }), 'not_found'],
    ['reader', access({}), null],
    ['reader', access({ changes: true }), 'read_only_token'],
    ['reader', access({ account: 'other', changes: true }), 'not_found'],
    ['reader', access({ operatorOnly: true, changes: true }), 'not_found'],
    ['clerk', access({}), null],
    ['clerk', access({ changes: true }), 'triage_only_token'],
    ['clerk', access({ changes: true, ofSubscriptions: true }), 'triage_only_token'],
    ['clerk', access({ changes: true, triages: true }), null],
    ['clerk', access({ account: 'other', changes: true, triages: true }), 'not_found'],
    ['tool', access({}), null],
    ['tool', access({ changes: true, triages: true }), 'own_subscriptions_only'],
    ['tool', access({ changes: true }), 'own_subscriptions_only'],
    ['tool', access({ changes: true, ofSubscriptions: true }), null],
    ['tool', access({ account: 'other', changes: true, ofSubscriptions: true }), 'not_found'],
    ['reading tool', access({ changes: true, ofSubscriptions: true }), 'read_only_token'],
  ])('%s asking for %j: %s', (name, wanted, code) => {
    const caller = callers[name];
    if (caller === undefined) throw new Error(name);
    expect(refusal(caller, wanted)?.code ?? null).toBe(code);
  });

  test('says the same for every place an account token may not see', () => {
    const caller = callers['account'] ?? { kind: 'operator' };
    const messages = [
      access({ account: 'other' }),
      access({ account: null }),
      access({ operatorOnly: true }),
    ].map((wanted) => refusal(caller, wanted)?.message);
    expect(new Set(messages).size).toBe(1);
  });
});
