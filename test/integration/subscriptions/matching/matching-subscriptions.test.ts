import { afterAll, expect, test } from 'vitest';
import { createKeys } from '../../../../src/redis/keys.ts';
import { createSealer } from '../../../../src/secrets/seal.ts';
import { createMatchingSubscriptions } from '../../../../src/subscriptions/matching/matching-subscriptions.ts';
import { createSubscriptionStore } from '../../../../src/subscriptions/store/subscription-store.ts';
import type { Subscription } from '../../../../src/subscriptions/subscription.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const client = redis.connect();
const keys = createKeys(redis.prefix);
const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 1) }]);
const store = createSubscriptionStore(client, keys, sealer);
const now = 1_000;
const rejected = [{ type: 'filing.rejected', state: 'TX', status: 'REJECTED' }];

const subscription = (account: string, id: string, eventTypes: string[]): Subscription => ({
  id,
  account,
  url: 'https://receiver.example/',
  eventTypes,
  states: null,
  description: null,
  headers: {},
  format: 'standard',
  payload: 'full',
  secrets: [],
  createdAt: 1,
  updatedAt: 1,
});

/** An account with a subscription to rejections, `r`, and one to completions, `c`; and how often all were read. */
async function openAccount(account: string, bytesMax?: number) {
  await store.create(subscription(account, 'r', ['filing.rejected']), null);
  await store.create(subscription(account, 'c', ['filing.completed']), null);
  const read: string[] = [];
  const filters = (name: string) => {
    read.push(name);
    return store.filters(name);
  };
  const matching = createMatchingSubscriptions({ redis: client, keys, filters, now: () => now }, bytesMax);
  return { read, matching: async (name = account) => (await matching(name, rejected)).toSorted() };
}

test('the settings of an account are read once, however many events come', async () => {
  const { matching, read } = await openAccount('once');
  for (let i = 0; i < 5; i += 1) expect(await matching()).toEqual(['r']);
  expect(read).toHaveLength(1);
});

test('an event after a change, a registration or a removal is judged by the new settings', async () => {
  const { matching } = await openAccount('changing');
  expect(await matching()).toEqual(['r']);
  const change = (id: string, eventTypes: string[]) =>
    store.update('changing', id, (record) => ({
      subscription: { ...record.subscription, eventTypes },
      release: false,
    }));
  await change('c', ['filing.rejected']);
  expect(await matching()).toEqual(['c', 'r']);
  await change('r', ['filing.completed']);
  expect(await matching()).toEqual(['c']);
  await store.create(subscription('changing', 'n', ['*']), null);
  expect(await matching()).toEqual(['c', 'n']);
  await store.remove('changing', 'c');
  expect(await matching()).toEqual(['n']);
  // As many as before, and another one.
  await store.remove('changing', 'n');
  await store.create(subscription('changing', 'm', ['*']), null);
  expect(await matching()).toEqual(['m']);
});

test('a change while the settings are read counts for the next event', async () => {
  await store.create(subscription('racing', 'r', ['filing.rejected']), null);
  const change = () =>
    store.update('racing', 'r', (record) => ({
      subscription: { ...record.subscription, eventTypes: ['filing.completed'] },
      release: false,
    }));
  let isFirst = true;
  const filters = async (account: string) => {
    const found = await store.filters(account);
    if (isFirst) await change();
    isFirst = false;
    return found;
  };
  const matching = createMatchingSubscriptions({ redis: client, keys, filters, now: () => now });
  expect(await matching('racing', rejected)).toEqual(['r']);
  expect(await matching('racing', rejected)).toEqual([]);
});

test('an account from before versions, and one that another program adds to, is read as it is', async () => {
  const { matching, read } = await openAccount('former');
  const { settingsVersion, subscriptions } = keys.account('former');
  await client.del(settingsVersion);
  expect(await matching()).toEqual(['r']);
  expect(await matching()).toEqual(['r']);
  expect(read).toHaveLength(1);
  const text = (await client.hget(subscriptions, 'r')) ?? '';
  await client.hset(subscriptions, 'added', text);
  expect(await matching()).toEqual(['added', 'r']);
  // As many as before, and another one.
  await client.hdel(subscriptions, 'added');
  await store.create(subscription('former', 'late', ['*']), null);
  expect(await matching()).toEqual(['late', 'r']);
});

test('settings that cannot be read are read again at each event', async () => {
  const { matching, read } = await openAccount('spoilt');
  await client.hset(keys.account('spoilt').subscriptions, 'garbage', 'garbage');
  expect(await matching()).toEqual(['r']);
  expect(await matching()).toEqual(['r']);
  expect(read).toHaveLength(2);
});

test('those that rest are left out, few or all of them', async () => {
  const { matching } = await openAccount('resting');
  const { resting } = keys.account('resting');
  await client.hset(resting, { r: String(now + 1) });
  expect(await matching()).toEqual([]);
  await client.hset(resting, { r: String(now), c: 'disabled', other: 'disabled' });
  expect(await matching()).toEqual(['r']);
  await client.hset(resting, { r: 'disabled' });
  expect(await matching()).toEqual([]);
});

test('what is kept is bounded: the account used last stays', async () => {
  const { matching, read } = await openAccount('large', 1_800);
  await openAccount('larger');
  for (const account of ['large', 'larger', 'larger', 'large'])
    expect(await matching(account)).toEqual(['r']);
  expect(read).toEqual(['large', 'larger', 'large']);
});

test('nothing is kept in Redis of an account without subscriptions', async () => {
  const { matching } = await openAccount('leaving');
  for (const id of ['r', 'c']) await store.remove('leaving', id);
  expect(await matching()).toEqual([]);
  expect(await matching('never')).toEqual([]);
  expect(await client.exists(keys.account('leaving').settingsVersion)).toBe(0);
  expect(await client.exists(keys.account('never').settingsVersion)).toBe(0);
});
