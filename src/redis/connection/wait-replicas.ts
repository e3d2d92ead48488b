import { Cluster, type Redis } from 'ioredis';
import { ownerOf, type RedisClient } from './open-client.ts';

/** The replicas that commits wait for, and the callbacks for missing ones. */
export interface ReplicaWait {
  /** Replicas that must have a commit; 0 = none. */
  readonly replicas: number;
  /**
   * Called for each commit that too few replicas had acknowledged in time. The commit stands all the same.
   */
  readonly onUnreplicated: () => void;
  /**
   * Called with the number of replicas that acknowledged when some begin to be missing on a connection, and
   * with null when they are back.
   */
  readonly onChange: (acknowledged: number | null) => void;
  /** Maximum milliseconds that a commit waits; default 1000. */
  readonly timeoutMs?: number;
  /** Milliseconds in which nothing waits once replicas were missing; default 10 000. */
  readonly restMs?: number;
}

type Waiter = (key: string) => Promise<void>;

const waiters = new WeakMap<RedisClient, Waiter>();

/** From now on `untilReplicated` waits on this client. */
export function waitForReplicas(client: RedisClient, wait: ReplicaWait): void {
  if (wait.replicas === 0) return;
  const asked = new WeakMap<Redis, () => Promise<boolean>>();
  waiters.set(client, async (key) => {
    const node = client instanceof Cluster ? ownerOf(client, key) : client;
    if (node === null) return wait.onUnreplicated();
    const ask = asked.get(node) ?? askOn(node, wait);
    asked.set(node, ask);
    if (!(await ask())) wait.onUnreplicated();
  });
}

/** Whether `untilReplicated` waits on this client, with the command WAIT. */
export const waitsForReplicas = (client: RedisClient): boolean => waiters.has(client);

/**
 * Resolves when enough replicas have the latest write of this client to the server of `key`, or when that
 * takes too long; immediately if the client does not wait for replicas. Call it right after the reply to the
 * write. Never rejects, because the write stands.
 */
export async function untilReplicated(client: RedisClient, key: string): Promise<void> {
  await waiters.get(client)?.(key);
}

/**
 * Sends one WAIT at a time for all commits of a connection, which carries out no other command meanwhile.
 * After a failed WAIT no commit waits for a while, because an absent replica would slow the connection down
 * to a commit a second.
 */
function askOn(node: Redis, { replicas, onChange, timeoutMs = 1_000, restMs = 10_000 }: ReplicaWait) {
  let current: Promise<boolean> = Promise.resolve(true);
  let next: Promise<boolean> | null = null;
  let missing = false;
  let restsUntil = -Infinity;

  async function ask(): Promise<boolean> {
    // WAIT on a new connection does not cover the writes over this one.
    if (node.status !== 'ready' || performance.now() < restsUntil) return false;
    const acknowledged = Number(await node.call('WAIT', replicas, timeoutMs).catch(() => 0));
    const isEnough = acknowledged >= replicas;
    if (!isEnough) restsUntil = performance.now() + restMs;
    if (isEnough === missing) onChange(isEnough ? null : acknowledged);
    missing = !isEnough;
    return isEnough;
  }

  return (): Promise<boolean> => {
    next ??= current.then(() => {
      next = null;
      current = ask();
      return current;
    });
    return next;
  };
}
