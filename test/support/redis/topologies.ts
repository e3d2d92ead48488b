import { Redis } from 'ioredis';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { findExecutable } from '../../../src/redis/server/find-server.ts';
import { freePort } from '../../../src/redis/server/redis-process.ts';
import { startPrivateRedis } from './test-redis.ts';
import type { PrivateRedis } from './test-redis.ts';

const slotCount = 16_384;

/** Three masters without replicas, each with a third of the slots. */
export type TestCluster = AsyncDisposable & { readonly url: string; readonly nodes: readonly PrivateRedis[] };

/**
 * Starts a Redis Cluster and waits until every node calls it whole; `lastNodeArgs` are for the third node
 * alone, `args` for each.
 */
export async function startCluster(
  lastNodeArgs: readonly string[] = [],
  args: readonly string[] = [],
): Promise<TestCluster> {
  const busPorts = [await freePort(), await freePort(), await freePort()];
  const nodes = await Promise.all(
    busPorts.map((busPort, index) =>
      startClusterNode(busPort, [...args, ...(index === 2 ? lastNodeArgs : [])]),
    ),
  );
  const clients = nodes.map((node) => new Redis(node.url));
  await Promise.all(
    clients.map((client, index) => joinCluster(client, index, nodes[0]?.port ?? 0, busPorts[0] ?? 0)),
  );
  await Promise.all(
    clients.map((client) => expect.poll(() => isWhole(client), { timeout: 20_000 }).toBe(true)),
  );
  for (const client of clients) client.disconnect();
  return {
    url: `redis+cluster://127.0.0.1:${nodes[0]?.port},127.0.0.1:${nodes[1]?.port}`,
    nodes,
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node.close()));
    },
  };
}

/** Starts a node that belongs to no cluster yet. */
export function startClusterNode(busPort: number, extra: readonly string[]): Promise<PrivateRedis> {
  const cluster = [
    '--cluster-enabled',
    'yes',
    '--cluster-port',
    String(busPort),
    '--cluster-node-timeout',
    '1000',
  ];
  return startPrivateRedis({ args: [...cluster, ...extra] });
}

async function joinCluster(client: Redis, index: number, port: number, busPort: number): Promise<void> {
  const first = Math.ceil((slotCount * index) / 3);
  const last = Math.ceil((slotCount * (index + 1)) / 3) - 1;
  await client.cluster('ADDSLOTSRANGE', first, last);
  if (index > 0) await client.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort);
}

/**
 * Brings a new node into a cluster as the replica of one of its nodes; resolves when it is told to follow,
 * which takes a moment more.
 */
export async function joinAsReplica(replica: Redis, primary: Redis): Promise<void> {
  const [, busPort = ''] = await primary.config('GET', 'cluster-port');
  await replica.call('CLUSTER', 'MEET', '127.0.0.1', primary.options.port ?? 0, busPort);
  const id = await primary.cluster('MYID');
  const follow = () => replica.call('CLUSTER', 'REPLICATE', id).catch(String);
  await expect.poll(follow, { timeout: 20_000 }).toBe('OK');
}

async function isWhole(client: Redis): Promise<boolean> {
  const info = await client.cluster('INFO');
  return /cluster_state:ok/.test(info) && /cluster_size:3/.test(info) && /cluster_known_nodes:3/.test(info);
}

/** A master, its replica and one sentinel that fails over after half a second. */
export type TestSentinel = AsyncDisposable & {
  readonly url: string;
  readonly master: PrivateRedis;
  readonly replica: PrivateRedis;
};

/** Starts them and waits until the replica follows and the sentinel knows it. */
export async function startSentinel(): Promise<TestSentinel> {
  const master = await startPrivateRedis();
  const replica = await startPrivateRedis({ args: ['--replicaof', '127.0.0.1', String(master.port)] });
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-sentinel-'));
  const executable = await writeSentinel(folder, { masterPort: master.port, quorum: 1, downAfterMs: 500 });
  const sentinel = await startPrivateRedis({ executable });
  const client = new Redis(sentinel.url);
  await expect
    .poll(async () => String(await client.call('SENTINEL', 'REPLICAS', 'main')), { timeout: 20_000 })
    .toContain(`${replica.port}`);
  client.disconnect();
  return {
    url: `redis+sentinel://127.0.0.1:${sentinel.port}/main`,
    master,
    replica,
    async [Symbol.asyncDispose]() {
      await Promise.all([sentinel, replica, master].map((server) => server.close()));
      await rm(folder, { recursive: true });
    },
  };
}

/**
 * Writes what starts a sentinel of the master `main`, to be run in place of redis-server; one to a folder. A
 * sentinel wants a configuration file, as the first argument, that it may rewrite.
 */
export async function writeSentinel(
  folder: string,
  { masterPort, quorum, downAfterMs }: { masterPort: number; quorum: number; downAfterMs: number },
): Promise<string> {
  const server = findExecutable(['redis-server', 'valkey-server'], process.env['PATH'] ?? '');
  const settings = [
    `sentinel monitor main 127.0.0.1 ${masterPort} ${quorum}`,
    `sentinel down-after-milliseconds main ${downAfterMs}`,
    'sentinel failover-timeout main 2000',
  ];
  await writeFile(join(folder, 'sentinel.conf'), `${settings.join('\n')}\n`);
  const starter = join(folder, 'start');
  await writeFile(
    starter,
    `#!/bin/sh\nexec "${server}" "${join(folder, 'sentinel.conf')}" --sentinel "$@"\n`,
  );
  await chmod(starter, 0o755);
  return starter;
}
