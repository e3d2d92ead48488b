import type { Redis } from 'ioredis';
import { freePort } from '../../../src/redis/server/redis-process.ts';
import { joinAsReplica, startCluster, startClusterNode } from '../../support/redis/topologies.ts';
import { accounts } from '../../support/world/world.ts';
import { moveSlot } from './move-slot.ts';
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

// A replica may take over however long its link has been down.
const settings = {
  'cluster-node-timeout': '1500',
  'cluster-replica-validity-factor': '0',
  'cluster-allow-replica-migration': 'no',
  'cluster-require-full-coverage': 'no',
};
const args = [...syncAtOnce, ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])];
// What the keys of an account, and those of the queues, are hashed by.
const hashTags = [...accounts, '{~queues}'];

/**
 * Three primaries with a replica each. The primary of a slot in use, picked at random, is stalled or killed
 * with its replica lagging behind, or an account's slot is moved to another primary.
 */
export async function startClusterOfSix(random: () => number): Promise<FailoverGroup> {
  await using stack = new AsyncDisposableStack();
  const { nodes: primaries } = stack.use(await startCluster([], args));
  const replicas = await Promise.all(
    primaries.map(async () => stack.use(await startClusterNode(await freePort(), args))),
  );
  const members = [...primaries, ...replicas].map((redis) => stack.use(joinMember(redis)));
  for (const [i, primary] of members.slice(0, 3).entries())
    await joinAsReplica((members[i + 3] as Member).client, primary.client);

  const untilWhole = () =>
    until('a cluster is whole', async () => {
      const whole = await Promise.all(members.map(seesWhole));
      const count = (role: string) => whole.filter((each) => each === role).length;
      return count('primary') === 3 && count('replica') === 3;
    });
  await untilWhole();

  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const slotOf = (tag: string) => (members[0] as Member).client.cluster('KEYSLOT', tag);
  const pairOf = async (slot: number) => {
    let ports: number[] = [];
    // A node lists a replica of another primary only once it has heard of it from that one.
    await until('a slot has a primary and a replica', async () => {
      ports = await portsOf((members[0] as Member).client, slot);
      return ports.length === 2;
    });
    return ports.map((port) => members.find(({ redis }) => redis.port === port)) as [Member, Member];
  };
  const failing = (fail: typeof stall) => async (whileLagging: () => Promise<void>) => {
    const undone = await failLagging(await pairOf(await slotOf(pick(hashTags))), whileLagging, fail);
    await untilWhole();
    return undone;
  };

  async function moveAccount(): Promise<number> {
    const slot = await slotOf(pick(accounts));
    const [owner] = await pairOf(slot);
    const all = await Promise.all(members.map(async (each) => ((await isPrimary(each)) ? [each] : [])));
    const others = all.flat().filter((each) => each !== owner);
    await moveSlot(slot, owner, pick(others), all.flat());
    await untilWhole();
    return 0;
  }

  const running = stack.move();
  return {
    url: `redis+cluster://${members.map(({ redis }) => `127.0.0.1:${redis.port}`).join(',')}`,
    ways: [
      { name: 'a stalled primary of a cluster', run: failing(stall) },
      { name: 'a killed primary of a cluster', run: failing(killAndRestart) },
      { name: 'a moved slot of a cluster', run: moveAccount },
    ],
    untilWhole,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function seesWhole(member: Member): Promise<'primary' | 'replica' | null> {
  const info = await member.client.cluster('INFO');
  const isWhole = ['state:ok', 'slots_ok:16384', 'known_nodes:6', 'size:3'].every((line) =>
    info.includes(`cluster_${line}\r`),
  );
  if (!isWhole) return null;
  if (!(await isPrimary(member))) return (await isFollowing(member)) ? 'replica' : null;
  return /^connected_slaves:1\r?$/m.test(await member.client.info('replication')) ? 'primary' : null;
}

type SlotRange = readonly [from: number, to: number, ...nodes: (readonly [host: string, port: number])[]];

// The primary first.
async function portsOf(client: Redis, slot: number): Promise<number[]> {
  const ranges = (await client.cluster('SLOTS')) as unknown as SlotRange[];
  const [, , ...nodes] = ranges.find(([from, to]) => from <= slot && slot <= to) ?? [0, 0];
  return nodes.map(([, port]) => port);
}
