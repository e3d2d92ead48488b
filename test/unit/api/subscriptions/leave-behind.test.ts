import { expect, test } from 'vitest';
import { leaveBehind, lostErrors } from '../../../../src/api/subscriptions/leave-behind.ts';
import { applyPatch, newSubscription } from '../../../../src/api/subscriptions/input.ts';
import { SealError } from '../../../../src/secrets/seal.ts';
import { parseDeliveryState } from '../../../../src/subscriptions/delivery-state.ts';

const url = 'https://example.com/hook';
const record = (headers: Record<string, string>, unreadable: SealError | null = null) => ({
  subscription: newSubscription('acme', { url, headers }, 1),
  delivery: parseDeliveryState({}),
  unreadable,
});
const full = record({ 'x-api-key': 'hidden' });

test.each([
  ['nothing', {}],
  ['the same URL', { url }],
  ['another path of the same origin', { url: 'https://EXAMPLE.com:443/other?x=1' }],
  ['all of it anew', { url: 'https://other.example/', headers: { 'x-api-key': 'new' }, secret: 'whsec_x' }],
])('a change of %s is left as it is', (_name, patch) => {
  expect(leaveBehind(full, patch, 'whsec_new')).toEqual({ patch, dropped: [] });
});

test.each(['https://other.example/hook', 'http://example.com/hook', 'https://example.com:8443/hook'])(
  'a move to %s drops headers and secret that are not given anew',
  (moved) => {
    expect(leaveBehind(full, { url: moved, description: 'x' }, 'whsec_new')).toEqual({
      patch: { url: moved, description: 'x', headers: {}, secret: 'whsec_new' },
      dropped: ['headers', 'secret'],
    });
  },
);

test('a caller who may move the secret drops the headers alone', () => {
  const patch = { url: 'https://other.example/' };
  expect(leaveBehind(full, patch, null)).toEqual({ patch: { ...patch, headers: {} }, dropped: ['headers'] });
});

test('without headers there are none to drop; those that cannot be read are dropped', () => {
  const patch = { url: 'https://other.example/' };
  expect(leaveBehind(record({}), patch, null)).toEqual({ patch, dropped: [] });
  const unreadable = new SealError('the key is missing');
  expect(leaveBehind(record({}, unreadable), patch, null).dropped).toEqual(['headers', 'auth', 'tls']);
});

const auth = {
  type: 'oauth2',
  tokenUrl: 'https://login.example/token',
  clientId: 'c',
  clientSecret: 'hidden',
} as const;
const tls = { cert: null, key: null, ca: null, shown: { cert: null, ca: null } };

test('credentials and identities stay behind, and those that cannot be read', () => {
  const found = record({});
  const withBoth = { ...found, subscription: { ...newSubscription('acme', { url, auth }, 1), tls } };
  const patch = { url: 'https://other.example/' };
  const left = { patch: { ...patch, auth: null, tls: null }, dropped: ['auth', 'tls'] };
  expect(leaveBehind(withBoth, patch, null)).toEqual(left);
  expect(leaveBehind(withBoth, { ...patch, auth }, null).dropped).toEqual(['tls']);
  expect(leaveBehind(withBoth, { url: `${url}/2` }, null).dropped).toEqual([]);
});

test('private settings that cannot be read are changed together only', () => {
  const lost = record({}, new SealError('the key is missing'));
  const all = { secret: 'whsec_x', headers: {}, auth: null, tls: null };
  const needed = 'give secret, headers, auth, tls together';
  expect(lostErrors(lost, { auth: null })).toEqual([
    { path: 'auth', message: expect.stringContaining(needed) },
  ]);
  expect(lostErrors(lost, { secret: 'whsec_x', headers: {} })).toMatchObject([{ path: 'secret' }]);
  expect(lostErrors(lost, all)).toEqual([]);
  expect(lostErrors(lost, {})).toEqual([]);
  expect(lostErrors(full, { auth: null })).toEqual([]);
  const { secret: _, ...others } = all;
  const keyAlone = { ...lost, subscription: { ...lost.subscription, signatures: ['v1a'] as const } };
  expect(lostErrors(keyAlone, others)).toEqual([]);
  const { subscription } = applyPatch(
    { ...keyAlone, subscription: { ...keyAlone.subscription, secrets: [] } },
    others,
    1,
  );
  expect(subscription.secrets.map(({ text }) => text.slice(0, 5))).toEqual(['whsk_']);
});
