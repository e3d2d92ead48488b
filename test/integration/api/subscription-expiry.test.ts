import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDisabler } from '../../../src/delivery/store/disable-subscription.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { expiredReason } from '../../../src/subscriptions/subscription.ts';
import { createApiFixture, hookUrl, type ApiFixture } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
const clock = { at: Date.now() };
let api: ApiFixture;
let path: string;
let accounts = 0;
let account: string;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix, { now: () => clock.at });
});

beforeEach(async () => {
  account = `expiring-${(accounts += 1)}`;
  path = `${await api.createAccount(account)}/subscriptions`;
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

const inMs = (ms: number) => new Date(clock.at + ms).toISOString();

async function register(settings: object): Promise<string> {
  return String((await api.ok('POST', path, { url: hookUrl, ...settings }))['id']);
}

/** As the daemon does once the time is over. */
async function disable(id: string): Promise<void> {
  const found = await api.deps.subscriptions.get(account, id);
  const event = {
    id: 'evt_1',
    type: 'subscription.disabled',
    filingId: '',
    state: '',
    status: '',
    body: '{}',
  };
  const disabler = createDisabler(redis.connect(), createKeys(redis.prefix));
  await disabler(account, id, found?.text ?? '', expiredReason, { event, at: clock.at });
}

test('a subscription is shown as disabled from its time on, whether or not that is written yet', async () => {
  const expiresAt = inMs(5_000);
  const id = await register({ expiresAt });
  const shown = () => api.ok('GET', `${path}/${id}`);
  expect(await shown()).toMatchObject({ expiresAt, enabled: true, state: 'active', disabledReason: null });
  clock.at += 5_000;
  const expired = {
    expiresAt,
    enabled: false,
    state: 'disabled',
    disabledReason: 'expired',
    nextAttemptAt: null,
  };
  expect(await shown()).toMatchObject(expired);
  expect((await api.ok('GET', path))['items']).toMatchObject([expired]);
  await disable(id);
  expect(await shown()).toMatchObject(expired);
});

test.each([3_600_000, null])('a new time enables an expired one again: in %j ms', async (ms) => {
  const id = await register({ expiresAt: inMs(5_000) });
  clock.at += 5_000;
  await disable(id);
  const expiresAt = ms === null ? null : inMs(ms);
  const renewed = await api.ok('PATCH', `${path}/${id}`, { expiresAt });
  expect(renewed).toMatchObject({ expiresAt, enabled: true, state: 'active', disabledReason: null });
  const stored = await api.deps.subscriptions.get(account, id);
  expect(stored?.delivery).toMatchObject({ enabled: true, release: true });
  expect(api.calls).toContainEqual(['wake', account]);
});

test('a new time does not enable one that a client has disabled, nor where the request says otherwise', async () => {
  const byRequest = { enabled: false, disabledReason: 'by request' };
  const id = await register({ expiresAt: inMs(5_000), enabled: false });
  expect(await api.ok('PATCH', `${path}/${id}`, { expiresAt: inMs(60_000) })).toMatchObject(byRequest);
  clock.at += 60_000;
  await api.ok('PATCH', `${path}/${id}`, { expiresAt: inMs(5_000), enabled: true });
  clock.at += 5_000;
  await disable(id);
  const change = { expiresAt: inMs(5_000), enabled: false };
  expect(await api.ok('PATCH', `${path}/${id}`, change)).toMatchObject(byRequest);
});

test('other changes leave an expired one as it is; enabling it alone is refused with what to do', async () => {
  const id = await register({ expiresAt: inMs(5_000) });
  clock.at += 5_000;
  await disable(id);
  expect(await api.ok('PATCH', `${path}/${id}`, { description: 'a' })).toMatchObject({
    enabled: false,
    disabledReason: 'expired',
  });
  const refused = await api.call('PATCH', `${path}/${id}`, { enabled: true });
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ path: 'enabled' }] } });
  expect(refused.body['detail']).toContain('give a later expiresAt');
});

test.each(['2020-01-01T00:00:00Z', 'tomorrow', 17])('%j is no time to expire at', async (expiresAt) => {
  const refused = await api.call('POST', path, { url: hookUrl, expiresAt });
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ path: 'expiresAt' }] } });
  const id = await register({});
  expect((await api.call('PATCH', `${path}/${id}`, { expiresAt })).status).toBe(422);
});

test('a repeated registration is answered as the first one', async () => {
  const body = { url: hookUrl, expiresAt: inMs(5_000) };
  const headers = { 'idempotency-key': 'the-same' };
  const first = await api.call('POST', path, body, { headers });
  expect((await api.call('POST', path, body, { headers })).text).toBe(first.text);
  expect(first.body).toMatchObject({ state: 'active', expiresAt: body.expiresAt });
});
