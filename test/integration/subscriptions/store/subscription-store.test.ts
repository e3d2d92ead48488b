import { afterAll, expect, test } from 'vitest';
import { createKeys } from '../../../../src/redis/keys.ts';
import { createSealer } from '../../../../src/secrets/seal.ts';
import { resealOld } from '../../../../src/secrets/stored-secrets.ts';
import { listSealedSubscriptions } from '../../../../src/subscriptions/store/sealed-subscriptions.ts';
import { openSubscription } from '../../../../src/subscriptions/store/stored-subscription.ts';
import { createSubscriptionStore } from '../../../../src/subscriptions/store/subscription-store.ts';
import type { Subscription } from '../../../../src/subscriptions/subscription.ts';
import { storedAccount } from '../../../support/redis/stored-account.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const client = redis.connect();
const keys = createKeys(redis.prefix);
const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 3) }]);
const store = createSubscriptionStore(client, keys, sealer);

const secret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
const subscription: Subscription = {
  id: 'sub_1',
  account: 'acme',
  url: 'https://example.com/hook',
  eventTypes: ['filing.*'],
  states: null,
  description: null,
  headers: { Authorization: 'Bearer of-the-receiver' },
  format: 'standard',
  payload: 'full',
  secrets: [{ text: secret, expiresAt: null }],
  createdAt: 1,
  updatedAt: 1,
  createdBy: 'tok_1',
};
const stored = storedAccount(client, keys.account('acme'));

test('keeps neither secrets nor header values in clear, and gives both back', async () => {
  await store.create(subscription, { key: 'once', request: 'r' });
  const texts = [await stored.subscriptionText('sub_1'), ...(await stored.registrations())];
  expect(texts).toHaveLength(2);
  for (const text of texts) expect(text).not.toMatch(/of-the-receiver|Authorization/);
  expect((await store.get('acme', 'sub_1'))?.subscription).toEqual(subscription);
  const again = await store.create({ ...subscription, id: 'sub_x' }, { key: 'once', request: 'r' });
  expect(again).toEqual({ kind: 'replayed', subscription });
});

const auth = {
  type: 'oauth2',
  tokenUrl: 'https://login.example/token',
  clientId: 'c',
  clientSecret: 'of-the-client',
  scope: null,
  audience: null,
  clientAuthentication: 'basic',
} as const;

test('a new encryption key seals private settings anew', async () => {
  await store.create({ ...subscription, id: 'sub_4', headers: {}, auth }, null);
  const keyring = [
    { id: 'new', key: Buffer.alloc(32, 5) },
    { id: 'k', key: Buffer.alloc(32, 3) },
  ];
  const rotated = createSealer(keyring);
  const records = listSealedSubscriptions(client, keys, ['acme']);
  expect(await resealOld(rotated, records)).toBeGreaterThan(1);
  const [onlyNew] = keyring.map((key) => createSealer([key]));
  const text = (await stored.subscriptionText('sub_4')) ?? '';
  if (onlyNew === undefined) throw new Error('no key');
  expect(openSubscription(onlyNew, 'acme', text).auth).toEqual(auth);
});
