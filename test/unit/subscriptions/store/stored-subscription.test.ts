import { expect, test } from 'vitest';
import { newSubscription } from '../../../../src/api/subscriptions/input.ts';
import { createSealer, SealError } from '../../../../src/secrets/seal.ts';
import { isCalledOtherwise, type Subscription } from '../../../../src/subscriptions/subscription.ts';
import {
  openSubscription,
  readSubscription,
  sealSubscription,
} from '../../../../src/subscriptions/store/stored-subscription.ts';

const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 1) }]);
const other = createSealer([{ id: 'k', key: Buffer.alloc(32, 2) }]);
const auth = {
  type: 'oauth2',
  tokenUrl: 'https://login.example/token',
  clientId: 'client',
  clientSecret: 'hidden-secret',
  scope: 'write',
  audience: null,
  clientAuthentication: 'basic',
  revision: 'r1',
} as const;
const tls = { cert: null, key: 'hidden-key', ca: null, shown: { cert: null, ca: null } };
const plain = newSubscription('acme', { url: 'https://example.com/hook' }, 1);
const full: Subscription = { ...plain, auth, tls };
const place = { key: 'k', field: full.id };
const parsed = (text: string) => JSON.parse(text) as { privateSettings?: string };
const read = (text: string) => readSubscription(sealer, 'acme', text, place);

test('settings with secrets are one sealed text, which opens as it was', () => {
  const text = sealSubscription(sealer, full);
  expect(text).not.toMatch(/hidden|login\.example|"auth"|"tls"/);
  expect(openSubscription(sealer, 'acme', text)).toEqual(full);
});

test('a subscription without credentials opens without them', () => {
  for (const subscription of [plain, { ...plain, auth: null, tls: null }])
    expect(read(sealSubscription(sealer, subscription)).subscription).toEqual(plain);
});

test('what is unchanged stays sealed as it was, and each setting changes alone', () => {
  const text = sealSubscription(sealer, full);
  const former = { text, ...read(text) };
  const again = sealSubscription(sealer, { ...former.subscription, description: 'new' }, former);
  expect(parsed(again).privateSettings).toBe(parsed(text).privateSettings);
  const without = sealSubscription(sealer, { ...former.subscription, auth: null }, former);
  expect(read(without).subscription).toEqual({ ...plain, tls });
});

test('the text opens at its own origin only, and a change of the path keeps it', () => {
  const text = sealSubscription(sealer, full);
  const moved = JSON.stringify({ ...parsed(text), url: 'https://other.example/hook' });
  expect(read(moved).unreadable).toBeInstanceOf(SealError);
  const former = { text, ...read(text) };
  const path = sealSubscription(sealer, { ...former.subscription, url: 'https://example.com/2' }, former);
  expect(read(path).subscription).toMatchObject({ auth, tls });
});

test('what cannot be read stays as it is until it is given anew', () => {
  const text = sealSubscription(other, full);
  const former = { text, ...read(text) };
  expect(former).toMatchObject({
    subscription: { secrets: [], headers: {} },
    unreadable: expect.any(SealError),
  });
  const again = sealSubscription(sealer, { ...former.subscription, description: 'new' }, former);
  expect(openSubscription(other, 'acme', again)).toMatchObject({ auth, tls });
  const anew = sealSubscription(sealer, { ...former.subscription, auth }, former);
  expect(read(anew).subscription).toMatchObject({ auth });
});

test('other credentials or another identity may be answered otherwise', () => {
  expect(isCalledOtherwise(plain, full)).toBe(true);
  expect(isCalledOtherwise(full, { ...full, auth: { ...auth, scope: null } })).toBe(true);
  expect(isCalledOtherwise(plain, { ...plain, auth: null, tls: null })).toBe(false);
});
