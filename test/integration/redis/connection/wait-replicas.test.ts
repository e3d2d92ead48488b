import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../../src/redis/server/redis-process.ts';
import { createRedisConnections } from '../../../../src/redis/connection/connect.ts';
import { committing, defineScript } from '../../../../src/redis/scripts.ts';
import { startPrivateRedis, type PrivateRedis } from '../../../support/redis/test-redis.ts';
import { joinAsReplica, startCluster, startClusterNode } from '../../../support/redis/topologies.ts';

const increment = defineScript(`return redis.call('INCR', KEYS[1])`);
const commit = committing(increment);
const never = 600_000;
// Replicas are served at once, without waiting for more of them.
const syncAtOnce = ['--repl-diskless-sync-delay', '0'];

function connect(redis: PrivateRedis): Redis {
  const client = new Redis(redis.url);
  client.on('error', () => undefined);
  onTestFinished(() => client.disconnect());
  return client;
}

async function startReplica(primary: PrivateRedis): Promise<PrivateRedis> {
  const replica = await startPrivateRedis({ args: ['--replicaof', '127.0.0.1', String(primary.port)] });
  onTestFinished(() => replica.close());
  await untilFollowing(connect(primary));
  return replica;
}

const untilFollowing = (primary: Redis) =>
  expect.poll(() => primary.info('replication'), { timeout: 20_000 }).toContain('state=online');

async function startPrimary(): Promise<PrivateRedis> {
  const primary = await startPrivateRedis({ args: syncAtOnce });
  onTestFinished(() => primary.close());
  return primary;
}

/** The client for stores, which waits for a replica, and what was reported of that. */
async function open(url: string, times: { readonly timeoutMs: number; readonly restMs: number }) {
  const reported: (number | 'back' | 'commit')[] = [];
  const connections = createRedisConnections(url, {
    connectionName: 'fw-test',
    onStateChange: () => undefined,
    replicaWait: {
      replicas: 1,
      onUnreplicated: () => reported.push('commit'),
      onChange: (acknowledged) => reported.push(acknowledged ?? 'back'),
      ...times,
    },
  });
  onTestFinished(() => connections.close());
  await connections.untilReady(10_000);
  return { redis: connections.command(), reported };
}

test('a commit is over when the replica has it, and not before', async () => {
  const primary = await startPrimary();
  const replica = await startReplica(primary);
  const { redis, reported } = await open(primary.url, { timeoutMs: never, restMs: never });
  await commit.run(redis, ['key'], []);
  replica.signal('SIGSTOP');
  let isOver = false;
  const second = commit.run(redis, ['key'], []).finally(() => (isOver = true));
  const observer = connect(primary);
  await expect.poll(() => observer.get('key')).toBe('2');
  expect(isOver).toBe(false);
  replica.signal('SIGCONT');
  expect(await second).toBe(2);
  expect(await connect(replica).get('key')).toBe('2');
  expect(reported).toEqual([]);
});

test('commits stand without the replica; after one has waited in vain the others do not wait', async () => {
  const primary = await startPrimary();
  const replica = await startReplica(primary);
  const { redis, reported } = await open(primary.url, { timeoutMs: 200, restMs: never });
  await replica.kill();
  const replies = await Promise.all(Array.from({ length: 20 }, () => commit.run(redis, ['key'], [])));
  expect(replies.at(-1)).toBe(20);
  expect(await commit.run(redis, ['key'], [])).toBe(21);
  expect(reported).toEqual([0, ...Array.from({ length: 21 }, () => 'commit')]);
  const calls = await connect(primary).info('commandstats');
  expect(/^cmdstat_wait:calls=(\d+)/m.exec(calls)?.[1]).toBe('1');
});

test('commits wait again when the replica is back', async () => {
  const primary = await startPrimary();
  const replica = await startReplica(primary);
  const { redis, reported } = await open(primary.url, { timeoutMs: 100, restMs: 1 });
  await replica.kill();
  await commit.run(redis, ['key'], []);
  await replica.restart();
  await untilFollowing(connect(primary));
  await expect.poll(() => commit.run(redis, ['key'], []).then(() => reported.at(-1))).toBe('back');
  expect(reported[0]).toBe(0);
});

test('a connection that broke while a commit waited proves nothing', async () => {
  const primary = await startPrimary();
  const replica = await startReplica(primary);
  const { redis, reported } = await open(primary.url, { timeoutMs: never, restMs: never });
  replica.signal('SIGSTOP');
  const commits = [commit.run(redis, ['key'], []), commit.run(redis, ['key'], [])];
  const observer = connect(primary);
  await expect.poll(() => observer.info('clients')).toContain('blocked_clients:1');
  await observer.call('CLIENT', 'KILL', 'TYPE', 'normal');
  await Promise.allSettled(commits);
  expect(reported.slice(0, 2)).toEqual([0, 'commit']);
});

test('other scripts wait for nothing, and neither does a connection without the setting', async () => {
  const primary = await startPrimary();
  const { redis, reported } = await open(primary.url, { timeoutMs: never, restMs: never });
  await increment.run(redis, ['key'], []);
  await commit.run(connect(primary), ['key'], []);
  expect(reported).toEqual([]);
});

test('in a cluster the replica of the node that has the key is waited for', async () => {
  const args = ['--cluster-allow-replica-migration', 'no', ...syncAtOnce];
  await using cluster = await startCluster([], args);
  await using replica = await startClusterNode(await freePort(), args);
  const [first, second] = cluster.nodes.map(connect) as [Redis, Redis];
  await joinAsReplica(connect(replica), first);
  await untilFollowing(first);
  const { redis, reported } = await open(cluster.url, { timeoutMs: 100, restMs: never });
  const keyOf = async (node: Redis) => {
    for (let i = 0; ; i += 1)
      if (
        await node.get(`key-${i}`).then(
          () => true,
          () => false,
        )
      )
        return `key-${i}`;
  };
  const kept = await keyOf(first);
  await commit.run(redis, [kept], []);
  expect(reported).toEqual([]);
  await commit.run(redis, [await keyOf(second)], []);
  expect(reported).toEqual([0, 'commit']);
  await commit.run(redis, [kept], []);
  expect(reported).toEqual([0, 'commit']);
});
