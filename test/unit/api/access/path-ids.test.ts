import { expect, test } from 'vitest';
import { refusedIds } from '../../../../src/api/access/path-ids.ts';

const subscription = '/v1/accounts/:account/subscriptions/:id';
const token = '/v1/accounts/:account/tokens/:id';
const replay = '/v1/accounts/:account/replays/:replay';
const id = 'sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506';

test.each([
  [subscription, { account: 'acme', id }],
  [subscription, { account: 'a.b_c-9', id }],
  [token, { account: 'acme', id: 'tok_9f86d081884c7d65' }],
  [replay, { account: 'acme', replay: `rpl_5b1d0c9b7a51d24e6f8a90b1.${id}` }],
  ['/v1/accounts/:account/filings/:filingId', { account: 'acme', filingId: 'any:text at all' }],
  ['/v1/accounts', {}],
])('%s with %j is passed on', (route, ids) => {
  expect(refusedIds(route, ids)).toBeNull();
});

test.each([
  ['~queues', '', '', 'account_not_found'],
  ['a:subscriptions', '', '', 'account_not_found'],
  ['a}:tokens', '', '', 'account_not_found'],
  ['__proto__', '', '', 'account_not_found'],
  ['', '', '', 'account_not_found'],
  ['a'.repeat(65), '', '', 'account_not_found'],
  ['a\n', '', '', 'account_not_found'],
  ['acme', `${id}:dead`, '', 'subscription_not_found'],
  ['acme', `${id}:attempts`, '', 'subscription_not_found'],
  ['acme', `${id}\n`, '', 'subscription_not_found'],
  ['acme', 'tok_9f86d081884c7d65', '', 'subscription_not_found'],
  ['acme', '', `rpl_1.${id}:replays`, 'replay_not_found'],
  ['acme', '', `running.${id}`, 'replay_not_found'],
  ['acme', '', `rpl_1:state.${id}`, 'replay_not_found'],
])(
  'account %j, subscription %j and replay %j are not found: %s',
  (account, subscriptionId, replayId, code) => {
    const ids = {
      account,
      ...(subscriptionId === '' ? {} : { id: subscriptionId }),
      ...(replayId === '' ? {} : { replay: replayId }),
    };
    expect(refusedIds(subscription, ids)?.code).toBe(code);
  },
);

test('the id of something else is no id of a token', () => {
  expect(refusedIds(token, { account: 'acme', id })?.code).toBe('token_not_found');
});
