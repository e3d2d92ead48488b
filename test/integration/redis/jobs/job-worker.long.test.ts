import { setTimeout as delay } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { expect, test } from 'vitest';
import { createRedisConnections, type RedisConnections } from '../../../../src/redis/connection/connect.ts';
import { openNode } from '../../../../src/redis/connection/open-client.ts';
import { createJobWorker } from '../../../../src/redis/jobs/job-worker.ts';
import { createMarkerWait } from '../../../../src/redis/jobs/marker-wait.ts';
import { startPrivateRedis } from '../../../support/redis/test-redis.ts';
import { startSilencingProxy } from '../../../support/connections/silencing-proxy.ts';

const goesOnMs = 15_000;
const prefix = 'silent:{~queues}';

/** The connections of a daemon, ready. */
async function connectTo(url: string): Promise<RedisConnections> {
  const connections = createRedisConnections(url, { connectionName: 'test', onStateChange: () => undefined });
  await connections.untilReady(5_000);
  return connections;
}

/** A queue, and a worker with one place over connections as the daemon has them. */
function startWork(connections: RedisConnections) {
  const queue = new Queue('work', { connection: connections.failFast(), prefix });
  const done: string[] = [];
  const worker = createJobWorker({
    queue: 'work',
    connection: connections.blocking(),
    prefix,
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
  return {
    done,
    add: (name: string) => queue.add(name, {}),
    async [Symbol.asyncDispose]() {
      await worker.close();
      await queue.close();
    },
  };
}

/** Rejects where a promise takes longer. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const late = delay(ms, undefined, { ref: false }).then(() => {
    throw new Error(`not within ${ms} ms`);
  });
  return Promise.race([promise, late]);
}

test('a worker takes jobs again within 15 s when the connection of its scripts, and that on which it waits, fall silent', async () => {
  await using redis = await startPrivateRedis();
  await using proxy = await startSilencingProxy(redis.port);
  await using connections = await connectTo(`redis://127.0.0.1:${proxy.port}`);
  await using work = startWork(connections);
  await work.add('first');
  await expect.poll(() => work.done).toEqual(['first']);
  const isWorkers = (name: string) => name.endsWith(':blocking') || name.startsWith(prefix);
  await expect.poll(() => proxy.names().filter(isWorkers).length).toBe(2);
  expect(proxy.silence(isWorkers)).toBe(2);
  await work.add('second');
  await expect.poll(() => work.done, { timeout: goesOnMs, interval: 50 }).toEqual(['first', 'second']);
}, 30_000);

test('a worker takes jobs again within 15 s when Redis is back after ten seconds without a server', async () => {
  await using redis = await startPrivateRedis();
  await using connections = await connectTo(redis.url);
  await using work = startWork(connections);
  await work.add('first');
  await expect.poll(() => work.done).toEqual(['first']);
  // By then it waits for jobs.
  await delay(1_000);
  await redis.kill();
  await delay(10_000);
  await redis.restart();
  await connections.untilReady(goesOnMs);
  await work.add('second');
  await expect.poll(() => work.done, { timeout: goesOnMs, interval: 50 }).toEqual(['first', 'second']);
}, 60_000);

test('a wait for jobs ends in time, and when it is stopped, while there is no server', async () => {
  await using redis = await startPrivateRedis();
  await using connections = await connectTo(redis.url);
  const markers = createMarkerWait((key) => openNode(connections.blocking(), key, 'test'));
  await using stack = new AsyncDisposableStack();
  stack.defer(markers.stop);
  expect(await markers.wait('jobs', 0.01)).toBe(null);
  await redis.kill();
  expect(await within(10_000, markers.wait('jobs', 2))).toBe(null);
  const stopped = markers.wait('jobs', 2);
  // It has been tried by then, and the client waits until its next attempt.
  await delay(1_000);
  markers.stop();
  expect(await within(500, stopped)).toBe(null);
}, 60_000);
