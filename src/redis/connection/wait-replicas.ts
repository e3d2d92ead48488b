import { Cluster, Command, type Redis } from 'ioredis';
import type { RedisClient } from './open-client.ts';

/** What commits wait for, and who hears when that does not come. */
export interface ReplicaWait {
  /** Replicas that must have a commit; 0 = none. */
  readonly replicas: number;
  /** Called for each commit that too few replicas had acknowledged in time. It stands all the same. */
  readonly onUnreplicated: () => void;
  /**
   * Called when replicas begin to be missing on a connection, with how many acknowledged, and with null when
   * they are back.
   */
  readonly onChange: (acknowledged: number | null) => void;
  /** Milliseconds that a commit waits at most; default 1000. */
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

/**
 * Resolves when enough replicas have what this client has just written to the server of `key`, or when that
 * takes too long; at once where nothing is to be waited for. To be called right after the reply to the write.
 * Never rejects: what is written stands.
 */
export async function untilReplicated(client: RedisClient, key: string): Promise<void> {
  await waiters.get(client)?.(key);
}

/**
 * One WAIT at a time for all commits of a connection, which takes no other commands meanwhile. That is why
 * nothing waits for a while after one in vain: a replica that is away would slow everything down to a commit
 * a second.
 */
function askOn(node: Redis, { replicas, onChange, timeoutMs = 1_000, restMs = 10_000 }: ReplicaWait) {
  let current: Promise<boolean> = Promise.resolve(true);
  let next: Promise<boolean> | null = null;
  let missing = false;
  let restsUntil = -Infinity;

  async function ask(): Promise<boolean> {
    // A new connection would know nothing of what was written over this one.
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

/**
 * The master that has the slot of a key, as far as the client knows; null where none does. Where a
 * redirection has led is noted before the reply comes.
 */
export function ownerOf(cluster: Cluster, key: string): Redis | null {
  const slot = new Command('get', [key]).getSlot();
  const [owner] = cluster.slots[slot ?? -1] ?? [];
  const isOwner = ({ options }: Redis) => `${options.host}:${options.port}` === owner;
  return cluster.nodes('master').find(isOwner) ?? null;
}
