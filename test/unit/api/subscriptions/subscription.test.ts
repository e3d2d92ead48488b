import { expect, test } from 'vitest';
import { applyPatch, fingerprint, newSubscription } from '../../../../src/api/subscriptions/input.ts';
import { registeredView, subscriptionView } from '../../../../src/api/subscriptions/view.ts';
import { parseDeliveryState } from '../../../../src/subscriptions/delivery-state.ts';
import type { DeliveryState, Subscription } from '../../../../src/subscriptions/subscription.ts';

const url = 'https://example.com/hook';
const now = Date.UTC(2026, 10, 21, 10);
const subscription: Subscription = {
  ...newSubscription('default', { url, headers: { 'x-key': 'hidden' } }, now),
  secrets: [
    { text: 'whsec_new', expiresAt: null },
    { text: 'whsec_old', expiresAt: now + 1000 },
  ],
};
const untouched = parseDeliveryState({});
const record = (delivery: DeliveryState) => ({ subscription, delivery, unreadable: null });

test('ids and secrets of new subscriptions are their own', () => {
  const two = [1, 2].map(() => newSubscription('default', { url }, now));
  expect(new Set(two.map(({ id }) => id)).size).toBe(2);
  expect(new Set(two.map(({ secrets }) => secrets[0]?.text)).size).toBe(2);
});

test('a view holds neither secrets nor header values', () => {
  const text = JSON.stringify(subscriptionView(record(untouched), 0, now));
  expect(text).not.toMatch(/whsec_|hidden/);
});

test('a view shows the state of delivery', () => {
  const delivery = parseDeliveryState({
    failures: '3',
    nextAttemptAt: String(now + 5),
    pausedUntil: String(now + 9),
    lastSuccessAt: String(now),
  });
  expect(subscriptionView(record(delivery), 5, now)).toMatchObject({
    enabled: true,
    state: 'failing',
    disabledReason: null,
    lag: 5,
    consecutiveFailures: 3,
    nextAttemptAt: new Date(now + 9).toISOString(),
    lastSuccessAt: new Date(now).toISOString(),
    previousSecretExpiresAt: new Date(now + 1000).toISOString(),
  });
});

test('a view says why the daemon can send nothing, and when it tries again', () => {
  const block = { reason: 'a key is missing', since: now, times: 2, nextAt: now + 9 };
  const delivery = parseDeliveryState({ blocked: JSON.stringify(block) });
  expect(subscriptionView(record(delivery), 0, now)).toMatchObject({
    state: 'failing',
    lastError: 'a key is missing',
    nextAttemptAt: new Date(now + 9).toISOString(),
  });
  expect(subscriptionView(record(untouched), 0, now)).toMatchObject({ lastError: null });
});

test('a disabled subscription has a reason and no next attempt', () => {
  const delivery = parseDeliveryState({ enabled: '0', disabledReason: 'gone', nextAttemptAt: String(now) });
  expect(subscriptionView(record(delivery), 0, now)).toMatchObject({
    state: 'disabled',
    disabledReason: 'gone',
    nextAttemptAt: null,
  });
});

test('the answer to a registration shows the newest secret and how much waits', () => {
  expect(registeredView(subscription, 7, true)).toMatchObject({
    secret: 'whsec_new',
    lag: 7,
    state: 'active',
  });
  expect(registeredView(subscription, 0, false)).toMatchObject({
    enabled: false,
    disabledReason: 'by request',
  });
});

const disabled = parseDeliveryState({ enabled: '0' });

test.each([
  ['nothing', {}, untouched, { release: false }],
  ['words', { description: 'x' }, untouched, { release: false }],
  ['the same URL', { url }, untouched, { release: false }],
  ['another URL', { url: `${url}2` }, untouched, { release: true }],
  ['headers', { headers: {} }, untouched, { release: true }],
  ['the same headers', { headers: { 'x-key': 'hidden' } }, untouched, { release: false }],
  ['another format', { format: 'slack' as const }, untouched, { release: true }],
  ['a smaller payload', { payload: 'thin' as const }, untouched, { release: true }],
  [
    'what it asks for',
    { eventTypes: ['filing.rejected' as const], states: ['TX'] },
    untouched,
    { release: false },
  ],
  ['disabling', { enabled: false }, untouched, { release: false, enabled: false }],
  ['enabling what is enabled', { enabled: true }, untouched, { release: false, enabled: true }],
  ['enabling', { enabled: true }, disabled, { release: true, enabled: true }],
])('a patch of %s', (_name, patch, delivery, expected) => {
  const { subscription: after, ...rest } = applyPatch(record(delivery), patch, now + 1);
  expect(rest).toEqual(expected);
  expect(after.updatedAt).toBe(now + 1);
});

test('a patched secret is the only one', () => {
  const { subscription: after, release } = applyPatch(record(untouched), { secret: 'whsec_own' }, now);
  expect(after.secrets).toEqual([{ text: 'whsec_own', expiresAt: null }]);
  expect(after).not.toHaveProperty('secret');
  expect(release).toBe(true);
});

test('the fingerprint of a request does not depend on the order of its fields, only on their values', () => {
  const one = fingerprint({ url, description: 'a' });
  expect(fingerprint({ description: 'a', url })).toBe(one);
  expect(fingerprint({ url, description: 'b' })).not.toBe(one);
  expect(fingerprint({ url })).not.toBe(one);
});
