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

test('a filing is sent to chosen subscriptions, all of which can be called', async () => {
  const path = await api.createAccount('send');
  await api.putFilings('send', [{ id: 'f', status: 'REJECTED' }]);
  const [one, other] = [await subscribe(path), await subscribe(path)];
  const send = (subscriptions: readonly string[], filing = 'f') =>
    api.call('POST', `${path}/filings/${filing}/send`, { subscriptions });
  const sent = await send([one, other]);
  expect(sent.status).toBe(202);
  expect(sent.body).toEqual({
    items: [one, other].map((id) => ({ subscription: id, replay: `rpl_2.${id}` })),
  });
  expect(api.calls.slice(-2)).toEqual([one, other].map((id) => ['snapshot', 'send', id, 'f']));
  const before = api.calls.length;
  await api.ok('PATCH', `${path}/subscriptions/${other}`, { enabled: false });
  const calls = () => api.calls.slice(before).filter(([name]) => name === 'snapshot');
  const refused = await send([one, other]);
  expect(refused.body).toMatchObject({ status: 409, code: 'subscription_disabled' });
  expect(refused.body['detail']).toContain(other);
  expect((await send([one, 'sub_unknown'])).body).toMatchObject({ code: 'subscription_not_found' });
  expect((await send([one], 'unknown')).body).toMatchObject({ code: 'filing_not_found' });
  expect((await send([])).status).toBe(422);
  const { token } = await api.ok('POST', `${path}/tokens`, { name: 'a', subscriptions: 'own' });
  const foreign = await api.call(
    'POST',
    `${path}/filings/f/send`,
    { subscriptions: [one] },
    { token: String(token) },
  );
  expect(foreign.body).toMatchObject({ code: 'own_subscriptions_only' });
  expect(calls()).toEqual([]);
});
