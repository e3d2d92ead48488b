import type { Checkpoint } from '../events/timeline.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { FilingCommit } from './snapshot-store.ts';

/** Commits that one script wrote, and the newest event in the log behind them. */
export interface CommitBatch {
  readonly account: string;
  readonly generation: string;
  readonly head: Checkpoint;
  /** When it was written, milliseconds on Redis's clock. */
  readonly at: number;
  /** Those with an event. */
  readonly commits: readonly FilingCommit[];
}

/** A filing's last event of a batch, as other processes know it. */
export interface WitnessedEvent {
  readonly filingId: string;
  readonly sequence: number;
  readonly status: string;
}

/** A batch as other processes know it. */
export interface WitnessedBatch {
  readonly generation: string;
  readonly head: Checkpoint;
  readonly events: readonly WitnessedEvent[];
}

/**
 * What was committed to the logs lately: by this process, whole, in its memory, and by all processes in outline, in a key that a Redis Cluster
 * keeps apart from the account's others. After Redis was set back both may know what it no longer does.
 */
export interface CommitJournal {
  /** The newest event that this process has seen in the log of this generation; null before the first. */
  newest(account: string, generation: string): Checkpoint | null;
  /** Notes what was committed. A crash before, or a node that is away, leaves the batch unknown to other processes. */
  note(batch: CommitBatch): Promise<void>;
  /** The batches of an account in memory, oldest first. */
  remembered(account: string, generation: string): readonly CommitBatch[];
  /** Drops these batches from memory. */
  forget(batches: readonly CommitBatch[]): void;
  /** Accounts with batches in memory that were written at that time (ms) or later. */
  accountsSince(at: number): ReadonlySet<string>;
  /** The batches of all processes, newest first, up to so many. */
  witnessed(account: string, count: number): Promise<WitnessedBatch[]>;
}

const rememberedBytesMax = 32 * 1024 * 1024;
/** Batches that are kept for other processes. */
export const witnessedMax = 1_000;
const witnessedMs = 3_600_000;

/** Knows nothing yet of this process's own. */
export function createCommitJournal(redis: RedisClient, keys: Keys): CommitJournal {
  const newest = new Map<string, { readonly generation: string; readonly head: Checkpoint }>();
  // In the order of their commits.
  const batches = new Set<CommitBatch>();
  let bytes = 0;

  function drop(batch: CommitBatch): void {
    if (batches.delete(batch)) bytes -= bytesOf(batch);
  }

  function remember(batch: CommitBatch): void {
    newest.set(batch.account, batch);
    if (batch.commits.length === 0) return;
    batches.add(batch);
    bytes += bytesOf(batch);
    for (const oldest of batches) {
      if (bytes <= rememberedBytesMax) return;
      drop(oldest);
    }
  }

  return {
    newest(account, generation) {
      const known = newest.get(account);
      return known?.generation === generation ? known.head : null;
    },
    async note(batch) {
      const { account, generation, head, commits } = batch;
      remember(batch);
      const events = commits.map(({ id, next }) => [id, next.sequence, next.status]);
      const fields = ['g', generation, 'p', head.position, 't', head.timeline, 'e', JSON.stringify(events)];
      const key = keys.witness(account);
      await redis
        .pipeline()
        .xadd(key, 'MAXLEN', '~', witnessedMax, '*', ...fields)
        .pexpire(key, witnessedMs)
        .exec()
        .catch(() => null);
    },
    remembered: (account, generation) =>
      [...batches].filter((batch) => batch.account === account && batch.generation === generation),
    forget(some) {
      for (const batch of some) drop(batch);
    },
    accountsSince: (since) =>
      new Set([...batches].flatMap(({ account, at }) => (at >= since ? account : []))),
    async witnessed(account, count) {
      const entries = await redis.xrevrange(keys.witness(account), '+', '-', 'COUNT', count);
      return entries.map(([, fields]) => toWitnessed(fields));
    },
  };
}

function bytesOf({ commits }: CommitBatch): number {
  return commits.reduce((sum, { event }) => sum + (event?.body.length ?? 0), 0);
}

function toWitnessed(fields: readonly string[]): WitnessedBatch {
  const [, generation = '', , position = '0', , timeline = '', , events = '[]'] = fields;
  const list = JSON.parse(events) as [string, number, string][];
  return {
    generation,
    head: { position: Number(position), timeline },
    events: list.map(([filingId, sequence, status]) => ({ filingId, sequence, status })),
  };
}
