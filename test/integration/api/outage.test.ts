import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createRedisConnections } from '../../../src/redis/connection/connect.ts';
import { startPrivateRedis, type PrivateRedis } from '../../support/redis/test-redis.ts';
import {
  accountInput,
  createApiFixture,
  hookUrl,
  type Answer,
  type ApiFixture,
} from '../../support/api/api-fixture.ts';

const prefix = 'outage';
let server: PrivateRedis;
let connections: ReturnType<typeof createRedisConnections>;
let api: ApiFixture;
let subscription: string;

beforeAll(async () => {
  server = await startPrivateRedis();
  connections = createRedisConnections(server.url, {
    connectionName: 'test',
    onStateChange: () => undefined,
  });
  await connections.untilReady(5_000);
  api = await createApiFixture(connections.failFast(), prefix);
  await api.createAccount('one');
  subscription = `/v1/accounts/one/subscriptions/${String((await api.ok('POST', '/v1/accounts/one/subscriptions', { url: hookUrl }))['id'])}`;
});

afterAll(async () => {
  await api.app.close();
  await connections.close();
  await server.close();
});

type Request = readonly [method: string, path: string, body?: object];

const reads = (): Request[] => [
  ['GET', '/v1/accounts'],
  ['GET', '/v1/accounts/one'],
  ['GET', '/v1/accounts/one/subscriptions'],
  ['GET', subscription],
  ['GET', `${subscription}/attempts`],
  ['GET', '/v1/accounts/one/events'],
  ['GET', '/v1/accounts/one/filings'],
];

const changes = (): Request[] => [
  ['PUT', '/v1/accounts/two', accountInput],
  ['POST', '/v1/accounts/one/subscriptions', { url: hookUrl }],
  ['PATCH', subscription, { description: 'changed' }],
  ['POST', '/v1/accounts/one/tokens', { name: 'x' }],
];

async function timed(request: Request): Promise<Answer & { durationMs: number }> {
  const since = performance.now();
  const answer = await api.call(...request);
  return { ...answer, durationMs: performance.now() - since };
}

function expectUnavailable(answers: readonly (Answer & { durationMs: number })[]): void {
  for (const { status, body, headers, durationMs } of answers) {
    expect([status, body['code'], headers['retry-after']]).toEqual([503, 'store_unavailable', '5']);
    expect(durationMs).toBeLessThan(2_000);
  }
}

async function untilBack(): Promise<void> {
  await vi.waitFor(async () => expect((await api.call('GET', '/v1/accounts/one')).status).toBe(200), {
    timeout: 10_000,
    interval: 50,
  });
}

test('everything answers 503 within two seconds while Redis is gone, and works again when it is back', async () => {
  await server.kill();
  expectUnavailable(await Promise.all([...reads(), ...changes()].map(timed)));
  expect((await api.call('GET', '/health/live', undefined, { token: null })).status).toBe(200);
  expect((await api.call('GET', '/v1/accounts', undefined, { token: null })).status).toBe(401);
  await server.restart();
  await untilBack();
});

test('everything answers 503 within two seconds while Redis hangs', async () => {
  const pausing = createRedisConnections(server.url, {
    connectionName: 'pause',
    onStateChange: () => undefined,
  });
  await pausing.untilReady(5_000);
  await pausing.command().call('CLIENT', 'PAUSE', '4000', 'ALL');
  expectUnavailable(await Promise.all([...reads(), ...changes()].map(timed)));
  await untilBack();
  await pausing.close();
});

test('changes answer 503 and save nothing while Redis is full; reading goes on', async () => {
  const admin = connections.command();
  const { items: before } = await api.ok('GET', '/v1/accounts/one/subscriptions');
  await admin.call('CONFIG', 'SET', 'maxmemory', '1');
  expectUnavailable(await Promise.all(changes().map(timed)));
  const answers = await Promise.all(reads().map(timed));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  await admin.call('CONFIG', 'SET', 'maxmemory', '0');
  expect((await api.ok('GET', '/v1/accounts/one/subscriptions'))['items']).toEqual(before);
  expect((await api.call('GET', '/v1/accounts/two')).status).toBe(404);
});

test('an account token still reads while its use cannot be noted', async () => {
  const { token } = await api.ok('POST', '/v1/accounts/one/tokens', { name: 'x' });
  const admin = connections.command();
  await admin.call('CONFIG', 'SET', 'maxmemory', '1');
  const answer = await api.call('GET', '/v1/accounts/one', undefined, { token: String(token) });
  await admin.call('CONFIG', 'SET', 'maxmemory', '0');
  expect(answer.status).toBe(200);
});
