import type { Checkpoint } from '../../events/timeline.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { asideMs, toUnreadable, type OnUnreadable } from '../../redis/unreadable-record.ts';
import type { FilingCommit } from '../detection/decide-commit.ts';

/** A filing's event as the process that committed it publishes it. */
export interface PublishedEvent {
  readonly filingId: string;
  readonly sequence: number;
  readonly status: string;
}

/** The commits of one script, as they are published to other processes. */
export interface PublishedBatch {
  readonly account: string;
  readonly generation: string;
  /** The newest event in the log after the batch. */
  readonly head: Checkpoint;
  readonly events: readonly PublishedEvent[];
}

/** The commits of a batch that are published. */
interface OutlinedBatch extends Omit<PublishedBatch, 'events'> {
  readonly commits: readonly FilingCommit[];
}

/** A batch in outline, as it is published by a process. */
export function outlineOf(process: string, { account, generation, head, commits }: OutlinedBatch): string {
  const events = commits.map(({ id, next }) => [id, next.sequence, next.status]);
  return JSON.stringify([process, account, generation, head.position, head.timeline, events]);
}

/** The newest commits that the keys know. */
export interface NewestKept {
  /**
   * Head of the newest batch in each key; empty when none has one of this generation. They differ after one
   * of the keys was set back.
   */
  readonly heads: readonly Checkpoint[];
  /** Events that were announced after that and perhaps never written. */
  readonly announced: readonly PublishedEvent[];
}

// Approximate maximum of batches and announcements in a key of an account.
const keptMax = 2_000;
// Number of the newest of them in which a batch is looked for: a crash leaves one announcement without a
// batch.
const newestOfKept = 4;
// Milliseconds after its last batch when the key of an account expires.
const keptMs = 3_600_000;

/** The names of the fields in the keys: what was written, and what is about to be. */
const keptFields = { batch: 'b', announcement: 'a' } as const;

/** A batch or an announcement, which has no head, in a key. */
interface Kept extends PublishedBatch {
  readonly isAnnounced: boolean;
}

/**
 * The outlines of the latest commits in the keys `publishedCommits`, or in a Redis Cluster in its copies on
 * other primaries. Each key lives for an hour after the last; one that cannot be read is set aside.
 */
export function createKeptCommits(redis: RedisClient, keys: Keys, onUnreadable: OnUnreadable) {
  const keysOf = (account: string) =>
    redis.isCluster ? keys.publishedCommitsApart(account) : [keys.publishedCommits(account)];

  async function add(account: string, field: string, outline: string): Promise<void> {
    await Promise.allSettled(
      keysOf(account).map((key) =>
        redis.pipeline().xadd(key, 'MAXLEN', '~', keptMax, '*', field, outline).pexpire(key, keptMs).exec(),
      ),
    );
  }

  /**
   * The newest batches and announcements of each key that can be reached, newest first. Rejects when none
   * can.
   */
  async function read(account: string, generation: string, count: number): Promise<Kept[][]> {
    const reads = await Promise.allSettled(keysOf(account).map((key) => readKey(account, key, count)));
    const copies = reads.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    if (copies.length === 0) throw (reads[0] as PromiseRejectedResult).reason;
    return copies.map((all) => all.filter((batch) => batch.generation === generation));
  }

  async function readKey(account: string, key: string, count: number): Promise<Kept[]> {
    const entries = await redis
      .xrevrange(key, '+', '-', 'COUNT', count)
      .catch(forgetUnreadable(account, key));
    return entries.flatMap(([, [field, text = '']]) => {
      const batch = parsePublished(text)?.batch;
      return batch === undefined ? [] : { ...batch, isAnnounced: field === keptFields.announcement };
    });
  }

  // It begins anew.
  const forgetUnreadable = (account: string, key: string) => async (error: unknown) => {
    const unreadable = toUnreadable(error);
    if (unreadable === null) throw error;
    const aside = `${key}:unreadable`;
    await redis.pipeline().rename(key, aside).pexpire(aside, asideMs).exec();
    onUnreadable(account, unreadable, 'set_aside');
    return [];
  };

  return {
    /**
     * Keeps a batch that is about to be written. Does nothing on a single Redis server: the batch would be
     * set back together with the log.
     */
    async announce(account: string, outline: () => string) {
      if (redis.isCluster) await add(account, keptFields.announcement, outline());
    },
    /** Keeps a batch that was written; what was announced before it counts no more. Never rejects. */
    keep: (account: string, outline: string) => add(account, keptFields.batch, outline),
    /** The newest batches and announcements; rejects when Redis does. */
    async newest(account: string, generation: string): Promise<NewestKept> {
      const copies = (await read(account, generation, newestOfKept)).map((all) => {
        const at = all.findIndex(({ isAnnounced }) => !isAnnounced);
        return { head: all[at]?.head, announced: all.slice(0, at < 0 ? all.length : at) };
      });
      return {
        heads: copies.flatMap(({ head }) => head ?? []),
        announced: copies.flatMap(({ announced }) => announced.flatMap(({ events }) => events)),
      };
    },
    /** The events of the batches behind a position, those of each key oldest first. */
    async behind(account: string, generation: string, position: number): Promise<readonly PublishedEvent[]> {
      const copies = await read(account, generation, keptMax);
      return copies.flatMap((all) => {
        const batches = all.filter(({ isAnnounced }) => !isAnnounced);
        const end = batches.findIndex(({ head }) => head.position <= position);
        const behind = end < 0 ? batches : batches.slice(0, end);
        return behind.toReversed().flatMap(({ events }) => events);
      });
    },
  };
}

/** The batch that `outlineOf` has written; null for any other text. */
export function parsePublished(text: string): { by: string; batch: PublishedBatch } | null {
  try {
    const [by, account, generation, position, timeline, events] = JSON.parse(text) as [
      ...[string, string, string, number, string],
      (readonly [filingId: string, sequence: number, status: string])[],
    ];
    const isBatch = [by, account, generation, timeline].every((value) => typeof value === 'string');
    if (!isBatch || typeof position !== 'number') return null;
    const outlined = events.map(([filingId, sequence, status]) => ({ filingId, sequence, status }));
    return { by, batch: { account, generation, head: { position, timeline }, events: outlined } };
  } catch {
    return null;
  }
}
