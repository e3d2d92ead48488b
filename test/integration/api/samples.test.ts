import { afterAll, expect, test } from 'vitest';
import { createApiFixture } from '../../support/api/api-fixture.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness } from '../delivery/drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

test('the newest events are samples: the bodies of callbacks byte for byte', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const api = await createApiFixture(redis.connect(), redis.prefix);
  const path = await api.createAccount(harness.account);
  const id = await harness.subscribe(receiver.url);
  await harness.append('f1', 'f2', 'f3', 'f4');
  await harness.drain(id);
  const newest = receiver.accepted.toSorted((a, b) => (a.filingId < b.filingId ? 1 : -1)).slice(0, 3);
  const samples = newest.map(({ raw }) => raw);
  const { text } = await api.call('GET', `${path}/events?order=newest&limit=3&types=filing.pending`);
  expect(text).toContain(`"items":[${samples.join(',')}]`);
  await api.app.close();
});

test('an empty log has no samples, and each type has an example of the same shape', async () => {
  const api = await createApiFixture(redis.connect(), `${redis.prefix}-empty`);
  const path = await api.createAccount('empty');
  expect((await api.ok('GET', `${path}/events?order=newest&limit=3`))['items']).toEqual([]);
  const { items } = await api.ok('GET', '/v1/event-types');
  for (const { type, example } of items as { type: string; example: Record<string, unknown> }[]) {
    expect(example).toMatchObject({
      id: expect.any(String),
      type,
      timestamp: expect.any(String),
      data: { account: expect.any(String) },
    });
    expect(Object.keys(example)).toEqual(['id', 'type', 'timestamp', 'data']);
  }
  await api.app.close();
});
