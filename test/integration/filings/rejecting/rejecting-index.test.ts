import { afterAll, expect, test } from 'vitest';
import { createRejectingAccounts } from '../../../../src/filings/rejecting/rejecting-index.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

const anyTime = { oldest: 0, newest: 999_999_999_999_999 };

test.each([
  ['whose lists by age show one', '3', { oldest: 7, newest: 9 }, [{ oldest: 7, newest: 9 }]],
  ['whose lists by age show none', '3', null, [anyTime]],
  ['that has none any more', '0', null, []],
])('a note is corrected, for an account %s', async (of, count, shown, expected) => {
  const keys = createKeys(`${redis.prefix}${of.replaceAll(' ', '-')}`);
  const { rejecting } = keys.accountLists;
  const accounts = createRejectingAccounts({
    redis: client,
    keys,
    span: async () => shown,
    now: () => 1_700_000_000_000,
  });
  await client.hset(keys.accounts, 'acme', '{}');
  await client.hset(rejecting, 'acme', '5 6 1');
  await client.hset(keys.account('acme').counts, 'REJECTED', count);
  await accounts.mend('acme');
  expect(await accounts.all()).toEqual(expected.map((since) => ({ account: 'acme', since })));
  await accounts.mend('acme');
  expect(await accounts.all()).toEqual(expected.map((since) => ({ account: 'acme', since })));
});
