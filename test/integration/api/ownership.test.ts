import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isHostAmong } from '../../../src/egress/host-patterns.ts';
import type { VerificationRule } from '../../../src/subscriptions/options/verification.ts';
import { createApiFixture, hookUrl, type ApiFixture } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
const rule: { -readonly [K in keyof VerificationRule]: VerificationRule[K] } = {
  required: false,
  exemptHosts: [],
};
let api: ApiFixture;
let path: string;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix, { verificationRule: rule });
  path = `${await api.createAccount('default')}/subscriptions`;
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

const register = (settings: object = {}) => api.ok('POST', path, { url: hookUrl, ...settings });

/** Marks a subscription as verified, as the answer of its endpoint does. */
async function prove(id: unknown): Promise<void> {
  await api.deps.subscriptions.update('default', String(id), ({ subscription }) => ({
    subscription: { ...subscription, verified: { method: 'challenge', at: Date.now() } },
    release: false,
  }));
}

describe('verification of a subscription', () => {
  test('is none unless it is asked for', async () => {
    const made = await register();
    expect(made).toMatchObject({ verification: 'none', verified: null, state: 'active', lastError: null });
  });

  test('is shown as outstanding from the first answer on, and the endpoint is asked at once', async () => {
    const made = await register({ verification: 'challenge' });
    const expected = {
      verification: 'challenge',
      verified: null,
      state: 'unverified',
      lastError: expect.stringMatching(/not been verified/) as string,
    };
    expect(made).toMatchObject(expected);
    expect(await api.ok('GET', `${path}/${String(made['id'])}`)).toMatchObject(expected);
    expect(api.calls).toContainEqual(['wake', 'default']);
  });

  test('is asked anew for another URL, another path too, and kept for all else', async () => {
    const { id } = await register({ verification: 'challenge' });
    const one = `${path}/${String(id)}`;
    await prove(id);
    expect(await api.ok('GET', one)).toMatchObject({ state: 'active', verified: { method: 'challenge' } });
    const same = { description: 'x', headers: { 'x-a': 'b' }, url: hookUrl, verification: 'challenge' };
    expect(await api.ok('PATCH', one, same)).toMatchObject({ state: 'active' });
    const moved = await api.ok('PATCH', one, { url: `${hookUrl}/other` });
    expect(moved).toMatchObject({ state: 'unverified', verified: null });
    await prove(id);
    expect(await api.ok('PATCH', one, { verification: 'none' })).toMatchObject({
      state: 'active',
      verification: 'none',
      lastError: null,
    });
    expect(await api.ok('PATCH', one, { verification: 'challenge' })).toMatchObject({ state: 'unverified' });
  });

  test('withholds test calls until it is met', async () => {
    const { id } = await register({ verification: 'challenge' });
    const refused = await api.call('POST', `${path}/${String(id)}/test`);
    expect(refused).toMatchObject({ status: 409, body: { code: 'subscription_unverified' } });
    await prove(id);
    expect((await api.call('POST', `${path}/${String(id)}/test`)).status).toBe(200);
  });

  test('is asked for on request, and its answer shows nothing of the body of the response', async () => {
    const { id } = await register({ verification: 'challenge' });
    expect(await api.ok('POST', `${path}/${String(id)}/verify`)).toEqual({
      verified: null,
      outcome: 'http_error',
      reason: 'The receiver answered 500.',
      statusCode: 500,
      durationMs: 12,
    });
    const plain = await register();
    const refused = await api.call('POST', `${path}/${String(plain['id'])}/verify`);
    expect(refused).toMatchObject({ status: 409, body: { code: 'nothing_to_verify' } });
  });
});

describe('an operator who requires verification', () => {
  test('has none refused for all hosts but the exempt ones, and interrupts nothing', async () => {
    const before = await register();
    const one = `${path}/${String(before['id'])}`;
    rule.required = true;
    const refused = await api.call('POST', path, { url: hookUrl });
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ path: 'verification' }] } });
    expect(refused.text).toContain('VERIFICATION_EXEMPT_HOSTS');
    expect(await api.ok('PATCH', one, { description: 'as before' })).toMatchObject({ state: 'active' });
    expect((await api.call('PATCH', one, { url: `${hookUrl}/other` })).status).toBe(422);
    const asked = await api.ok('PATCH', one, { url: `${hookUrl}/other`, verification: 'challenge' });
    expect(asked).toMatchObject({ state: 'unverified' });
    expect((await api.call('PATCH', one, { verification: 'none' })).status).toBe(422);
    rule.exemptHosts = ['127.0.0.1'];
    expect((await api.call('POST', path, { url: hookUrl })).status).toBe(201);
    rule.required = false;
  });

  test.each([
    ['hooks.slack.com', true],
    ['evil-hooks.slack.com', false],
    ['a.internal.example', true],
    ['a.b.internal.example', true],
    ['internal.example', false],
    ['internal.example.attacker.com', false],
    ['xinternal.example', false],
  ])('exempts hosts by whole names: %s %s', (host, expected) => {
    expect(isHostAmong(['hooks.slack.com', '*.internal.example'], host)).toBe(expected);
  });
});
