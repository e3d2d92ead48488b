import { setTimeout as delay } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../src/redis/server/redis-process.ts';
import { listenForCommits } from '../../src/filings/commit/commit-journal.ts';
import { createRedisConnections, type RedisConnections } from '../../src/redis/connection/connect.ts';
import { createJobWorker } from '../../src/redis/jobs/job-worker.ts';
import { startCluster, startClusterNode } from '../support/redis/topologies.ts';
import type { PrivateRedis } from '../support/redis/test-redis.ts';
import { startSilencingProxy } from '../support/connections/silencing-proxy.ts';

const goesOnMs = 15_000;
const prefix = 'fw:{~queues}';

async function open(url: string): Promise<RedisConnections> {
  const connections = createRedisConnections(url, {
    connectionName: 'test',
    onStateChange: () => undefined,
  });
  await connections.untilReady(5_000);
  return connections;
}

function connect({ url }: PrivateRedis): Redis {
  const client = new Redis(url);
  client.on('error', () => undefined);
  onTestFinished(() => client.disconnect());
  return client;
}

// While a node stands still the others call the cluster failed, for its slots are not served. A client that
// connects then gets ready at a later attempt only, and what waits for the first one, as BullMQ does by
// itself, waits for ever.
test('a worker takes jobs again within 15 s after the only node with its queue has stood still', async () => {
  await using cluster = await startCluster();
  await using connections = await open(cluster.url);
  await using stack = new AsyncDisposableStack();
  const queue = new Queue('work', { connection: connections.failFast(), prefix });
  queue.on('error', () => undefined);
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
  const add = (name: string) => queue.add(name, {}).then(() => 'added', String);
  expect(await add('first')).toBe('added');
  await expect.poll(() => done, { timeout: goesOnMs }).toEqual(['first']);
  const slot = await connections.failFast().cluster('KEYSLOT', prefix);
  const owner = cluster.nodes[Math.floor((slot * 3) / 16_384)];
  owner?.signal('SIGSTOP');
  await delay(12_000);
  owner?.signal('SIGCONT');
  await expect.poll(() => add('second'), { timeout: goesOnMs }).toBe('added');
  await expect.poll(() => done, { timeout: goesOnMs }).toContain('second');
}, 120_000);

test('commits of others are heard of again within 15 s after the connection to a cluster that told of them has fallen silent', async () => {
  await using node = await startClusterNode(await freePort(), ['--cluster-announce-ip', '127.0.0.1']);
  await using proxy = await startSilencingProxy(node.port);
  const client = connect(node);
  await client.config('SET', 'cluster-announce-port', String(proxy.port));
  await client.cluster('ADDSLOTSRANGE', 0, 16_383);
  await expect.poll(() => client.cluster('INFO'), { timeout: goesOnMs }).toContain('cluster_state:ok');
  await using connections = await open(`redis+cluster://127.0.0.1:${proxy.port}`);
  const heard: string[] = [];
  const listen = await listenForCommits(
    connections.listening(),
    { commits: 'commits' },
    { hear: (message) => void heard.push(message) },
  );
  const again = setInterval(() => void listen().catch(() => undefined), 1_000);
  onTestFinished(() => clearInterval(again));
  expect(proxy.silence((name) => name.includes('subscriber'))).toBe(1);
  const tell = async () => {
    await client.publish('commits', 'told');
    return heard.length;
  };
  await expect.poll(tell, { timeout: goesOnMs, interval: 100 }).toBeGreaterThan(0);
}, 60_000);
