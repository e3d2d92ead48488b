import { Redis } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { createAccountStore } from '../../../src/accounts/account-store.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { createRandom } from '../../../src/sandbox/random.ts';
import { createSealer } from '../../../src/secrets/seal.ts';
import { rowsRead } from '../../support/redis/rows-read.ts';
import { storedRecords } from '../../support/redis/stored-account.ts';
import { startPrivateRedis, testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 1) }]);
const defaults = { pollIntervalMs: 1_000, sweepIntervalMs: 1_000 };
const settings = {
  baseUrl: 'https://partner.example/v1',
  partnerKey: 'k',
  pollIntervalMs: null,
  sweepIntervalMs: null,
};

function openStore(client: Redis, prefix: string) {
  const keys = createKeys(prefix);
  const store = createAccountStore({ redis: client, keys, sealer, defaults });
  return {
    stored: storedRecords(client, keys),
    store,
    create: (account: string) => store.put(account, settings, Date.now()),
    async list(limit: number): Promise<string[]> {
      const listed: string[] = [];
      for (let hasMore = true; hasMore;) {
        const page = await store.page(listed.at(-1) ?? '', limit);
        listed.push(...page.records.map(({ account }) => account));
        ({ hasMore } = page);
      }
      return listed;
    },
  };
}

test('every account is listed once, by name, through creations and removals', async () => {
  const { create, store, list } = openStore(redis.connect(), `${redis.prefix}-all`);
  const random = createRandom(11);
  const there = new Set<string>();
  const [shown, expected]: [string[][], string[][]] = [[], []];
  for (let i = 0; i < 60; i += 1) {
    const account = `${'mB'[Math.floor(random() * 2)]}${Math.floor(random() * 40)}`;
    if (there.has(account)) {
      await store.remove(account);
      there.delete(account);
    } else {
      await create(account);
      there.add(account);
    }
    if (i % 10 !== 9) continue;
    shown.push(await list(1 + Math.floor(random() * 7)));
    expected.push([...there].toSorted());
  }
  expect(shown).toEqual(expected);
});

test('a page costs as much beside two thousand accounts as beside twenty', async () => {
  await using server = await startPrivateRedis();
  const client = new Redis(server.url);
  const costOf = async (accounts: number) => {
    const { stored, create, store } = openStore(client, `n${accounts}`);
    await create('a');
    const { a = '' } = await stored.accountTexts();
    const name = (i: number) => `a${String(i).padStart(5, '0')}`;
    await stored.addAccounts(Object.fromEntries(Array.from({ length: accounts }, (_, i) => [name(i), a])));
    await store.page('', 10);
    return rowsRead(client, () => store.page(name(10), 10));
  };
  const [few, many] = [await costOf(20), await costOf(2_000)];
  expect(many.result.records).toHaveLength(9 + 1);
  // A script and what it asks.
  expect(many.commands).toBe(few.commands);
  expect(many.commands).toBeLessThan(10);
  expect(many.bytes).toBeLessThan(few.bytes + 2_000);
  client.disconnect();
});
