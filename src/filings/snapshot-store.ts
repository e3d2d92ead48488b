import { createEventLog } from '../events/event-log.ts';
import { logBeginning, type Checkpoint } from '../events/timeline.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { committing, loadScript } from '../redis/scripts.ts';
import { decodeRecord, type OnUnreadable } from '../redis/unreadable-record.ts';
import { createCommitJournal, type CommitJournal } from './commit/commit-journal.ts';
import { commitArguments, inBatches, StoredState, toResult } from './commit/filing-commit.ts';
import type { CommitResult, FilingCommit } from './commit/filing-commit.ts';
import { decodeState, isPlainState, type FilingState } from './detection/filing-state.ts';
import { createLogMender, type LogMending } from './repair/mend-log.ts';
import { createRecount } from './repair/recount.ts';
import { restate, restoreCommits, type Restoration } from './repair/restore-commits.ts';
import { createUnreadableStates } from './repair/unreadable-states.ts';

/**
 * The snapshot was emptied or its account removed while somebody worked on it: what they know of it is void.
 */
export class SnapshotLostError extends Error {
  override readonly name = 'SnapshotLostError';

  constructor(account: string) {
    super(`the snapshot of account ${account} is gone or was begun anew`);
  }
}

/** The last seen state of every filing of an account. */
export interface SnapshotStore {
  /**
   * States of these ids in their order; null for filings never seen. A round trip per thousand, each of them
   * atomic. One that cannot be read is rebuilt first, see `recoverState`; one of a newer format stays as it
   * is, and throws when it is decoded.
   */
  read(account: string, ids: readonly string[]): Promise<(StoredState | null)[]>;
  /**
   * Writes states and appends events; each filing's pair is atomic, a crash leaves both or neither. Rejects
   * with SnapshotLostError, with nothing written, when the snapshot is not of the generation the caller
   * decided on. Where Redis was set back since the last commit, that is made up for first, and every one of
   * these is a conflict.
   */
  commit(
    account: string,
    generation: string,
    commits: readonly FilingCommit[],
    at: number,
  ): Promise<CommitResult[]>;
  /**
   * Looks whether Redis was set back since the commits that this or another process has made, or has carried
   * out half of one at its start, and makes up for it, see `restoreCommits` and `createLogMender`; rejects
   * with SnapshotLostError like `commit`. `at` is when events are recorded that are committed anew,
   * milliseconds on Redis's clock.
   */
  catchUp(account: string, generation: string, at: number): Promise<void>;
  /**
   * Accounts that this process has committed events to at that time (ms) or later, as far as it remembers.
   */
  committedSince(at: number): ReadonlySet<string>;
  /** Number of filings per status, removed ones left out. */
  counts(account: string): Promise<Record<string, number>>;
  /** Number of filings, removed ones left out. */
  known(account: string): Promise<number>;
  /** Ids of all filings in one status; not for COMPLETED, which has no index. */
  idsIn(account: string, status: string): Promise<string[]>;
  /**
   * Every id ever seen, with its state to be decoded when needed, in chunks and in no order; an id may come
   * twice. Decoding throws an UnreadableError.
   */
  scan(account: string): AsyncIterable<(readonly [id: string, state: () => FilingState])[]>;
}

/** What a store that commits needs besides Redis. */
export interface SnapshotOptions {
  readonly journal: CommitJournal;
  /** Called when commits that Redis had lost are made up for. */
  readonly onRestored: (restoration: Restoration, generation: string) => Promise<void>;
  /** Called when a log was found torn and is mended. */
  readonly onTorn: (mending: LogMending, generation: string) => Promise<void>;
  readonly onUnreadable: OnUnreadable;
}

const manyIds = 20;
// Bounds the time that one script keeps Redis busy; Lua's `unpack` takes no more than 8000.
const idsAtOnceMax = 1_000;

