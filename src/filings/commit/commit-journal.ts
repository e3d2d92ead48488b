import { randomUUID } from 'node:crypto';
import type { Checkpoint } from '../../events/timeline.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { connectAnew } from '../../redis/connection/switch-watch.ts';
import { toUnreadable, type OnUnreadable } from '../../redis/unreadable-record.ts';
import type { FilingCommit } from '../detection/decide-commit.ts';

/** A filing's event as other processes than the one that committed it know it. */
export interface WitnessedEvent {
  readonly filingId: string;
  readonly sequence: number;
  readonly status: string;
}

/** What one script committed, as other processes know it. */
export interface WitnessedBatch {
  readonly account: string;
  readonly generation: string;
  /** The newest event in the log behind it. */
  readonly head: Checkpoint;
  readonly events: readonly WitnessedEvent[];
}

/** What one script of this process committed. */
export interface CommitBatch extends Omit<WitnessedBatch, 'events'> {
  /** When it was written, milliseconds on Redis's clock. */
  readonly at: number;
  /** Those with an event. */
  readonly commits: readonly FilingCommit[];
}

/**
 * What was committed to the logs lately. This process remembers its own commits whole, and those of others in
 * outline: they are published, and kept in a key that a Redis Cluster holds apart from the account's others.
 * After Redis was set back this is what it no longer knows.
 */
export interface CommitJournal {
  /** The newest event that is known of the log of this generation; null before the first. */
  newest(account: string, generation: string): Checkpoint | null;
  /**
   * Notes what this process committed and lets the others know. After a crash before that, or where Redis is
   * away, they do not.
   */
  note(batch: CommitBatch): Promise<void>;
  /** Takes in what another process let know of, as `listen` gets it. */
  hear(message: string): void;
  /** This process's commits to the log behind a position, oldest first. */
  ownBehind(account: string, generation: string, position: number): readonly CommitBatch[];
  /** Events that others have committed behind a position, oldest first. */
  othersBehind(account: string, generation: string, position: number): readonly WitnessedEvent[];
  /** The newest batch in the key, by whichever process; null when there is none of this generation. */
  newestKept(account: string, generation: string): Promise<Checkpoint | null>;
  /** The events in the key behind a position, oldest first. */
  keptBehind(account: string, generation: string, position: number): Promise<readonly WitnessedEvent[]>;
  /**
   * What was lost is made up for: `head` is the newest event that is known from now on, by the others as
   * well.
   */
  beginAt(head: Checkpoint, account: string, generation: string, at: number): Promise<void>;
  /**
   * Accounts that this process has committed events to at that time (ms) or later, as far as it remembers.
   */
  committedSince(at: number): ReadonlySet<string>;
}

// Of bodies, and of the events of others.
const rememberedBytesMax = 32 * 1024 * 1024;
const heardMax = 100_000;

const keptMax = 1_000;
const keptMs = 3_600_000;

/** Knows nothing yet. */
export function createCommitJournal(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable = () => undefined,
): CommitJournal {
  const process = randomUUID();
  const newest = new Map<string, { readonly generation: string; readonly head: Checkpoint }>();
  const own = createMemory<CommitBatch>(rememberedBytesMax, bytesOf);
  const heard = createMemory<WitnessedBatch>(heardMax, ({ events }) => events.length);

  // News of others may be late.
  function see(batch: Pick<WitnessedBatch, 'account' | 'generation' | 'head'>): void {
    const known = newest.get(batch.account);
    if (known?.generation === batch.generation && known.head.position > batch.head.position) return;
    newest.set(batch.account, batch);
  }

  async function share({ account, generation, head, commits }: CommitBatch): Promise<void> {
    const events = commits.map(({ id, next }) => [id, next.sequence, next.status]);
    const text = JSON.stringify([process, account, generation, head.position, head.timeline, events]);
    const key = keys.witness(account);
    await Promise.allSettled([
      redis.pipeline().xadd(key, 'MAXLEN', '~', keptMax, '*', 'b', text).pexpire(key, keptMs).exec(),
      redis.publish(keys.commits, text),
    ]);
  }

  async function kept(account: string, generation: string, count: number): Promise<WitnessedBatch[]> {
    const entries = await redis
      .xrevrange(keys.witness(account), '+', '-', 'COUNT', count)
      .catch(noWitness(account));
    const batches = entries.flatMap(([, fields]) => toWitnessed(fields[1] ?? '')?.batch ?? []);
    return batches.filter((batch) => batch.generation === generation);
  }

  // It says nothing any more, and begins anew.
  const noWitness = (account: string) => async (error: unknown) => {
    const unreadable = toUnreadable(error);
    if (unreadable === null) throw error;
    const key = keys.witness(account);
    await redis.unlink(key);
    onUnreadable({
      account,
      kind: 'witness',
      key,
      field: null,
      reason: unreadable.message,
      remedy: 'set_aside',
    });
    return [];
  };

  return {
    newest(account, generation) {
      const known = newest.get(account);
      return known?.generation === generation ? known.head : null;
    },
    async note(batch) {
      see(batch);
      own.add(batch);
      await share(batch);
    },
    hear(message) {
      const heardOf = toWitnessed(message);
      if (heardOf === null || heardOf.by === process) return;
      const { batch } = heardOf;
      see(batch);
      heard.add(batch);
    },
    ownBehind: own.behind,
    othersBehind: (...args) => heard.behind(...args).flatMap(({ events }) => events),
    async newestKept(account, generation) {
      const [batch] = await kept(account, generation, 1);
      return batch?.head ?? null;
    },
    async keptBehind(account, generation, position) {
      const batches = await kept(account, generation, keptMax);
      const end = batches.findIndex(({ head }) => head.position <= position);
      const behind = end < 0 ? batches : batches.slice(0, end);
      return behind.toReversed().flatMap(({ events }) => events);
    },
    async beginAt(head, account, generation, at) {
      newest.set(account, { generation, head });
      await share({ account, generation, head, at, commits: [] });
    },
    committedSince: (since) =>
      new Set([...own.all()].flatMap(({ account, at }) => (at >= since ? account : []))),
  };
}

/**
 * Has a journal hear of what other processes commit. To be called again now and then: behind a proxy that
 * changes its target the connection holds and its subscription does not, and a connection that has fallen
 * silent is found by asking only. Rejects when Redis does.
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
  await listen();
  return listen;
}

/** Batches in the order in which they came; when there is too much, the oldest go. */
function createMemory<T extends Pick<WitnessedBatch, 'account' | 'generation' | 'head'>>(
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
  return commits.reduce((sum, { event }) => sum + (event?.body.length ?? 0), 0);
}

// Null where it is not what `share` writes.
function toWitnessed(text: string): { by: string; batch: WitnessedBatch } | null {
  const list = parseList(text);
  const [by, account, generation, position, timeline, events] = list;
  const isBatch = [by, account, generation, timeline].every((value) => typeof value === 'string');
  if (!isBatch || typeof position !== 'number' || !Array.isArray(events)) return null;
  const told = (events as [string, number, string][]).map(([filingId, sequence, status]) => ({
    filingId,
    sequence,
    status,
  }));
  const head = { position, timeline: String(timeline) };
  const batch = { account: String(account), generation: String(generation), head, events: told };
  return { by: String(by), batch };
}

function parseList(text: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? (parsed as unknown[]) : [];
  } catch {
    return [];
  }
}
