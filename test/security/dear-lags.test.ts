import { afterEach, expect, test } from 'vitest';
import { createApiFixture, hookUrl, type ApiFixture } from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;

afterEach(async () => {
  await api.app.close();
  await redis.cleanup();
});

/** An account with subscriptions whose filters want nothing, and a hundred events that wait for each. */
async function start(subscriptions: number) {
  api = await createApiFixture(redis.connect(), redis.prefix);
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
