import { afterAll, expect, test, vi } from 'vitest';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { startTokenEndpoint } from '../../support/receivers/token-endpoint.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness } from '../delivery/drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

test('tokens that live for a second are replaced before they end, one at a time', async () => {
  await using tokens = await startTokenEndpoint();
  await using receiver = await startReceiver((callback) => (tokens.accepts(callback) ? 200 : 401));
  await using harness = await createHarness(redis);
  tokens.lifetime(1);
  const auth = { ...tokens.auth, audience: null, clientAuthentication: 'basic' } as const;
  const id = await harness.subscribe(receiver.url, { auth });
  await vi.waitFor(
    async () => {
      await harness.append('a', 'b');
      await harness.drain(id);
      expect(tokens.requests.length).toBeGreaterThan(3);
    },
    { timeout: 20_000, interval: 20 },
  );
  expect(receiver.received.length).toBeGreaterThan(20);
  expect(receiver.accepted).toHaveLength(receiver.received.length);
});
