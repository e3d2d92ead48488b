import { afterAll, expect, test, vi } from 'vitest';
import { startForwardProxy } from '../../support/connections/forward-proxy.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { startTokenEndpoint } from '../../support/receivers/token-endpoint.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness } from '../delivery/drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const soon = { timeout: 15_000, interval: 50 };

test('a token that cannot be asked for because the forward proxy is down has its callbacks held, and blames neither endpoint', async () => {
  await using tokens = await startTokenEndpoint();
  await using receiver = await startReceiver((callback) => (tokens.accepts(callback) ? 200 : 401));
  await using proxy = await startForwardProxy();
  await using harness = await createHarness(redis, { egressProxy: proxy.url, retryMs: [20, 40] });
  const auth = { ...tokens.auth, audience: null, clientAuthentication: 'basic' } as const;
  await proxy.stop();
  const id = await harness.subscribe(receiver.url, { auth });
  await harness.append('a', 'a', 'b');
  await vi.waitFor(async () => {
    await harness.drain(id);
    expect(harness.reports.length).toBeGreaterThan(1);
  }, soon);
  const attempts = () => harness.reports.map(({ attempt }) => attempt);
  expect(attempts()).toEqual(
    attempts().map(() =>
      expect.objectContaining({
        outcome: 'proxy_error',
        attempt: 1,
        reason: 'The forward proxy cannot be reached.',
      }),
    ),
  );
  expect(await harness.state(id)).toMatchObject({ failures: 0, probes: 0, failingSince: 0, enabled: true });
  expect([tokens.requests, receiver.received]).toEqual([[], []]);

  await proxy.start();
  await vi.waitFor(async () => {
    await harness.drain(id);
    expect(receiver.accepted).toHaveLength(3);
  }, soon);
  expect(tokens.requests).toHaveLength(1);
  expect(proxy.connects.map(({ authority }) => authority)[0]).toBe(new URL(tokens.auth.tokenUrl).host);
  expect(new Set(attempts().map(({ attempt }) => attempt))).toEqual(new Set([1]));
  expect(receiver.accepted.filter(({ filingId }) => filingId === 'a').map((each) => each.sequence)).toEqual([
    1, 2,
  ]);
  expect(await harness.state(id)).toMatchObject({ failures: 0, pausedUntil: 0, parked: 0 });
});
