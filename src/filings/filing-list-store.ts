import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { isIndexed } from '../partner/filing-statuses.ts';
import type { OnUnreadable } from '../redis/unreadable-record.ts';
import { isOfOtherStatus } from './detection/filing-state.ts';
import { memberAt, newestRank, ofMember, writePlace as writeNewestPlace } from './detection/newest.ts';
import { createFilingReader, type KnownFiling, type ListedFiling } from './lists/filing-reader.ts';
import { createOrderedWalk, type OrderedWalk } from './lists/ordered-walk.ts';
import { globOfPart } from './lists/search-words.ts';
import { createNewestIndex } from './newest/newest-index.ts';

export type { ListedFiling };

/** A page of filings. */
export interface FilingPage {
  readonly filings: readonly ListedFiling[];
  /**
   * The `after` of the next page; null at the end. A page may be shorter than asked for, or empty, and still
   * have a next one.
   */
  readonly next: string | null;
  /** Number of filings that were read for it, those that are on no page included. */
  readonly read: number;
}

/**
 * The filings of an account for people to look through; removed filings are not listed. A state that cannot
 * be read is rebuilt first, see `recoverState`; one of a newer format is not listed.
 */
export interface FilingListStore {
  /** A filing, removed or not; null when it was never seen. */
  get(account: string, id: string): Promise<ListedFiling | null>;
  /**
   * A page of the filings in one status, or of all with null; `after` is the `next` of the page before.
   * Filings that keep their status while the pages are read are on one of them; in lists of all filings or of
   * COMPLETED ones, a filing may be on two. Throws RangeError when `after` is no such text.
   */
  list(account: string, status: string | null, after: string | null, limit: number): Promise<FilingPage>;
  /**
   * A page of the filings in one status other than COMPLETED, the newest in the status first; equally new
   * ones by id. Filings that stay as they are while the pages are read are on one of them. Throws RangeError
   * when `after` is no such text. The first page of an account orders its filings, see `NewestIndex`.
   */
  listNewest(account: string, status: string, after: string | null, limit: number): Promise<FilingPage>;
  /**
   * A stretch of the filings of several accounts or statuses other than COMPLETED, in the order of their age.
   */
  readonly walk: OrderedWalk;
  /**
   * A page of the filings in a status without an index whose ids have this part, in any case and in no order;
   * otherwise as `list`.
   */
  findIds(
    account: string,
    part: string,
    status: string,
    after: string | null,
    limit: number,
  ): Promise<FilingPage>;
  /** Filings by their ids, in their order; those that were never seen are left out. */
  getAll(account: string, ids: readonly string[]): Promise<ListedFiling[]>;
}

/**
 * A place in a scan of the filings' hash: the cursor of the chunk that is being shown, and the last id of it
 * that was shown.
 */
interface ScanPlace {
  readonly cursor: string;
  readonly shownTo: string | null;
}

/** The filings that a scan is to find. */
interface Scanned {
  readonly status: string | null;
  /** A pattern of Redis for their ids; null for any. */
  readonly glob: string | null;
}

// Number of filings in one chunk of a scan.
const chunkSize = 200;
// Number of filings that Redis compares with a pattern in one chunk: a millisecond.
const matchedSize = 5_000;
// Number of filings that Redis compares at the cost of reading one.
const matchedForOne = 50;
// Maximum number of chunks that are read for a page, and of those that Redis compares with a pattern.
const chunksMax = 10;
const matchedChunksMax = 40;
// Maximum number of times that an order which turns out to be wrong is made anew for a page.
const ordersMax = 2;

