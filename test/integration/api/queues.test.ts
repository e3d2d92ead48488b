import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDeliverQueue, type DeliverQueue } from '../../../src/delivery/deliver-queue.ts';
import { createPollQueue, type PollQueue } from '../../../src/polling/schedule/poll-queue.ts';
import { readQueueState } from '../../../src/redis/jobs/queue-state.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { createApiFixture, type ApiFixture } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
const rethrow = (error: Error) => {
  throw error;
};
let polls: PollQueue;
let deliveries: DeliverQueue;
let api: ApiFixture;

beforeAll(async () => {
  const { queues } = createKeys(redis.prefix);
  const client = redis.connect();
  polls = createPollQueue(client, queues, rethrow);
  deliveries = createDeliverQueue(client, queues, rethrow);
  api = await createApiFixture(client, redis.prefix, {
    readQueues: () =>
      Promise.all([polls, deliveries].map(({ jobs }) => readQueueState(jobs, client, Date.now()))),
  });
});

afterAll(async () => {
  await api.app.close();
  await polls.close();
  await deliveries.close();
  await redis.cleanup();
});

test('the operator sees what every queue holds, without the names of accounts', async () => {
  const before = Date.now();
  await polls.schedule('acme', 60_000);
  await deliveries.wake('acme');
  await deliveries.wake('bluebonnet');
  const { items } = await api.ok('GET', '/v1/queues');
  const at = expect.stringMatching(/^\d{4}-.*Z$/) as string;
  expect(items).toEqual([
    {
      name: 'poll',
      paused: false,
      jobs: { waiting: 1, active: 0, delayed: 1, failed: 0 },
      schedulers: { count: 1, late: 0 },
      workers: 0,
      oldestWaitingAt: at,
    },
    {
      name: 'deliver',
      paused: false,
      jobs: { waiting: 2, active: 0, delayed: 0, failed: 0 },
      schedulers: { count: 0, late: 0 },
      workers: 0,
      oldestWaitingAt: at,
    },
  ]);
  const times = (items as { oldestWaitingAt: string }[]).map((queue) => Date.parse(queue.oldestWaitingAt));
  for (const time of times) expect(Math.abs(time - before)).toBeLessThan(10_000);
  expect(JSON.stringify(items)).not.toMatch(/acme|sub_/);
});

test('the token of an account finds no queues, and nothing can be changed there', async () => {
  await api.createAccount('acme');
  const { token } = await api.ok('POST', '/v1/accounts/acme/tokens', {});
  const asAccount = { token: String(token) };
  expect(await api.call('GET', '/v1/queues', undefined, asAccount)).toMatchObject({
    status: 404,
    body: { code: 'not_found' },
  });
  const changes = await Promise.all(['POST', 'DELETE'].map((method) => api.call(method, '/v1/queues')));
  expect(changes.map(({ status }) => status)).toEqual([405, 405]);
});
