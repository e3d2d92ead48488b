import { Queue, Worker } from 'bullmq';
import { describe, expect, test } from 'vitest';
import { checkDurability } from '../../../../src/redis/durability/check-durability.ts';
import { createRedisConnections } from '../../../../src/redis/connection/connect.ts';
import type { RedisConnections } from '../../../../src/redis/connection/connect.ts';
import { defineScript } from '../../../../src/redis/scripts.ts';
import { startCluster, startSentinel } from '../../../support/redis/topologies.ts';

async function open(url: string): Promise<RedisConnections> {
  const connections = createRedisConnections(url, {
    connectionName: 'fw-test',
    onStateChange: () => undefined,
  });
  await connections.untilReady(5_000);
  return connections;
}

async function workThroughOneJob(connections: RedisConnections): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const options = { prefix: 'fw:{~queues}' };
  const queue = new Queue('work', { connection: connections.failFast(), ...options });
  const connection = connections.blocking();
  const worker = new Worker('work', async (job) => resolve(job.name), { connection, ...options });
  queue.on('error', () => undefined);
  worker.on('error', () => undefined);
  await queue.add('done', {});
  const name = await promise;
  await worker.close();
  await queue.close();
  return name;
}

describe('a Redis Cluster', () => {
  test('takes commands and scripts for keys of every node, and BullMQ jobs', async () => {
    await using cluster = await startCluster();
    await using connections = await open(cluster.url);
    const redis = connections.command();
    const accounts = Array.from({ length: 30 }, (_, index) => `fw:{account-${index}}`);
    const increment = defineScript("redis.call('SET', KEYS[2], ARGV[1]); return redis.call('INCR', KEYS[1])");
    const replies = await Promise.all(
      accounts.map((account) => increment.run(redis, [`${account}:head`, `${account}:last`], [account])),
    );
    expect(new Set(replies)).toEqual(new Set([1]));
    const values = await Promise.all(
      accounts.map((account) => connections.failFast().get(`${account}:last`)),
    );
    expect(values).toEqual(accounts);
    expect(await workThroughOneJob(connections)).toBe('done');
  });

  test('is checked for durability on every master', async () => {
    await using cluster = await startCluster(['--appendonly', 'no']);
    await using connections = await open(cluster.url);
    const { problems } = await checkDurability(connections.command());
    expect(problems).toEqual([expect.stringContaining('keeps no append-only file')]);
  });

  test('fails fast for the keys of a lost node and serves them again when it is back', async () => {
    await using cluster = await startCluster();
    await using connections = await open(cluster.url);
    const redis = connections.failFast();
    const set = (): Promise<string> => redis.set('{lost}:key', '1').then(String, String);
    const keySlot = await redis.cluster('KEYSLOT', '{lost}');
    const owner = cluster.nodes[Math.floor((keySlot * 3) / 16_384)];
    expect(await set()).toBe('OK');
    await owner?.kill();
    const start = performance.now();
    expect(await set()).not.toBe('OK');
    expect(performance.now() - start).toBeLessThan(2_000);
    await owner?.restart();
    await expect.poll(set, { timeout: 10_000 }).toBe('OK');
  });
});

describe('a Redis behind sentinels', () => {
  test('is found by name, and its successor after it died', async () => {
    await using group = await startSentinel();
    await using connections = await open(group.url);
    const redis = connections.command();
    await redis.set('key', 'written to the first');
    // A connection that is silent for five seconds is given up.
    await expect.poll(() => redis.call('WAIT', 1, 1_000), { timeout: 20_000 }).toBe(1);
    expect(await workThroughOneJob(connections)).toBe('done');
    await group.master.kill();
    const write = (): Promise<string> => redis.set('another', 'written to the second').then(String, String);
    await expect.poll(write, { timeout: 20_000 }).toBe('OK');
    // The change of roles may cut a connection once more.
    await expect.poll(() => redis.get('key').catch(String)).toBe('written to the first');
    await expect.poll(() => connections.failFast().get('key').catch(String)).toBe('written to the first');
    const problems = () => checkDurability(redis).then((checked) => checked.problems, String);
    await expect.poll(problems).toEqual([]);
  });
});
