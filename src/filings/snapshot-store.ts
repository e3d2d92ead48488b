import type { NewEvent } from '../events/event.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { committing, loadScript } from '../redis/scripts.ts';
import { decodeState, encodeState, type FilingState } from './filing-state.ts';

/** A filing's state as stored: the text that a later commit compares against, decoded when asked for. */
export class StoredState {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get state(): FilingState {
    return decodeState(this.text);
  }
}

/** What people recognise a filing by; see `isLookedFor` for which it is kept. */
export interface FilingDetails {
  readonly policyNumber: string | null;
  readonly insuredsName: string | null;
  readonly stateAbbr: string | null;
  readonly filingType: string | null;
  readonly premium: number | null;
}

/** One filing's step: written only if the stored state is still `previous`. */
export interface FilingCommit {
  readonly id: string;
  readonly previous: StoredState | null;
  readonly next: FilingState;
  /** Null where none are to be kept; those kept before are dropped then. */
  readonly details: FilingDetails | null;
  readonly event: NewEvent | null;
}

/** What became of one commit. */
export type CommitResult =
  | { readonly kind: 'written'; readonly position: number | null } // position of the event in the log, null without one
  | { readonly kind: 'conflict' } // somebody else wrote first: read the state again and decide again
  | { readonly kind: 'baselined' }; // the baseline was completed meanwhile: a filing never seen is announced now

/** The snapshot was emptied or its account removed while somebody worked on it: what they know of it is void. */
export class SnapshotLostError extends Error {
  override readonly name = 'SnapshotLostError';

  constructor(account: string) {
    super(`the snapshot of account ${account} is gone or was begun anew`);
  }
}

/** The last seen state of every filing of an account. */
export interface SnapshotStore {
  /** States of these ids in their order; null for filings never seen. A round trip per thousand, each of them atomic. */
  read(account: string, ids: readonly string[]): Promise<(StoredState | null)[]>;
  /**
   * Writes states and appends events; each filing's pair is atomic, a crash leaves both or neither. Rejects with
   * SnapshotLostError, with nothing written, when the snapshot is not of the generation the caller decided on.
   */
  commit(
    account: string,
    generation: string,
    commits: readonly FilingCommit[],
    at: number,
  ): Promise<CommitResult[]>;
  /** Number of filings per status, removed ones left out. */
  counts(account: string): Promise<Record<string, number>>;
  /** Number of filings, removed ones left out. */
  known(account: string): Promise<number>;
  /** Ids of all filings in one status; not for COMPLETED, which has no index. */
  idsIn(account: string, status: string): Promise<string[]>;
  /** Every id ever seen, with its state to be decoded when needed, in chunks and in no order; an id may come twice. */
  scan(account: string): AsyncIterable<(readonly [id: string, state: () => FilingState])[]>;
}

const manyIds = 20;
// Bounds the time that one script keeps Redis busy; Lua's `unpack` takes no more than 8000.
const idsAtOnceMax = 1_000;

/** The snapshot in Redis hashes. */
export function createSnapshotStore(redis: RedisClient, keys: Keys): SnapshotStore {
  const commitScript = committing(loadScript(new URL('commit-changes.lua', import.meta.url)));
  const readScript = loadScript(new URL('read-states.lua', import.meta.url));

  // One argument and one reply instead of hundreds, which take a client longer than what is done with them.
  async function readAtOnce(key: string, ids: readonly string[]): Promise<(string | null)[]> {
    if (ids.length < manyIds || ids.some((id) => id.includes('\n'))) return redis.hmget(key, ...ids);
    const reply = (await readScript.run(redis, [key], [`${ids.join('\n')}\n`])) as string;
    return reply
      .slice(0, -1)
      .split('\n')
      .map((text) => (text === '' ? null : text));
  }

  return {
    async read(account, ids) {
      const key = keys.account(account).filings;
      const states: (StoredState | null)[] = [];
      for (let from = 0; from < ids.length; from += idsAtOnceMax)
        for (const text of await readAtOnce(key, ids.slice(from, from + idsAtOnceMax)))
          states.push(text === null ? null : new StoredState(text));
      return states;
    },

    async commit(account, generation, commits, at) {
      if (commits.length === 0) return [];
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
          key.filingEvents,
          key.polling,
        ],
        [generation, ...commits.flatMap((commit) => commitArguments(commit, at))],
      )) as number[] | null;
      if (reply === null) throw new SnapshotLostError(account);
      return reply.map(toResult);
    },

    async counts(account) {
      const counts = await redis.hgetall(keys.account(account).counts);
      return Object.fromEntries(Object.entries(counts).map(([status, count]) => [status, Number(count)]));
    },

    async known(account) {
      const counts = await redis.hvals(keys.account(account).counts);
      return counts.reduce((sum, count) => sum + Number(count), 0);
    },

    async idsIn(account, status) {
      const members = await redis.zrangebylex(
        keys.account(account).index,
        `[${status}\0`,
        `(${status}\u0001`,
      );
      return members.map((member) => member.slice(status.length + 1));
    },

    async *scan(account) {
      let cursor = '0';
      do {
        const [next, fields] = await redis.hscan(keys.account(account).filings, cursor, 'COUNT', 1000);
        yield pairs(fields);
        cursor = next;
      } while (cursor !== '0');
    },
  };
}

function toResult(position: number): CommitResult {
  if (position === -1) return { kind: 'conflict' };
  if (position === -2) return { kind: 'baselined' };
  return { kind: 'written', position: position === 0 ? null : position };
}

function commitArguments({ id, previous, next, details, event }: FilingCommit, at: number): string[] {
  return [
    id,
    previous?.text ?? '',
    encodeState(next),
    indexStatus(previous?.state ?? null),
    indexStatus(next),
    details === null ? '' : JSON.stringify(details),
    event?.id ?? '',
    event?.type ?? '',
    event?.state ?? '',
    String(at),
    event?.body ?? '',
  ];
}

// A removed filing keeps its state but stands in no count and no index.
function indexStatus(state: FilingState | null): string {
  return state === null || state.removed ? '' : state.status;
}

function pairs(fields: readonly string[]): (readonly [string, () => FilingState])[] {
  const result: (readonly [string, () => FilingState])[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2)
    result.push([fields[i] ?? '', () => decodeState(fields[i + 1] ?? '')]);
  return result;
}
