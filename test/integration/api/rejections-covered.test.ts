import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiFixture, hookUrl, type ApiFixture } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

async function subscribe(path: string, settings: Record<string, unknown> = {}): Promise<string> {
  const { id } = await api.ok('POST', `${path}/subscriptions`, { url: hookUrl, ...settings });
  return String(id);
}

test('an account of whose rejections nobody is told says so', async () => {
  const path = await api.createAccount('covered');
  await api.putFilings('covered', [{ id: 'f', status: 'REJECTED' }]);
  await api.stored.of('covered').completePoll((await api.deps.polling.read('covered')).generation);
  const covered = async () => {
    const { rejectionsCovered } = await api.ok('GET', path);
    const { accounts } = (await api.ok('GET', '/v1/rejections?account=covered')) as { accounts: unknown };
    expect(accounts).toMatchObject([{ rejectionsCovered }]);
    return rejectionsCovered;
  };
  expect(await covered()).toBe(false);
  await subscribe(path, { statuses: ['COMPLETED'] });
  await subscribe(path, { eventTypes: ['filing.completed', 'account.*'] });
  expect(await covered()).toBe(false);
  const id = await subscribe(path, { statuses: ['REJECTED'], states: ['TX'] });
  expect(await covered()).toBe(true);
  await api.ok('PATCH', `${path}/subscriptions/${id}`, { enabled: false });
  expect(await covered()).toBe(false);
});
