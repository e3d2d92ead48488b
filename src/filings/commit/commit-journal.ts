import { randomUUID } from 'node:crypto';
import type { Checkpoint } from '../../events/timeline.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { connectAnew } from '../../redis/connection/switch-watch.ts';
import { toUnreadable, type OnUnreadable } from '../../redis/unreadable-record.ts';
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
 * and kept in a key that a Redis Cluster holds apart from the account's others.
 */
export interface CommitJournal {
  /** The newest known event in the log of this generation; null before the first. */
  newest(account: string, generation: string): Checkpoint | null;
  /**
   * Remembers a batch of this process and publishes it. After a crash before that, or while Redis is away,
   * other processes do not know the batch.
   */
  note(batch: CommitBatch): Promise<void>;
  /** Remembers a batch that another process published, as `listenForCommits` receives it. */
  hear(message: string): void;
  /** This process's commits to the log behind a position, oldest first. */
  ownBehind(account: string, generation: string, position: number): readonly CommitBatch[];
  /** Events that other processes have committed behind a position, oldest first. */
  othersBehind(account: string, generation: string, position: number): readonly PublishedEvent[];
  /** Head of the newest batch in the key, of any process; null when it has none of this generation. */
  newestKept(account: string, generation: string): Promise<Checkpoint | null>;
  /** The events in the key behind a position, oldest first. */
  keptBehind(account: string, generation: string, position: number): Promise<readonly PublishedEvent[]>;
  /**
   * To be called when lost commits are restored: from now on `head` is the newest known event, for other
   * processes as well.
   */
  beginAt(head: Checkpoint, account: string, generation: string, at: number): Promise<void>;
  /**
   * Accounts that this process has committed events to at that time (ms) or later, as far as it remembers.
   */
  committedSince(at: number): ReadonlySet<string>;
}

// Maximum bytes of the bodies in remembered commits.
const rememberedBytesMax = 32 * 1024 * 1024;
// Maximum remembered events of other processes.
const heardMax = 100_000;

// Approximate maximum of batches in the key of an account.
const keptMax = 1_000;
// Milliseconds after its last batch when the key of an account expires.
const keptMs = 3_600_000;

/** A journal in Redis and in this process's memory, which is empty at first. */
export function createCommitJournal(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable = () => undefined,
): CommitJournal {
  const process = randomUUID();
  const newest = new Map<string, { readonly generation: string; readonly head: Checkpoint }>();
  const own = createMemory<CommitBatch>(rememberedBytesMax, bytesOf);
  const heard = createMemory<PublishedBatch>(heardMax, ({ events }) => events.length);

  // Batches of other processes may arrive late.
  function see(batch: Pick<PublishedBatch, 'account' | 'generation' | 'head'>): void {
    const known = newest.get(batch.account);
    if (known?.generation === batch.generation && known.head.position > batch.head.position) return;
    newest.set(batch.account, batch);
  }

  async function share({ account, generation, head, commits }: CommitBatch): Promise<void> {
    const events = commits.map(({ id, next }) => [id, next.sequence, next.status]);
    const text = JSON.stringify([process, account, generation, head.position, head.timeline, events]);
    const key = keys.publishedCommits(account);
    await Promise.allSettled([
      redis.pipeline().xadd(key, 'MAXLEN', '~', keptMax, '*', 'b', text).pexpire(key, keptMs).exec(),
      redis.publish(keys.commits, text),
    ]);
  }

  async function kept(account: string, generation: string, count: number): Promise<PublishedBatch[]> {
    const entries = await redis
      .xrevrange(keys.publishedCommits(account), '+', '-', 'COUNT', count)
      .catch(forgetUnreadable(account));
    const batches = entries.flatMap(([, fields]) => parsePublished(fields[1] ?? '')?.batch ?? []);
    return batches.filter((batch) => batch.generation === generation);
  }

  // A key that cannot be read is of no use; it is removed and begins anew.
  const forgetUnreadable = (account: string) => async (error: unknown) => {
    const unreadable = toUnreadable(error);
    if (unreadable === null) throw error;
    const key = keys.publishedCommits(account);
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
      const heardOf = parsePublished(message);
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
 * Subscribes a journal to the commits of other processes. The returned function subscribes again and is to be
 * called from time to time: behind a proxy that changes its target, the connection survives but its
 * subscription does not, and only a request shows it. Both reject when Redis does.
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
  return commits.reduce((sum, { event }) => sum + (event?.body.length ?? 0), 0);
}

// Null where the text is not one that `share` writes.
function parsePublished(text: string): { by: string; batch: PublishedBatch } | null {
  const list = parseList(text);
  const [by, account, generation, position, timeline, events] = list;
  const isBatch = [by, account, generation, timeline].every((value) => typeof value === 'string');
  if (!isBatch || typeof position !== 'number' || !Array.isArray(events)) return null;
  const outlined = (events as [string, number, string][]).map(([filingId, sequence, status]) => ({
    filingId,
    sequence,
    status,
  }));
  const head = { position, timeline: String(timeline) };
  const batch = { account: String(account), generation: String(generation), head, events: outlined };
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