/** Lists from the status index and, for COMPLETED and all statuses, from the hash of all filings. */
export function createFilingListStore(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable = () => undefined,
): FilingListStore {
  const reader = createFilingReader(redis, keys, onUnreadable);
  const newest = createNewestIndex(redis, keys, reader.states);

  async function readIndexed(account: string, status: string, after: string | null, limit: number) {
    const { index, filings } = keys.account(account);
    const from = after === null ? `[${status}\0` : `(${status}\0${after}`;
    const members = await redis.zrangebylex(index, from, `(${status}\u0001`, 'LIMIT', 0, limit + 1);
    const ids = members.slice(0, limit).map((member) => member.slice(status.length + 1));
    const texts = ids.length === 0 ? [] : await redis.hmget(filings, ...ids);
    // Between the two reads a filing may have moved on.
    const known = (await reader.states(account, ids, texts)).filter(
      ([, state]) => state.status === status && !state.removed,
    );
    return { known, next: members.length > limit ? (ids.at(-1) ?? null) : null, read: members.length };
  }

  async function listIndexed(account: string, status: string, after: string | null, limit: number) {
    const { known, next, read } = await readIndexed(account, status, after, limit);
    return { filings: await reader.listed(account, known), next, read };
  }

  async function readChunk(account: string, { status, glob }: Scanned, cursor: string) {
    const { filings } = keys.account(account);
    const [next, flat] =
      glob === null
        ? await redis.hscan(filings, cursor, 'COUNT', chunkSize)
        : await redis.hscan(filings, cursor, 'MATCH', glob, 'COUNT', matchedSize);
    const [ids, texts]: [string[], string[]] = [[], []];
    for (let i = 0; i < flat.length; i += 2) {
      const [id = '', text = ''] = [flat[i], flat[i + 1]];
      if (status !== null && isOfOtherStatus(text, status)) continue;
      ids.push(id);
      texts.push(text);
    }
    const known = await reader.states(account, ids, texts);
    return {
      next,
      known: known.toSorted(([a], [b]) => (a < b ? -1 : 1)),
      read: glob === null ? flat.length / 2 : matchedSize / matchedForOne,
    };
  }

  // Up to `room` filings of the list in one chunk of the hash, and where to go on.
  async function readPart(account: string, scanned: Scanned, { cursor, shownTo }: ScanPlace, room: number) {
    const { next, known, read } = await readChunk(account, scanned, cursor);
    const { status } = scanned;
    const wanted = known.filter(
      ([id, state]) =>
        (shownTo === null || id > shownTo) && !state.removed && (status === null || state.status === status),
    );
    const taken = wanted.slice(0, room);
    const rest: ScanPlace = { cursor, shownTo: taken.at(-1)?.[0] ?? shownTo };
    const following: ScanPlace | null = next === '0' ? null : { cursor: next, shownTo: null };
    return { taken, place: taken.length < wanted.length ? rest : following, read };
  }

  async function scan(
    account: string,
    scanned: Scanned,
    start: ScanPlace,
    limit: number,
  ): Promise<FilingPage> {
    const found: KnownFiling[] = [];
    let place: ScanPlace | null = start;
    let read = 0;
    const most = scanned.glob === null ? chunksMax : matchedChunksMax;
    for (let chunks = 0; place !== null && chunks < most && found.length < limit; chunks += 1) {
      // Each chunk's place comes from the chunk before.
      const step: Awaited<ReturnType<typeof readPart>> = await readPart(
        account,
        scanned,
        place,
        limit - found.length,
      );
      found.push(...step.taken);
      ({ place } = step);
      read += step.read;
    }
    const next = place === null ? null : writePlace(place);
    return { filings: await reader.listed(account, found), next, read };
  }

  return {
    async listNewest(account, status, after, limit) {
      const from = after === null ? `[${status}\0` : `(${memberAt(status, after)}`;
      for (let tries = 0; ; tries += 1) {
        // Begins anew where the order was dropped.
        const found = await newest.read(account, status, from, limit + 1);
        const page = found.slice(0, limit).map(({ member, text }) => ({ ...ofMember(status, member), text }));
        const texts = page.map(({ text }) => (text === '' ? null : text));
        const ids = page.map(({ id }) => id);
        const known = (await reader.states(account, ids, texts)).filter(
          ([, state]) => state.status === status && !state.removed,
        );
        const rankOf = new Map(page.map(({ id, rank }) => [id, rank]));
        if (tries < ordersMax && known.some(([id, state]) => rankOf.get(id) !== newestRank(state))) {
          await newest.drop(account);
          continue;
        }
        const last = found.length > limit ? page.at(-1) : undefined;
        return {
          filings: await reader.listed(account, known),
          next: last === undefined ? null : writeNewestPlace(last),
          read: found.length,
        };
      }
    },
    walk: createOrderedWalk(newest, reader),
    get: reader.one,
    async getAll(account, ids) {
      if (ids.length === 0) return [];
      const texts = await redis.hmget(keys.account(account).filings, ...ids);
      return reader.listed(account, await reader.states(account, ids, texts));
    },
    findIds: async (account, part, status, after, limit) =>
      scan(account, { status, glob: globOfPart(part) }, startAt(after), limit),
    async list(account, status, after, limit) {
      if (status !== null && isIndexed(status)) return listIndexed(account, status, after, limit);
      return scan(account, { status, glob: null }, startAt(after), limit);
    },
  };
}

function writePlace({ cursor, shownTo }: ScanPlace): string {
  return shownTo === null ? cursor : `${cursor} ${shownTo}`;
}

function startAt(after: string | null): ScanPlace {
  return after === null ? { cursor: '0', shownTo: null } : readPlace(after);
}

function readPlace(text: string): ScanPlace {
  const [, cursor, shownTo] = /^(\d{1,20})(?: ([^]+))?$/.exec(text) ?? [];
  if (cursor === undefined) throw new RangeError('not a place in the list of filings');
  return { cursor, shownTo: shownTo ?? null };
}
