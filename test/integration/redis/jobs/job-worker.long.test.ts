import { Queue } from 'bullmq';
import { expect, test } from 'vitest';
import { createRedisConnections } from '../../../../src/redis/connection/connect.ts';
import { createJobWorker } from '../../../../src/redis/jobs/job-worker.ts';
import { startPrivateRedis } from '../../../support/redis/test-redis.ts';
import { startSilencingProxy } from '../../../support/connections/silencing-proxy.ts';

const goesOnMs = 15_000;

test('a worker takes jobs again within 15 s when the connection of its scripts, and that on which it waits, fall silent', async () => {
  await using redis = await startPrivateRedis();
  await using proxy = await startSilencingProxy(redis.port);
  await using connections = createRedisConnections(`redis://127.0.0.1:${proxy.port}`, {
    connectionName: 'test',
    onStateChange: () => undefined,
  });
  await connections.untilReady(5_000);
  const prefix = 'silent:{~queues}';
  await using stack = new AsyncDisposableStack();
  const queue = new Queue('work', { connection: connections.failFast(), prefix });
  stack.defer(() => queue.close());
  const done: string[] = [];
  const worker = createJobWorker({
    queue: 'work',
    connection: connections.blocking(),
    prefix: prefix,
    concurrency: 1,
    lockMs: 5_000,
    stalledMs: 2_000,
    async process({ name }) {
      done.push(name);
      return 'done';
    },
    onError: () => undefined,
    onFailed: () => undefined,
  });
  stack.defer(() => worker.close());
  await queue.add('first', {});
  await expect.poll(() => done).toEqual(['first']);
  const isWorkers = (name: string) => name.endsWith(':blocking') || name.startsWith(prefix);
  await expect.poll(() => proxy.names().filter(isWorkers).length).toBe(2);
  expect(proxy.silence(isWorkers)).toBe(2);
  await queue.add('second', {});
  await expect.poll(() => done, { timeout: goesOnMs, interval: 50 }).toEqual(['first', 'second']);
}, 30_000);
