import { randomUUID } from 'node:crypto';
import { logBeginning, type Checkpoint } from '../../events/timeline.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { listenTo } from '../../redis/connection/open-client.ts';
import { connectAnew } from '../../redis/connection/switch-watch.ts';
import type { OnUnreadable } from '../../redis/unreadable-record.ts';
import type { FilingCommit } from '../detection/decide-commit.ts';
import {
  createKeptCommits,
  outlineOf,
  parsePublished,
  type PublishedBatch,
  type PublishedEvent,
} from './kept-commits.ts';

/** The commits of one script of this process. */
export interface CommitBatch extends Omit<PublishedBatch, 'events'> {
  /** When it was written, milliseconds on Redis's clock. */
  readonly at: number;
  /** The commits with an event. */
  readonly commits: readonly FilingCommit[];
}

/**
 * The latest commits to the logs. After Redis was set back, they include those that Redis has lost. The
 * process remembers its own commits whole, and those of other processes in outline. Outlines are published,
 * and kept in keys that a Redis Cluster holds apart from the account's others.
 */
export type CommitJournal = ReturnType<typeof createCommitJournal>;

// Maximum bytes of remembered commits, and those of one beside its body, roughly.
const rememberedBytesMax = 32 * 1024 * 1024;
const besideBodyBytes = 1_500;
// Maximum remembered events of other processes.
const heardMax = 100_000;

/** A journal in Redis and in this process's memory, which is empty at first. */
export function createCommitJournal(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable = () => undefined,
) {
  const process = randomUUID();
  const kept = createKeptCommits(redis, keys, onUnreadable);
  const newest = new Map<string, { readonly generation: string; readonly head: Checkpoint }>();
  const own = createMemory<CommitBatch>(rememberedBytesMax, bytesOf);
  const heard = createMemory<PublishedBatch>(heardMax, ({ events }) => events.length);

  // Batches of other processes may arrive late. A batch itself would be held beyond the bound of its memory.
  function see({ account, generation, head }: Pick<PublishedBatch, 'account' | 'generation' | 'head'>): void {
    const known = newest.get(account);
    if (known?.generation === generation && known.head.position > head.position) return;
    newest.set(account, { generation, head });
  }

  async function share(batch: CommitBatch): Promise<void> {
    const text = outlineOf(process, batch);
    await Promise.allSettled([kept.keep(batch.account, text), redis.publish(keys.commits, text)]);
  }

  return {
    /** The newest known event in the log of this generation; null before the first. */
    newest(account: string, generation: string): Checkpoint | null {
      const known = newest.get(account);
      return known?.generation === generation ? known.head : null;
    },
    /**
     * To be called before a batch is written. In a Redis Cluster it is put into the keys, so that a crash
     * before `note` leaves a trace of it; elsewhere the keys would be set back together with the log, and
     * nothing is done.
     */
    async announce(batch: Pick<CommitBatch, 'account' | 'generation' | 'commits'>) {
      await kept.announce(batch.account, () => outlineOf(process, { ...batch, head: logBeginning }));
    },
    /**
     * Remembers a batch of this process and publishes it. After a crash before that, or while Redis is away,
     * other processes know at most that it was announced.
     */
    async note(batch: CommitBatch) {
      see(batch);
      // Made again, each replaces what is stored then.
      own.add({ ...batch, commits: batch.commits.map((commit) => ({ ...commit, previous: null })) });
      await share(batch);
    },
    /** Remembers a batch that another process published, as `listenForCommits` receives it. */
    hear(message: string) {
      const heardOf = parsePublished(message);
      if (heardOf === null || heardOf.by === process) return;
      const { batch } = heardOf;
      see(batch);
      heard.add(batch);
    },
    /** This process's commits to the log behind a position, oldest first. */
    ownBehind: own.behind,
    /** Events that other processes have committed behind a position, oldest first. */
    othersBehind: (...args: Parameters<typeof heard.behind>): readonly PublishedEvent[] =>
      heard.behind(...args).flatMap(({ events }) => events),
    /** The newest of the keys, of any process. */
    newestKept: kept.newest,
    /** The events in the keys behind a position, those of each key oldest first. */
    keptBehind: kept.behind,
    /**
     * To be called when lost commits are restored: from now on `head` is the newest known event, for other
     * processes as well.
     */
    async beginAt(head: Checkpoint, account: string, generation: string, at: number) {
      newest.set(account, { generation, head });
      await share({ account, generation, head, at, commits: [] });
    },
    /**
     * Accounts that this process has committed events to at that time (ms) or later, as far as it remembers.
     */
    committedSince: (since: number): ReadonlySet<string> =>
      new Set([...own.all()].flatMap(({ account, at }) => (at >= since ? account : []))),
  };
}

/**
 * Subscribes a journal to the commits of other processes. The returned function subscribes again and is to be
 * called from time to time: behind a proxy that changes its target, the connection survives but its
 * subscription does not, and only a request shows it. It also makes up for a subscription that was refused
 * over a new connection. Both reject when Redis does.
 */
export async function listenForCommits(
  client: RedisClient,
  keys: Pick<Keys, 'commits'>,
  journal: Pick<CommitJournal, 'hear'>,
): Promise<() => Promise<void>> {
  const listen = async () => {
    try {
      await client.subscribe(keys.commits);
    } catch (error) {
      connectAnew(client);
      throw error;
    }
  };
  client.on('message', (_: string, message: string) => journal.hear(message));
  await listenTo(client, keys.commits);
  return listen;
}

/**
 * Batches in the order of their arrival, up to a total size of `sizeMax`; beyond it the oldest are dropped.
 */
function createMemory<T extends Pick<PublishedBatch, 'account' | 'generation' | 'head'>>(
  sizeMax: number,
  sizeOf: (batch: T) => number,
) {
  const batches = new Set<T>();
  let size = 0;
  return {
    all: (): Iterable<T> => batches,
    add(batch: T): void {
      batches.add(batch);
      size += sizeOf(batch);
      for (const oldest of batches) {
        if (size <= sizeMax) return;
        batches.delete(oldest);
        size -= sizeOf(oldest);
      }
    },
    behind: (account: string, generation: string, position: number): readonly T[] =>
      [...batches].filter(
        (batch) =>
          batch.account === account && batch.generation === generation && batch.head.position > position,
      ),
  };
}

function bytesOf({ commits }: CommitBatch): number {
  return commits.reduce((sum, { event }) => sum + besideBodyBytes + (event?.body.length ?? 0), 0);
}
