import { expect, test } from 'vitest';
import { newSubscription } from '../../../../src/api/subscriptions/input.ts';
import { createSealer } from '../../../../src/secrets/seal.ts';
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

test('a subscription without them is stored as before', () => {
  for (const subscription of [plain, { ...plain, auth: null, tls: null }]) {
    const text = sealSubscription(sealer, subscription);
    expect(text).not.toMatch(/auth|tls|privateSettings/);
    expect(read(text).subscription).toEqual(plain);
  }
});

test('what is unchanged stays sealed as it was, and each setting changes alone', () => {
  const text = sealSubscription(sealer, full);
  const former = { text, subscription: read(text).subscription };
  const again = sealSubscription(sealer, { ...former.subscription, description: 'new' }, former);
  expect(parsed(again).privateSettings).toBe(parsed(text).privateSettings);
  const without = sealSubscription(sealer, { ...former.subscription, auth: null }, former);
  expect(read(without).subscription).toEqual({ ...plain, tls });
  const none = sealSubscription(sealer, { ...former.subscription, auth: null, tls: null }, former);
  expect(parsed(none)).not.toHaveProperty('privateSettings');
});

test('the text opens at its own origin only, and a change of the path keeps it', () => {
  const text = sealSubscription(sealer, full);
  const moved = JSON.stringify({ ...parsed(text), url: 'https://other.example/hook' });
  expect(read(moved)).toMatchObject({ hasUnreadableSettings: true });
  const former = { text, subscription: read(text).subscription };
  const path = sealSubscription(sealer, { ...former.subscription, url: 'https://example.com/2' }, former);
  expect(read(path).subscription).toMatchObject({ auth, tls });
});

test('what cannot be read stays as it is until it is given anew', () => {
  const text = sealSubscription(other, full);
  const former = { text, ...read(text) };
  expect(former).toMatchObject({ hasUnreadableSettings: true, unreadable: expect.any(Error) });
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
