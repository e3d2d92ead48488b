import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPrivateRedis } from '../../support/redis/test-redis.ts';
import { writeSentinel } from '../../support/redis/topologies.ts';
import {
  failLagging,
  isFollowing,
  isPrimary,
  joinMember,
  killAndRestart,
  stall,
  syncAtOnce,
  until,
  type FailoverGroup,
  type Member,
} from './replication.ts';

// Sentinels elect no replica whose link has been down for ten times as long, and on a loaded machine it is
// made to lag for ten seconds and more.
const downAfterMs = 3_000;

/**
 * A master and its replica, watched by three sentinels of which two must agree. The master is stalled or
 * killed with its replica lagging behind.
 */
export async function startThreeSentinels(): Promise<FailoverGroup> {
  await using stack = new AsyncDisposableStack();
  const servers = await Promise.all(
    [1, 2].map(async () => stack.use(await startPrivateRedis({ args: syncAtOnce }))),
  );
  const [first, second] = servers.map((redis) => stack.use(joinMember(redis))) as [Member, Member];
  await second.client.replicaof('127.0.0.1', first.redis.port);
  await until('the replica follows', () => isFollowing(second));
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(stack, first.redis.port)));

  const pairNow = async (): Promise<readonly [master: Member, replica: Member]> =>
    (await isPrimary(first)) ? [first, second] : [second, first];
  const untilWhole = () =>
    until('all sentinels see a master and its replica', async () => {
      const [master, replica] = await pairNow();
      if (!(await isFollowing(replica)) || !(await isPrimary(master))) return false;
      const views = await Promise.all(sentinels.map((sentinel) => seesPair(sentinel, master, replica)));
      return views.every(Boolean);
    });
  await untilWhole();

  const failing = (fail: typeof stall) => async (whileLagging: () => Promise<void>) => {
    const undone = await failLagging(await pairNow(), whileLagging, fail);
    await untilWhole();
    return undone;
  };

  const running = stack.move();
  return {
    url: `redis+sentinel://${sentinels.map(({ redis }) => `127.0.0.1:${redis.port}`).join(',')}/main`,
    ways: [
      { name: 'a stalled master behind sentinels', run: failing(stall) },
      { name: 'a killed master behind sentinels', run: failing(killAndRestart) },
    ],
    untilWhole,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function startSentinel(stack: AsyncDisposableStack, masterPort: number): Promise<Member> {
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-sentinel-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const executable = await writeSentinel(folder, { masterPort, quorum: 2, downAfterMs });
  return stack.use(joinMember(stack.use(await startPrivateRedis({ executable }))));
}

async function seesPair({ client }: Member, master: Member, replica: Member): Promise<boolean> {
  const view = toFields(await client.call('SENTINEL', 'MASTER', 'main'));
  if (view.get('port') !== String(master.redis.port) || view.get('flags') !== 'master') return false;
  if (view.get('num-other-sentinels') !== '2') return false;
  const replicas = (await client.call('SENTINEL', 'REPLICAS', 'main')) as unknown[];
  return replicas
    .map(toFields)
    .some((fields) => fields.get('port') === String(replica.redis.port) && fields.get('flags') === 'slave');
}

// Names and values in turns.
function toFields(reply: unknown): Map<string, string> {
  const items = reply as string[];
  return new Map(items.flatMap((item, i) => (i % 2 === 0 ? [[item, items[i + 1] ?? '']] : [])));
}
