import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiFixture, hookUrl, type ApiFixture } from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;
let account: string;
let id: string;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  account = await api.createAccount('acme');
  ({ id } = (await api.ok('POST', `${account}/subscriptions`, { url: hookUrl })) as { id: string });
  const stored = api.stored.of('acme').of(id);
  await stored.addAttempts([{}]);
  await stored.addDeadLetter({});
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

test('an id with the rest of a key behind it is not found by any route, and removes nothing', async () => {
  const stored = api.stored.of('acme').of(id);
  const before = await stored.keys();
  for (const rest of [':dead', ':attempts', ':lanes', '%00', ':dead/', '.x'])
    for (const [method, below, body] of [
      ['DELETE', '', undefined],
      ['GET', '', undefined],
      ['PATCH', '', {}],
      ['GET', '/attempts', undefined],
      ['GET', '/dead-letters', undefined],
      ['POST', '/test', undefined],
      ['POST', '/replay', {}],
      ['POST', '/rotate-secret', {}],
    ] as const) {
      const path = `${account}/subscriptions/${encodeURIComponent(id + rest)}${below}`;
      const answer = await api.call(method, path, body);
      expect([method, path, answer.status, answer.body['code']]).toEqual([
        method,
        path,
        404,
        'subscription_not_found',
      ]);
    }
  expect(before).toHaveLength(3);
  expect(await stored.keys()).toEqual(before);
});

test("BullMQ's keys are no account's", async () => {
  const bull = `${api.keys.queues}:poll:meta`;
  await redis.connect().hset(bull, 'version', 'x');
  for (const name of ['~queues', '%7Equeues', `acme%3Asub`]) {
    const answer = await api.call('DELETE', `/v1/accounts/${name}`);
    expect([answer.status, answer.body['code']]).toEqual([404, 'account_not_found']);
  }
  expect(await redis.connect().exists(bull)).toBe(1);
  expect(api.calls).not.toContainEqual(['accountRemoved', '~queues']);
});

test('an account with a name that none can have is refused where it would be made', async () => {
  const answer = await api.call('PUT', '/v1/accounts/~queues', {
    baseUrl: 'http://127.0.0.1:4010/v1',
    partnerKey: 'k',
  });
  expect(answer.status).toBe(422);
});
