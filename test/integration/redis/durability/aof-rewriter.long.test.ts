import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { createAofRewriter, type AofRewriter } from '../../../../src/redis/durability/aof-rewriter.ts';
import { createRedisConnections } from '../../../../src/redis/connection/connect.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { cutTail, lastAppendOnlyFile } from '../../../support/redis/redis-files.ts';
import { startPrivateRedis, type PrivateRedis } from '../../../support/redis/test-redis.ts';
import { startCluster } from '../../../support/redis/topologies.ts';

interface Watched {
  readonly rewriter: AofRewriter;
  readonly told: (string | readonly [string, string])[];
  missing(): number;
}

async function watchUrl(url: string, onRun = () => Promise.resolve()): Promise<Watched> {
  const connections = createRedisConnections(url, { connectionName: 'test', onStateChange: () => undefined });
  onTestFinished(() => connections.close());
  await connections.untilReady(10_000);
  const told: Watched['told'] = [];
  let missing = 0;
  const rewriter = createAofRewriter({
    redis: connections.command(),
    keys: createKeys('fw'),
    onRewritten: (server) => told.push(server),
    onNotRewritten: (server, reason) => told.push([server, reason]),
    onRun,
    onError: ({ message }) => told.push(message),
    onLook: (count) => (missing = count),
    now: () => performance.now(),
  });
  return { rewriter, told, missing: () => missing };
}

function connect(redis: PrivateRedis): Redis {
  const client = new Redis(redis.url);
  client.on('error', () => undefined);
  onTestFinished(() => client.disconnect());
  return client;
}

/**
 * A Redis whose file ends within a transaction that has set `first`, but not `second`, and was started on it.
 */
async function startOnCutFile(args: readonly string[] = []): Promise<PrivateRedis> {
  const redis = await startPrivateRedis({ appendfsync: 'always', args });
  onTestFinished(() => redis.close());
  const client = connect(redis);
  for (let i = 0; i < 10; i += 1) await client.set(`key-${i}`, i);
  await client.multi().set('first', 1).set('second', 1).exec();
  await redis.kill();
  await cutTail(await lastAppendOnlyFile(redis.directory), 20);
  await redis.restart();
  return redis;
}

async function untilRewritten({ rewriter, missing }: Watched): Promise<void> {
  const look = async () => {
    await rewriter.look();
    return missing();
  };
  await expect.poll(look, { timeout: 15_000, interval: 20 }).toBe(0);
}

test('a transaction that a cut has left half in the file is not carried out by the next start', async () => {
  const redis = await startOnCutFile();
  const watched = await watchUrl(redis.url);
  await connect(redis).multi().set('later', 1).set('last', 1).exec();
  await untilRewritten(watched);
  expect(watched.told).toEqual([`127.0.0.1:${redis.port}`]);
  await redis.restart();
  expect(await connect(redis).mget('first', 'second', 'later', 'last')).toEqual([null, null, '1', '1']);
});

test('each start is followed by one rewrite, however many processes look, and an empty server by none', async () => {
  const redis = await startPrivateRedis();
  onTestFinished(() => redis.close());
  const client = connect(redis);
  const rewrites = async () => Number(/aof_rewrites:(\d+)/.exec(await client.info('persistence'))?.[1]);
  const [one, other] = [await watchUrl(redis.url), await watchUrl(redis.url)];
  await Promise.all([one.rewriter.look(), other.rewriter.look()]);
  expect(await rewrites()).toBe(0);
  await client.set('key', 1);
  for (let i = 0; i < 2; i += 1) {
    await redis.restart();
    await expect.poll(() => client.ping().catch(String)).toBe('PONG');
    const [first, second] = [await watchUrl(redis.url), await watchUrl(redis.url)];
    await Promise.all([untilRewritten(first), untilRewritten(second)]);
    await Promise.all([untilRewritten(first), untilRewritten(second)]);
    expect(await rewrites()).toBe(1);
    expect([...first.told, ...second.told]).toContain(`127.0.0.1:${redis.port}`);
  }
});

test('what follows a start of the server is repeated with the next look if it failed, and not once it is done', async () => {
  const redis = await startPrivateRedis();
  onTestFinished(() => redis.close());
  let calls = 0;
  const { rewriter, told } = await watchUrl(redis.url, () => {
    calls += 1;
    return calls === 1 ? Promise.reject(new Error('the disk is full')) : Promise.resolve();
  });
  for (let i = 0; i < 4; i += 1) await rewriter.look();
  expect(calls).toBe(2);
  expect(told).toEqual(['the disk is full']);
});

test('a server that is killed in the midst of the rewrite starts again', async () => {
  // Microseconds per key: the rewrite takes seconds.
  const redis = await startOnCutFile(['--rdb-key-save-delay', '300000']);
  const watched = await watchUrl(redis.url);
  await watched.rewriter.look();
  await watched.rewriter.look();
  expect(watched.missing()).toBe(1);
  await redis.restart();
  expect(await connect(redis).get('key-9')).toBe('9');
});

test('a server that refuses is named once, with its reason, and counts as missing', async () => {
  const redis = await startOnCutFile(['--rename-command', 'BGREWRITEAOF', '']);
  const watched = await watchUrl(redis.url);
  for (let i = 0; i < 3; i += 1) await watched.rewriter.look();
  expect(watched.told).toEqual([[`127.0.0.1:${redis.port}`, expect.stringContaining('unknown command')]]);
  expect(watched.missing()).toBe(1);
});

test('in a cluster the file of every master is rewritten', async () => {
  await using cluster = await startCluster();
  // Before the first restart: a cluster that lacks a node takes no writes.
  for (const [i, node] of cluster.nodes.entries())
    expect(await connect(node).set(['{b}', '{c}', '{a}'][i] ?? '', 1)).toBe('OK');
  for (const node of cluster.nodes) await node.restart();
  const watched = await watchUrl(cluster.url);
  await untilRewritten(watched);
  expect(new Set(watched.told)).toEqual(new Set(cluster.nodes.map(({ port }) => `127.0.0.1:${port}`)));
});
