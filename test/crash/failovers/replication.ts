import { Redis } from 'ioredis';
import { vi } from 'vitest';
import type { PrivateRedis } from '../../support/redis/test-redis.ts';

/** A server with a client that outlives its failures. */
export interface Member extends Disposable {
  readonly redis: PrivateRedis;
  readonly client: Redis;
}

/** A group of servers in which a replica can take over that lacks the last writes. */
export interface FailoverGroup extends AsyncDisposable {
  /** For REDIS_URL. */
  readonly url: string;
  /** Ways to bring it about, in the order in which a test should take them. */
  readonly ways: readonly FailoverWay[];
  /** Resolves when every replica follows its primary and has all that it has. */
  untilWhole(): Promise<void>;
}

/** One way to fail. */
export interface FailoverWay {
  readonly name: string;
  /**
   * Fails once; resolves when the group is whole again. `whileLagging` is called and awaited when no replica
   * gets any more what the primary writes. Returns how many bytes of replication stream were undone.
   */
  run(whileLagging: () => Promise<void>): Promise<number>;
}

// For elections that wait for deadlines, on a machine that may be under load.
const patience = { timeout: 60_000, interval: 50 };

/** Arguments of servers that are to serve a new replica at once, without waiting for more of them. */
export const syncAtOnce = ['--repl-diskless-sync-delay', '0'];

/** Opens a client on a server; disposing ends the client only. */
export function joinMember(redis: PrivateRedis): Member {
  const client = new Redis(redis.url, { maxRetriesPerRequest: null, retryStrategy: () => 100 });
  client.on('error', () => undefined);
  return { redis, client, [Symbol.dispose]: () => client.disconnect() };
}

/** Resolves when a condition holds; one that rejects does not hold yet. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  await vi.waitFor(async () => {
    if (!(await holds())) throw new Error(`not yet: ${what}`);
  }, patience);
}

/**
 * From now on no replica gets what a primary writes, and none can follow it again, until `mendReplication` or
 * a restart. Returns the primary's position in its replication stream.
 */
async function breakReplication({ client }: Member): Promise<number> {
  await client.call('ACL', 'SETUSER', 'default', '-psync', '-sync');
  await client.call('CLIENT', 'KILL', 'TYPE', 'replica');
  return replicationOffset(client);
}

/** Allows replicas again. */
export async function mendReplication({ client }: Member): Promise<void> {
  await client.call('ACL', 'SETUSER', 'default', '+psync', '+sync');
}

/** How much a server has ever written or copied, bytes. */
async function replicationOffset(client: Redis): Promise<number> {
  return Number(await replicationField(client, 'master_repl_offset'));
}

/** Whether a server calls itself the primary. */
export async function isPrimary({ client }: Member): Promise<boolean> {
  return (await replicationField(client, 'role')) === 'master';
}

/** Whether a server is a replica whose link to its primary stands. */
export async function isFollowing({ client }: Member): Promise<boolean> {
  return (await replicationField(client, 'master_link_status')) === 'up';
}

/** Stalls a primary until its replica has taken over; it comes back with what it had under way. */
export async function stall(primary: Member, replica: Member): Promise<void> {
  primary.redis.signal('SIGSTOP');
  await until('the replica of a stalled primary takes over', () => isPrimary(replica));
  primary.redis.signal('SIGCONT');
  await until('a stalled primary follows its successor', async () => !(await isPrimary(primary)));
  await mendReplication(primary);
}

/** Kills a primary, and starts it again when its replica has taken over. */
export async function killAndRestart(primary: Member, replica: Member): Promise<void> {
  await primary.redis.kill();
  await until('the replica of a killed primary takes over', () => isPrimary(replica));
  await primary.redis.restart();
}

/**
 * Lets a primary fail in a way, such as `stall`, behind a replica that lags. Returns how many bytes were
 * undone.
 */
export async function failLagging(
  [primary, replica]: readonly [primary: Member, replica: Member],
  whileLagging: () => Promise<void>,
  fail: (primary: Member, replica: Member) => Promise<void>,
): Promise<number> {
  const from = await breakReplication(primary);
  await whileLagging();
  const undone = (await replicationOffset(primary.client)) - from;
  await fail(primary, replica);
  return undone;
}

async function replicationField(client: Redis, name: string): Promise<string | undefined> {
  const info = await client.info('replication');
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
}
