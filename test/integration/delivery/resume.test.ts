import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { createApiFixture } from '../../support/api/api-fixture.ts';
import { createLatch, startReceiver } from '../../support/receivers/receiver.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness, type Harness } from './drain-harness.ts';

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
      ping: harness.ping,
      wake: hooks.wake ?? harness.waker.wake,
    },
  }));
  onTestFinished(() => api.app.close());
  await api.createAccount(harness.account);
  const id = await harness.subscribe(url);
  const path = `/v1/accounts/${harness.account}/subscriptions/${id}`;
  return { harness, id, path, ...api };
}

/** Publishes events of five filings, until the endpoint is paused because all have failed. */
async function pause(harness: Harness, id: string): Promise<void> {
  await harness.publish('a', 'b', 'c', 'd', 'e');
  await vi.waitFor(async () => {
    expect(await harness.state(id)).toMatchObject({ parked: expect.anything() as unknown });
    expect((await harness.state(id)).pausedUntil).toBeGreaterThan(Date.now() + 10_000);
  }, 10_000);
}

const attemptsIn = (harness: Harness) => harness.reports.map(({ attempt }) => attempt.attempt);

test.each(['test', 'resume'])(
  'what waits is tried at once after POST …/%s, as its next attempt',
  async (verb) => {
    await using receiver = await startReceiver(500);
    const { harness, id, path, ok } = await openStage(receiver.url);
    harness.startWorker();
    await pause(harness, id);
    receiver.answer(200);
    await ok('POST', `${path}/${verb}`);
    const events = () => receiver.accepted.filter(({ filingId }) => filingId !== '');
    await vi.waitFor(() => expect(events()).toHaveLength(5), 10_000);
    // Those that the pause held back have had none.
    await vi.waitFor(() =>
      expect(attemptsIn(harness).filter((tried) => tried === 2).length).toBeGreaterThan(2),
    );
    expect(Math.max(...attemptsIn(harness))).toBe(2);
    await vi.waitFor(async () => expect((await harness.state(id)).pausedUntil).toBe(0), 5_000);
  },
);

test('a test that fails changes nothing, and neither does one of an endpoint that is well', async () => {
  await using receiver = await startReceiver(500);
  const { harness, id, path, ok } = await openStage(receiver.url);
  const versionOf = async () => (await harness.state(id)).endpointVersion;
  expect(await ok('POST', `${path}/test`)).toMatchObject({ outcome: 'http_error' });
  expect(await ok('GET', path)).toMatchObject({ state: 'active', consecutiveFailures: 0 });
  receiver.answer(200);
  expect(await ok('POST', `${path}/test`)).toMatchObject({ outcome: 'delivered' });
  expect(await versionOf()).toBe(0);
  harness.startWorker();
  receiver.answer(500);
  await pause(harness, id);
  const before = await harness.state(id);
  await ok('POST', `${path}/test`);
  expect((await harness.state(id)).pausedUntil).toBe(before.pausedUntil);
  expect((await harness.state(id)).failures).toBe(before.failures);
});

test('a delivery that is under way takes it up', async () => {
  const latch = createLatch();
  let fails = true;
  await using receiver = await startReceiver(async ({ filingId }) => {
    if (filingId === 'hangs') await latch.opened;
    return fails ? 500 : 200;
  });
  const { harness, path, ok } = await openStage(receiver.url);
  harness.startWorker();
  await harness.publish('hangs');
  await vi.waitFor(() => expect(receiver.inFlight()).toBe(1), 5_000);
  await harness.publish('waits');
  await vi.waitFor(() => expect(harness.reports).toHaveLength(1), 5_000);
  fails = false;
  await ok('POST', `${path}/resume`);
  await vi.waitFor(() => expect(receiver.accepted.map((one) => one.filingId)).toEqual(['waits']), 5_000);
  latch.open();
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(2), 5_000);
});

test('it is done after a crash too: what was written is enough for the next poll', async () => {
  await using receiver = await startReceiver(500);
  const wake = () => Promise.reject(new Error('the process is gone'));
  const { harness, id, path, ok } = await openStage(receiver.url, { wake });
  harness.startWorker();
  await pause(harness, id);
  receiver.answer(200);
  await ok('POST', `${path}/resume`);
  await harness.waker.wakeIfDue(harness.account);
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(5), 10_000);
});

test('a disabled or expired subscription is not resumed; the answer says what to do', async () => {
  const { harness, id, path, call, ok } = await openStage('http://127.0.0.1:9/');
  expect(await ok('POST', `${path}/resume`)).toMatchObject({ state: 'active', enabled: true });
  for (const [settings, enabled] of [
    [{}, false],
    [{ expiresAt: Date.now() - 1 }, true],
  ] as const) {
    await harness.change(id, settings, { enabled });
    const { status, body } = await call('POST', `${path}/resume`);
    expect([status, body['code']]).toEqual([409, 'subscription_disabled']);
    expect(body['detail']).toMatch(/"enabled": true, or .*"expiresAt"/);
  }
});

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
  expect(await harness.stored.of(id).attempts()).toEqual([]);
});
