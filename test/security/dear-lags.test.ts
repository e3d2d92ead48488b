import { afterEach, expect, test } from 'vitest';
import type { ApiLimits } from '../../src/api/deps.ts';
import { createApiFixture, hookUrl, type ApiFixture } from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;

afterEach(async () => {
  await api.app.close();
  await redis.cleanup();
});

/** An account with subscriptions whose filters want nothing, and a hundred events that wait for each. */
async function start(subscriptions: number, limits: Partial<ApiLimits> = {}) {
  api = await createApiFixture(redis.connect(), redis.prefix, { limits });
  const path = await api.createAccount('filtering');
  for (let i = 0; i < subscriptions; i += 1)
    await api.ok('POST', `${path}/subscriptions`, { url: hookUrl, filter: `data.sequence == ${i + 1_000}` });
  const filings = Array.from({ length: 100 }, (_, i) => ({
    id: `f_${i}`,
    status: 'PAID',
    type: 'filing.paid',
  }));
  await api.putFilings('filtering', filings);
  const token = String((await api.ok('POST', `${path}/tokens`, {}))['token']);
  return { path, token };
}

test('a page of subscriptions has two thousand events judged by their filters, and counts all of more', async () => {
  const { path, token } = await start(30);
  const { body } = await api.call('GET', `${path}/subscriptions?limit=100`, undefined, { token });
  const lags = (body['items'] as { lag: number }[]).map(({ lag }) => lag);
  expect(lags).toEqual([...Array.from({ length: 20 }, () => 0), ...Array.from({ length: 10 }, () => 100)]);
});

test('judging is paid for before it is done, by all requests of a token together', async () => {
  const { path, token } = await start(20, { token: { burst: 300, perSecond: 0.001 } });
  const list = () => api.call('GET', `${path}/subscriptions`, undefined, { token });
  expect((await list()).status).toBe(200);
  // Two more would each cost two hundred points, of which less than a hundred are left.
  const [second, third] = await Promise.all([list(), list()]);
  expect([second.status, third.status]).toEqual([429, 429]);
  expect(second.body).toMatchObject({ code: 'too_many_requests' });
  expect(Number(second.headers['retry-after'])).toBeGreaterThan(0);
  const other = String((await api.ok('POST', `${path}/tokens`, {}))['token']);
  expect((await api.call('GET', `${path}/subscriptions`, undefined, { token: other })).status).toBe(200);
});
