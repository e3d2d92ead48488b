import { Redis } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { createKeys } from '../../../../src/redis/keys.ts';
import { createRandom } from '../../../../src/sandbox/random.ts';
import { createSealer } from '../../../../src/secrets/seal.ts';
import type { Subscription } from '../../../../src/subscriptions/subscription.ts';
import { createSubscriptionStore } from '../../../../src/subscriptions/store/subscription-store.ts';
import { rowsRead } from '../../../support/redis/rows-read.ts';
import { storedAccount } from '../../../support/redis/stored-account.ts';
import { startPrivateRedis, testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 1) }]);

function subscription(account: string, id: string, createdAt: number, description = ''): Subscription {
  return {
    id,
    account,
    url: 'https://receiver.example/',
    eventTypes: ['filing.*'],
    states: null,
    description,
    headers: {},
    format: 'standard',
    payload: 'full',
    secrets: [],
    createdAt,
    updatedAt: createdAt,
  };
}

/** A store, and the ids that it should list. */
function openStore(client: Redis, prefix: string, account: string) {
  const keys = createKeys(prefix);
  const store = createSubscriptionStore(client, keys, sealer);
  const ages = new Map<string, number>();
  return {
    stored: storedAccount(client, keys.account(account)),
    store,
    async create(id: string, createdAt: number, description = ''): Promise<void> {
      await store.create(subscription(account, id, createdAt, description), null);
      ages.set(id, createdAt);
    },
    async remove(id: string): Promise<void> {
      expect(await store.remove(account, id)).toBe(true);
      ages.delete(id);
    },
    ids: () => [...ages].toSorted(([a, x], [b, y]) => x - y || (a < b ? -1 : 1)).map(([id]) => id),
    async list(limit: number): Promise<string[]> {
      const listed: string[] = [];
      let after: string | null = null;
      do {
        // Each page begins where the one before ended.
        const page: Awaited<ReturnType<typeof store.list>> = await store.list(account, after, limit);
        listed.push(...page.records.map(({ subscription: { id } }) => id));
        after = page.next;
      } while (after !== null);
      return listed;
    },
  };
}

test('every subscription is listed once, by age and then by id, through additions and removals', async () => {
  const random = createRandom(7);
  const opened = openStore(redis.connect(), redis.prefix, 'ages');
  const [shown, expected]: [string[][], string[][]] = [[], []];
  for (let i = 0; i < 120; i += 1) {
    // Many of the same age.
    await opened.create(`sub_${i}`, Math.floor(random() * 5));
    const ids = opened.ids();
    if (random() < 0.3) await opened.remove(ids[Math.floor(random() * ids.length)] ?? '');
    if (i % 20 !== 19) continue;
    shown.push(await opened.list(1 + Math.floor(random() * 9)));
    expected.push(opened.ids());
  }
  expect(shown).toEqual(expected);
});

test('a place in the list stays one when its subscription is removed', async () => {
  const opened = openStore(redis.connect(), redis.prefix, 'place');
  for (const id of ['a', 'b', 'c', 'd']) await opened.create(id, 5);
  const { next } = await opened.store.list('place', null, 2);
  await opened.remove('b');
  const rest = await opened.store.list('place', next, 2);
  expect(rest.records.map(({ subscription: { id } }) => id)).toEqual(['c', 'd']);
});

test('a record that cannot be read keeps its place, and is passed over once it is removed', async () => {
  const opened = openStore(redis.connect(), redis.prefix, 'other');
  for (let i = 0; i < 5; i += 1) await opened.create(`sub_${i}`, i);
  await opened.stored.setSubscription('sub_2', 'garbage');
  expect(await opened.list(2)).toEqual(['sub_0', 'sub_1', 'sub_2', 'sub_3', 'sub_4']);
  await opened.remove('sub_2');
  expect(await opened.list(2)).toEqual(['sub_0', 'sub_1', 'sub_3', 'sub_4']);
});

test('a page of hundreds of large subscriptions reads those of the page', async () => {
  await using own = await startPrivateRedis();
  const client = new Redis(own.url);
  const opened = openStore(client, 'rows', 'large');
  for (let i = 0; i < 300; i += 1) await opened.create(`sub_${i}`, i, 'd'.repeat(5_000));
  const first = await opened.store.list('large', null, 1);
  const page = await rowsRead(client, () => opened.store.list('large', first.next, 1));
  expect(page.result.records.map(({ subscription: { id } }) => id)).toEqual(['sub_1']);
  expect(page.commands).toBeLessThan(20);
  expect(page.bytes).toBeLessThan(8_000);
  client.disconnect();
});
