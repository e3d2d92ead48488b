import { createEventLog } from '../events/event-log.ts';
import { logBeginning, type Checkpoint } from '../events/timeline.ts';
import { createBoundedMap } from '../memory/bounded-map.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import { scanHash } from '../redis/hash-fields.ts';
import type { Keys } from '../redis/keys.ts';
import { decodeRecord, UnreadableRecordError, type OnUnreadable } from '../redis/unreadable-record.ts';
import { createCommitJournal, type CommitJournal } from './commit/commit-journal.ts';
import type { AddPageLink } from '../events/page-link.ts';
import { createCommitWriter, inBatches, type CommitResult } from './commit/commit-writer.ts';
import { createAnswers } from './answers.ts';
import { groupsOfStatus } from './detection/age-rank.ts';
import type { FilingCommit } from './detection/decide-commit.ts';
import type { ReadDueRules } from './detection/due-dates.ts';
import { decodeState, type FilingState } from './detection/filing-state.ts';
import { createFilingIndex } from './lists/filing-index.ts';
import { createStateReader } from './read-states.ts';
import { createRejectingAccounts } from './rejecting-accounts.ts';
import { restoreCommits, type Restoration } from './restore-commits.ts';

/** The last seen state of every filing of an account. */
export type SnapshotStore = ReturnType<typeof createSnapshotStore>;

/** The parts that a store needs to commit, besides Redis. */
export interface SnapshotOptions {
  readonly journal: CommitJournal;
  /** Called after commits that Redis had lost were restored. */
  readonly onRestored: (restoration: Restoration, generation: string) => Promise<void>;
  readonly onUnreadable: OnUnreadable;
  readonly addPageLink: AddPageLink;
  readonly readDueRules: ReadDueRules;
}

// Maximum number of accounts whose last comparison of the log is remembered; others are compared each time.
const rememberedMax = 100_000;

/** A log that had all commits that this process knew of. */
interface Compared {
  readonly generation: string;
  readonly head: string;
  readonly newest: Checkpoint | null;
}

/** The snapshot in Redis hashes. */
export function createSnapshotStore(
  redis: RedisClient,
  keys: Keys,
  {
    journal = createCommitJournal(redis, keys),
    onRestored,
    onUnreadable = () => undefined,
    addPageLink,
    readDueRules,
  }: Partial<SnapshotOptions> = {},
) {
  const log = createEventLog(redis, keys);
  const { read } = createStateReader(redis, keys, onUnreadable);
  const index = createFilingIndex(redis, keys);
  const writer = createCommitWriter(redis, keys, journal, createRejectingAccounts(redis, keys), addPageLink);
  const answers = createAnswers(redis, keys, onUnreadable, readDueRules);
  const compared = createBoundedMap<string, Compared>(rememberedMax);

  async function* scan(account: string): AsyncGenerator<(readonly [id: string, state: () => FilingState])[]> {
    const key = keys.account(account).filings;
    for await (const some of scanHash(redis, key, 1000))
      yield some.map(([id, text]) => [id, () => decodeRecord(key, id, text, decodeState)] as const);
  }

  async function catchUp(account: string, generation: string, at: number, head?: string): Promise<boolean> {
    const newest = journal.newest(account, generation);
    const last = compared.get(account);
    // A cluster keeps outlines on other primaries, which may know more than they did.
    const isCompared = last?.generation === generation && last.head === head && last.newest === newest;
    if (isCompared && !redis.isCluster) return false;
    const deps = { log, journal, read, write: writer.writeAnyway };
    const restoration = await restoreCommits(deps, account, generation, at);
    if (restoration !== null) await onRestored?.(restoration, generation);
    else if (head !== undefined) compared.set(account, { generation, head, newest });
    return restoration !== null;
  }

  return {
    read,

    /**
     * Writes states and appends events; each filing's pair is atomic, a crash leaves both or neither. Rejects
     * with SnapshotLostError, with nothing written, when the snapshot is not of the generation that the
     * caller decided on. If Redis was set back since the last commit, the lost commits are restored first,
     * and every commit of the batch is a conflict. A filing that appears or is removed is written in one step
     * with the rejection that it answers, or answers no more; a conflict of either is one of both.
     */
    async commit(
      account: string,
      generation: string,
      commits: readonly FilingCommit[],
      at: number,
    ): Promise<CommitResult[]> {
      const results: CommitResult[] = [];
      for (const batch of inBatches(commits)) {
        const joined = await answers.join({ account, generation }, batch, at);
        const known = journal.newest(account, generation) ?? logBeginning;
        // Batches keep the order of the page; each one needs the head that the one before left.
        const written = await writer.write(account, generation, joined, at, known);
        if (written === null) {
          await catchUp(account, generation, at);
          return commits.map((_, i) => results[i] ?? { kind: 'conflict' });
        }
        results.push(...written);
      }
      return results;
    },
    /**
     * Restores commits that were lost because Redis was set back; see `restoreCommits`. Restored events are
     * recorded at `at`, milliseconds on Redis's clock. Returns whether there were any. If `head`, the head of
     * the log as stored, is the one compared last, nothing is compared again. Rejects with SnapshotLostError
     * as `commit` does.
     */
    catchUp,
    /**
     * Accounts that this process has committed events to at that time (ms) or later, as far as it remembers.
     */
    committedSince: journal.committedSince,

    /** Number of filings per status, without removed ones. Rejects with UnreadableRecordError. */
    async counts(account: string): Promise<Record<string, number>> {
      const key = keys.account(account).counts;
      return toCounts(key, await redis.hgetall(key));
    },

    /** Number of filings, without removed ones. */
    async known(account: string): Promise<number> {
      const key = keys.account(account).counts;
      return (await redis.hvals(key)).reduce((sum, text) => sum + toCount(key, null, text), 0);
    },

    /** Ids of all filings in one status; not for COMPLETED, which has no index. See `FilingIndex`. */
    idsIn: async (account: string, status: string): Promise<string[]> =>
      (
        await Promise.all(groupsOfStatus(status).map((group) => index.ids({ account, status: group })))
      ).flat(),
    /**
     * Every id ever seen, with its state to be decoded when needed, in chunks and in no order; an id may come
     * twice. Decoding throws an UnreadableRecordError.
     */
    scan,
  };
}

/** The counts by status in the fields of the stored hash `key`. Throws UnreadableRecordError. */
export function toCounts(key: string, fields: Readonly<Record<string, string>>): Record<string, number> {
  const counts = Object.entries(fields).map(([status, text]) => [status, toCount(key, status, text)]);
  return Object.fromEntries(counts) as Record<string, number>;
}

function toCount(key: string, status: string | null, text: string): number {
  if (!/^-?\d+$/.test(text)) throw new UnreadableRecordError(key, status, 'it is not a number');
  return Number(text);
}
