import { afterAll, beforeEach, expect, it } from 'vitest';
import { createAccountStore, type AccountStore } from '../../../../src/accounts/account-store.ts';
import { putDefaultAccount } from '../../../../src/daemon/upkeep/default-account.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { createSealer } from '../../../../src/secrets/seal.ts';
import { storedRecords } from '../../../support/redis/stored-account.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
const client = redis.connect();
const keys = createKeys(redis.prefix);
const stored = storedRecords(client, keys);
const settings = { baseUrl: 'https://partner.example/v1', partnerKey: 'key-of-the-environment' };

let calls: unknown[];
beforeEach(async () => {
  await stored.dropAccounts();
  calls = [];
});

function storeWith(id: string): AccountStore {
  const sealer = createSealer([{ id, key: Buffer.alloc(32, id) }]);
  const defaults = { pollIntervalMs: 15_000, sweepIntervalMs: 900_000 };
  return createAccountStore({ redis: client, keys, sealer, defaults });
}

function putInto(accounts: AccountStore): Promise<void> {
  const pollQueue = {
    isScheduled: async () => true,
    schedule: async (account: string, everyMs: number) => void calls.push(['schedule', account, everyMs]),
    pollNow: async (account: string) => void calls.push(['pollNow', account]),
  };
  return putDefaultAccount({ accounts, pollQueue, now: () => 1_000 }, settings);
}

it('leaves an account alone that agrees with the environment', async () => {
  const accounts = storeWith('a');
  await putInto(accounts);
  await accounts.patch('default', { pollIntervalMs: 20_000 }, 2_000);
  calls = [];
  await putInto(accounts);
  expect(await accounts.getKeyed('default')).toMatchObject({ ...settings, pollIntervalMs: 20_000 });
  expect(calls).toEqual([]);
});

it('seals the key of the environment anew where the stored one does not open', async () => {
  await putInto(storeWith('lost'));
  const accounts = storeWith('new');
  await putInto(accounts);
  expect(await accounts.getKeyed('default')).toMatchObject(settings);
  expect(calls.at(-1)).toEqual(['pollNow', 'default']);
});

it('writes the account anew where its record is garbage', async () => {
  const accounts = storeWith('a');
  await stored.setAccount('default', 'garbage');
  await putInto(accounts);
  expect(await accounts.getKeyed('default')).toMatchObject(settings);
});
