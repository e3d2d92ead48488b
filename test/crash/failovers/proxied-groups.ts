import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../src/redis/server/redis-process.ts';
import {
  joinAsReplica,
  startCluster,
  startClusterNode,
  writeSentinel,
} from '../../support/redis/topologies.ts';
import { startPrivateRedis, type PrivateRedis } from '../../support/redis/test-redis.ts';
import { startSilencingProxy, type SilencingProxy } from '../../support/connections/silencing-proxy.ts';
import { isFollowing, isPrimary, joinMember, syncAtOnce, until, type Member } from './replication.ts';

/**
 * How a primary falls silent: it stands still, a sentinel too, nothing reaches it any more, or only its
 * oldest connection is answered.
 */
export type Silence =
  'stands still' | 'stands still with a sentinel' | 'loses its route' | 'answers one connection only';

/** Servers behind a proxy each, of which a primary can fall silent and stay so. */
export interface ProxiedGroup extends AsyncDisposable {
  /** For REDIS_URL. */
  readonly url: string;
  /**
   * Has a primary fall silent; resolves when a replica has taken over, with the time of that. The former
   * primary stays silent.
   */
  fail(how: Silence): Promise<number>;
}

interface ProxiedMember extends Member {
  readonly proxy: SilencingProxy;
}

/** A master and its replica, watched by three sentinels, all of which know the servers by their proxies. */
export async function startProxiedSentinels(): Promise<ProxiedGroup> {
  await using stack = new AsyncDisposableStack();
  const [master, replica] = (await Promise.all(
    [1, 2].map(async () =>
      proxied(stack, stack.use(await startPrivateRedis({ args: syncAtOnce })), 'replica-announce-port'),
    ),
  )) as [ProxiedMember, ProxiedMember];
  await replica.client.replicaof('127.0.0.1', master.proxy.port);
  await until('the replica follows', () => isFollowing(replica));
  const sentinels = await Promise.all(
    [1, 2, 3].map(async () => {
      const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-sentinel-'));
      stack.defer(() => rm(folder, { recursive: true }));
      const settings = { masterPort: master.proxy.port, quorum: 2, downAfterMs: 1_000 };
      const executable = await writeSentinel(folder, settings);
      return stack.use(joinMember(stack.use(await startPrivateRedis({ executable }))));
    }),
  );
  await until('all sentinels know the replica and each other', async () => {
    const views = await Promise.all(
      sentinels.map(async ({ client }) =>
        [
          await client.call('SENTINEL', 'REPLICAS', 'main'),
          await client.call('SENTINEL', 'SENTINELS', 'main'),
        ].map((list) => (list as unknown[]).length),
      ),
    );
    return views.every(([replicas, others]) => replicas === 1 && others === 2);
  });
  const running = stack.move();
  return {
    url: `redis+sentinel://${sentinels.map(({ redis }) => `127.0.0.1:${redis.port}`).join(',')}/main`,
    async fail(how) {
      if (how === 'stands still with a sentinel') sentinels[0]?.redis.signal('SIGSTOP');
      fallSilent(master, how);
      return untilElected(replica);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Three primaries with a replica each; the one that falls silent owns the slot of a hash tag. */
export async function startProxiedCluster(hashTag: string): Promise<ProxiedGroup> {
  await using stack = new AsyncDisposableStack();
  const args = [...syncAtOnce, '--cluster-replica-validity-factor', '0'];
  const { nodes: primaries } = stack.use(await startCluster([], args));
  const replicas = await Promise.all(
    primaries.map(async () => stack.use(await startClusterNode(await freePort(), args))),
  );
  const members = await Promise.all(
    [...primaries, ...replicas].map((redis) => proxied(stack, redis, 'cluster-announce-port')),
  );
  for (const [i, primary] of members.slice(0, 3).entries())
    await joinAsReplica((members[i + 3] as ProxiedMember).client, primary.client);
  const ports = members.map(({ proxy }) => proxy.port);
  await until('all nodes know each other by their proxies', async () => {
    const views = await Promise.all(members.map(({ client }) => client.cluster('NODES')));
    return views.every((view) => ports.every((port) => String(view).includes(`:${port}@`)));
  });
  for (const replica of members.slice(3)) await until('a replica follows', () => isFollowing(replica));
  const slot = await (members[0] as ProxiedMember).client.cluster('KEYSLOT', hashTag);
  const index = Math.floor((slot * 3) / 16_384);
  const [primary, replica] = [members[index], members[index + 3]] as [ProxiedMember, ProxiedMember];
  const running = stack.move();
  return {
    url: `redis+cluster://${members.map(({ proxy }) => `127.0.0.1:${proxy.port}`).join(',')}`,
    async fail(how) {
      fallSilent(primary, how);
      // Nodes talk to each other past the proxies, so nobody misses one that only its clients have lost.
      if (how !== 'stands still') await replica.client.cluster('FAILOVER', 'TAKEOVER');
      return untilElected(replica);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function proxied(
  stack: AsyncDisposableStack,
  redis: PrivateRedis,
  announcedBy: string,
): Promise<ProxiedMember> {
  const proxy = stack.use(await startSilencingProxy(redis.port));
  const member = stack.use(joinMember(redis));
  await member.client.config('SET', announcedBy, String(proxy.port));
  return { ...member, proxy };
}

function fallSilent({ redis, proxy }: ProxiedMember, how: Silence): void {
  if (how === 'loses its route') proxy.lose();
  else if (how === 'answers one connection only') proxy.lose(1);
  else redis.signal('SIGSTOP');
}

async function untilElected(replica: Member): Promise<number> {
  await until('a replica takes over', () => isPrimary(replica));
  return Date.now();
}