/** The snapshot in Redis hashes. */
export function createSnapshotStore(
  redis: RedisClient,
  keys: Keys,
  {
    journal = createCommitJournal(redis, keys),
    onRestored,
    onTorn,
    onUnreadable = () => undefined,
  }: Partial<SnapshotOptions> = {},
): SnapshotStore {
  const log = createEventLog(redis, keys);
  const unreadable = createUnreadableStates({ redis, keys, log, onUnreadable });
  const commitScript = committing(loadScript(new URL('commit/commit-changes.lua', import.meta.url)));
  const readScript = loadScript(new URL('read-states.lua', import.meta.url));

  // One argument and one reply instead of hundreds, which take a client longer than what is done with them.
  async function readAtOnce(key: string, ids: readonly string[]): Promise<(string | null)[]> {
    if (ids.length < manyIds || ids.some((id) => id.includes('\n'))) return redis.hmget(key, ...ids);
    const reply = (await readScript.run(redis, [key], [`${ids.join('\n')}\n`])) as string;
    const texts = reply.slice(0, -1).split('\n');
    // One of them is not a state, and goes over several lines.
    if (texts.length !== ids.length) return redis.hmget(key, ...ids);
    return texts.map((text) => (text === '' ? null : text));
  }

  async function read(account: string, ids: readonly string[]): Promise<(StoredState | null)[]> {
    const key = keys.account(account).filings;
    const states: (StoredState | null)[] = [];
    for (let from = 0; from < ids.length; from += idsAtOnceMax)
      for (const text of await readAtOnce(key, ids.slice(from, from + idsAtOnceMax))) {
        const id = ids[states.length] ?? '';
        // Nearly always so.
        const isFine = text === null || isPlainState(text);
        const readable = isFine ? text : await unreadable.toReadable(account, id, text);
        states.push(readable === null ? null : new StoredState(readable));
      }
    return states;
  }

  // Null, with nothing written, when the log is not the one that is known.
  async function write(
    account: string,
    generation: string,
    commits: readonly FilingCommit[],
    at: number,
    known: Checkpoint,
  ): Promise<CommitResult[] | null> {
    const key = keys.account(account);
    const reply = (await commitScript.run(
      redis,
      [
        key.filings,
        key.index,
        key.details,
        key.counts,
        key.head,
        key.events,
        key.bodies,
        key.filingEvents,
        key.polling,
      ],
      [
        generation,
        known.position,
        known.timeline,
        ...commits.flatMap((commit) => commitArguments(commit, at)),
      ],
    )) as [number[], number, string] | 0 | null;
    if (reply === null) throw new SnapshotLostError(account);
    if (reply === 0) return null;
    const [positions, position, timeline] = reply;
    const recorded = commits.filter((_, i) => (positions[i] ?? 0) > 0);
    const head = { position, timeline };
    if (recorded.length > 0) await journal.note({ account, generation, head, at, commits: recorded });
    return positions.map(toResult);
  }

  const writeAt =
    (at: number) =>
    async (account: string, generation: string, commits: readonly FilingCommit[]): Promise<number> => {
      let written = 0;
      for (const some of inBatches(commits)) {
        // oxlint-disable-next-line no-await-in-loop
        const results = await write(account, generation, some, at, logBeginning);
        written += (results ?? []).filter(({ kind }) => kind === 'written').length;
      }
      return written;
    };

  async function* scan(account: string): ReturnType<SnapshotStore['scan']> {
    let cursor = '0';
    do {
      const [next, fields] = await redis.hscan(keys.account(account).filings, cursor, 'COUNT', 1000);
      yield pairs(keys.account(account).filings, fields);
      cursor = next;
    } while (cursor !== '0');
  }

  const mender = createLogMender({
    redis,
    keys,
    log,
    read,
    // States alone are written, so that no time is needed.
    restate: (...args) => restate({ read, write: writeAt(0) }, ...args),
    recount: createRecount(redis, keys, scan),
    onTorn: async (...args) => onTorn?.(...args),
  });

  async function catchUp(account: string, generation: string, at: number): Promise<void> {
    await mender.mend(account, generation);
    const deps = { log, journal, read, write: writeAt(at) };
    const restoration = await restoreCommits(deps, account, generation, at);
    if (restoration !== null) await onRestored?.(restoration, generation);
  }

  return {
    read,

    async commit(account, generation, commits, at) {
      const results: CommitResult[] = [];
      for (const some of inBatches(commits)) {
        const known = journal.newest(account, generation) ?? logBeginning;
        // In the order of the page; each knows of the events of the one before.
        // oxlint-disable-next-line no-await-in-loop
        const written = await write(account, generation, some, at, known);
        if (written === null) {
          // oxlint-disable-next-line no-await-in-loop
          await catchUp(account, generation, at);
          return commits.map((_, i) => results[i] ?? { kind: 'conflict' });
        }
        results.push(...written);
      }
      return results;
    },
    catchUp,
    committedSince: journal.committedSince,

    async counts(account) {
      const counts = await redis.hgetall(keys.account(account).counts);
      return Object.fromEntries(Object.entries(counts).map(([status, count]) => [status, toCount(count)]));
    },

    async known(account) {
      const counts = await redis.hvals(keys.account(account).counts);
      return counts.reduce((sum, count) => sum + toCount(count), 0);
    },

    async idsIn(account, status) {
      const members = await redis.zrangebylex(
        keys.account(account).index,
        `[${status}\0`,
        `(${status}\u0001`,
      );
      return members.map((member) => member.slice(status.length + 1));
    },

    scan,
  };
}

// What is no number is counted anew when the account's keys are looked at.
function toCount(text: string): number {
  const count = Number(text);
  return Number.isFinite(count) ? count : 0;
}

function pairs(key: string, fields: readonly string[]): (readonly [string, () => FilingState])[] {
  const result: (readonly [string, () => FilingState])[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const id = fields[i] ?? '';
    result.push([id, () => decodeRecord(key, id, fields[i + 1] ?? '', decodeState)]);
  }
  return result;
}
