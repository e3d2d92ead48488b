import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { createApiFixture } from '../../support/api/api-fixture.ts';
import { createLatch, startReceiver } from '../../support/receivers/receiver.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness } from './drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

/** A subscription of an endpoint, with the API over its store. Retries are an hour apart. */
async function openStage(url: string, hooks: { wake?: () => Promise<void> } = {}) {
  const harness = await createHarness(redis, { retryMs: [3_600_000, 3_600_000], timeoutMs: 60_000 });
  onTestFinished(() => harness[Symbol.asyncDispose]());
  const api = await createApiFixture(redis.connect(), redis.prefix, (made) => ({
    hooks: {
      ...made.hooks,
      accountSaved: () => Promise.resolve(),
      ping: harness.drainer.ping,
      wake: hooks.wake ?? ((account, id) => harness.queue.wake(account, [id])),
    },
  }));
  onTestFinished(() => api.app.close());
  await api.createAccount(harness.account);
  const id = await harness.subscribe(url);
  const path = `/v1/accounts/${harness.account}/subscriptions/${id}`;
  return { harness, id, path, ...api };
}

test('a test is among the attempts, with request and response as they were', async () => {
  await using receiver = await startReceiver({ status: 500, body: 'not today' });
  const { harness, path, ok } = await openStage(receiver.url);
  await ok('POST', `${path}/test`);
  const [sent] = receiver.received;
  const expected = {
    eventId: sent?.id,
    eventType: 'ping',
    filingId: null,
    attempt: 1,
    outcome: 'http_error',
    statusCode: 500,
    response: 'not today',
    replay: null,
  };
  const { items } = await ok('GET', `${path}/attempts`);
  expect(items).toEqual([expect.objectContaining(expected)]);
  const ofAccount = await ok('GET', `/v1/accounts/${harness.account}/attempts?eventId=${sent?.id ?? ''}`);
  expect(ofAccount['items']).toEqual(items);
  const [listed] = items as { id: string }[];
  const detail = await ok('GET', `/v1/accounts/${harness.account}/attempts/${listed?.id ?? ''}`);
  expect(detail).toMatchObject({ requestMissing: null, request: { url: receiver.url, body: sent?.raw } });
});

test('a test of a subscription that is deleted meanwhile leaves nothing behind', async () => {
  const latch = createLatch();
  await using receiver = await startReceiver(() => latch.opened.then(() => 200));
  const { harness, id, path, call, ok } = await openStage(receiver.url);
  const tested = call('POST', `${path}/test`);
  await vi.waitFor(() => expect(receiver.inFlight()).toBe(1), 5_000);
  await ok('DELETE', path);
  latch.open();
  expect((await tested).body).toMatchObject({ outcome: 'delivered' });
  expect(await harness.redis.exists(harness.keys.subscription(id).attempts)).toBe(0);
});
