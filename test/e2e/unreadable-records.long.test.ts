import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createKeys } from '../../src/redis/keys.ts';
import {
  accountCases,
  deploymentKeys,
  startRecordsStage,
  subscriptionCases,
  type RecordsStage,
} from '../support/daemon/records-stage.ts';
import { storedAccount, storedRecords } from '../support/redis/stored-account.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
let stage: RecordsStage;

// All of them: `npm run test:crash -- unreadable-records`.
const some = ['filings', 'head', 'subscriptions', 'state'];

beforeAll(async () => {
  stage = await startRecordsStage(redis, some);
}, 60_000);

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await redis.cleanup();
});

test('there is a case for each key', () => {
  const keys = createKeys('p');
  // No script reads or writes the key that is nothing.
  const { base: _, nothing: __, subscription, ...ofAccount } = keys.account('a');
  expect(Object.keys(accountCases).toSorted()).toEqual(Object.keys(ofAccount).toSorted());
  expect(Object.keys(subscriptionCases).toSorted()).toEqual(Object.keys(subscription('s')).toSorted());
  expect(Object.keys(deploymentKeys).toSorted()).toEqual(Object.keys(keys).toSorted());
});

test('a record that cannot be read hurts itself alone and is named', async () => {
  await stage.change('PAID');
  await expectIsolation(stage);
});

test('an account whose record cannot be read is listed with the reason, and PUT writes it again', async () => {
  const { daemon, keys, sandbox } = stage;
  const stored = storedRecords(stage.client, keys);
  const path = '/v1/accounts/head-garbage';
  await stored.setAccount('head-garbage', 'garbage');
  const { items } = await daemon.api.ok<{ items: { account: string; health: { lastError: string } }[] }>(
    'GET',
    '/v1/accounts?limit=100',
  );
  expect(items.length).toBe(2 * some.length);
  expect(items.find(({ account }) => account === 'head-garbage')?.health.lastError).toContain(keys.accounts);
  expect(await daemon.api.call('GET', path)).toMatchObject({
    status: 503,
    body: { code: 'record_unreadable' },
  });
  const { generation } = await stored.of('head-garbage').polling();
  await daemon.api.ok('PUT', path, {
    baseUrl: sandbox.baseUrl,
    partnerKey: 'sandbox-key',
    pollIntervalMs: 1_000,
  });
  await stage.change('COMPLETED');
  expect(await stored.of('head-garbage').polling()).toMatchObject({ generation });
});

test('a subscription whose record cannot be read is listed with the reason and can be removed', async () => {
  const { daemon, client, keys, sandbox } = stage;
  const path = '/v1/accounts/state-garbage/subscriptions';
  const { id } = await daemon.api.ok<{ id: string }>('POST', path, { url: sandbox.baseUrl });
  await storedAccount(client, keys.account('state-garbage')).setSubscription(id, '{"id":"sub_');
  const { items } = await daemon.api.ok<{ items: { id: string; unreadable: string | null }[] }>('GET', path);
  expect(items.map((each) => [each.id === id, each.unreadable !== null])).toEqual([
    [false, false],
    [false, false],
    [true, true],
  ]);
  expect(await daemon.api.call('GET', `${path}/${id}`)).toMatchObject({
    status: 503,
    body: { code: 'record_unreadable' },
  });
  expect((await daemon.api.call('DELETE', `${path}/${id}`)).status).toBe(204);
  expect((await daemon.api.ok<{ items: unknown[] }>('GET', path)).items.length).toBe(2);
});

test.each(['accounts', 'store'] as const)(
  'while the key %s is of another type, readiness and the API name it, and all goes on once it is restored',
  async (name) => {
    const { daemon, client, keys } = stage;
    const before = await client.dumpBuffer(keys[name]);
    // At once: a store that is away for a moment counts as emptied until the daemon is started again.
    await client.multi().del(keys[name]).rpush(keys[name], 'a list').exec();
    const { status, body } = await daemon.api.call('GET', '/health/ready');
    expect([status, JSON.stringify(body)]).toEqual([503, expect.stringContaining(keys[name])]);
    expect(await daemon.api.call('GET', '/v1/accounts')).toMatchObject({
      status: 503,
      body: { code: 'record_unreadable', detail: expect.stringContaining(keys[name]) as string },
    });
    await client.restore(keys[name], 0, before ?? '', 'REPLACE');
    await vi.waitFor(
      async () => expect((await daemon.api.call('GET', '/health/ready')).status).toBe(200),
      10_000,
    );
    await stage.change(name === 'store' ? 'PENDING' : 'UNPAID');
  },
);

async function expectIsolation(of: RecordsStage): Promise<void> {
  await of.spoilAll();
}
