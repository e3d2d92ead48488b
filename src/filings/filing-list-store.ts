import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { createEventLog } from '../events/event-log.ts';
import { isIndexed } from '../partner/filing-statuses.ts';
import { decodeRecord, isUnreadable, parseShaped, type OnUnreadable } from '../redis/unreadable-record.ts';
import type { FilingDetails } from './detection/filing-details.ts';
import {
  decodeState,
  isOfOtherStatus,
  isPlainState,
  type FilingState,
  StoredState,
} from './detection/filing-state.ts';
import { memberAt, newestRank, ofMember, writePlace as writeNewestPlace } from './detection/newest.ts';
import { createNewestIndex } from './newest/newest-index.ts';
import { createUnreadableStates } from './repair/unreadable-states.ts';

/**
 * A filing as last seen, with the details by which people recognise it; they are null while it is COMPLETED.
 */
export interface ListedFiling {
  readonly id: string;
  readonly state: FilingState;
  readonly details: FilingDetails | null;
}

/** A page of filings. */
export interface FilingPage {
  readonly filings: ListedFiling[];
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
  /** A filing, removed or not; null when it was never seen. Throws NewerFormatError. */
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
}

/**
 * A place in a scan of the filings' hash: the cursor of the chunk that is being shown, and the last id of it
 * that was shown.
 */
interface ScanPlace {
  readonly cursor: string;
  readonly shownTo: string | null;
}

// Number of filings in one chunk of a scan.
const chunkSize = 200;
// Maximum number of chunks that are read for a page.
const chunksMax = 10;
// Maximum number of times that an order which turns out to be wrong is made anew for a page.
const ordersMax = 2;

/** Lists from the status index and, for COMPLETED and all statuses, from the hash of all filings. */
export function createFilingListStore(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable = () => undefined,
): FilingListStore {
  const log = createEventLog(redis, keys);
  const unreadable = createUnreadableStates({ redis, keys, log, onUnreadable });

  // Null where the state is of a newer format or was removed meanwhile, so there is nothing to show.
  async function readState(account: string, id: string, text: string): Promise<FilingState | null> {
    const readable = isPlainState(text) ? text : await unreadable.toReadable(account, id, text);
    return readable === null ? null : new StoredState(readable).known;
  }

  async function readStates(account: string, ids: readonly string[], texts: readonly (string | null)[]) {
    const known: (readonly [string, FilingState])[] = [];
    for (const [i, id] of ids.entries()) {
      const text = texts[i] ?? null;
      const state = text === null ? null : await readState(account, id, text);
      if (state !== null) known.push([id, state]);
    }
    return known;
  }

  const newest = createNewestIndex(redis, keys, readStates);

  function readDetails(account: string, id: string, text: string | null): FilingDetails | null {
    if (text === null) return null;
    const { details: key } = keys.account(account);
    try {
      return decodeRecord(key, id, text, (json) => parseShaped<FilingDetails>(json, {}));
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      onUnreadable({ account, kind: 'details', key, field: id, reason: error.message, remedy: 'left_out' });
      return null;
    }
  }

  async function withDetails(account: string, known: readonly (readonly [string, FilingState])[]) {
    if (known.length === 0) return [];
    const texts = await redis.hmget(keys.account(account).details, ...known.map(([id]) => id));
    return known.map(([id, state], i): ListedFiling => {
      return { id, state, details: readDetails(account, id, texts[i] ?? null) };
    });
  }

  async function readIndexed(account: string, status: string, after: string | null, limit: number) {
    const { index, filings } = keys.account(account);
    const from = after === null ? `[${status}\0` : `(${status}\0${after}`;
    const members = await redis.zrangebylex(index, from, `(${status}\u0001`, 'LIMIT', 0, limit + 1);
    const ids = members.slice(0, limit).map((member) => member.slice(status.length + 1));
    const texts = ids.length === 0 ? [] : await redis.hmget(filings, ...ids);
    // Between the two reads a filing may have moved on.
    const known = (await readStates(account, ids, texts)).filter(
      ([, state]) => state.status === status && !state.removed,
    );
    return { known, next: members.length > limit ? (ids.at(-1) ?? null) : null, read: members.length };
  }

  async function listIndexed(account: string, status: string, after: string | null, limit: number) {
    const { known, next, read } = await readIndexed(account, status, after, limit);
    return { filings: await withDetails(account, known), next, read };
  }

  async function readChunk(account: string, status: string | null, cursor: string) {
    const [next, flat] = await redis.hscan(keys.account(account).filings, cursor, 'COUNT', chunkSize);
    const [ids, texts]: [string[], string[]] = [[], []];
    for (let i = 0; i < flat.length; i += 2) {
      const [id = '', text = ''] = [flat[i], flat[i + 1]];
      if (status !== null && isOfOtherStatus(text, status)) continue;
      ids.push(id);
      texts.push(text);
    }
    const known = await readStates(account, ids, texts);
    return { next, known: known.toSorted(([a], [b]) => (a < b ? -1 : 1)), read: flat.length / 2 };
  }

  // Up to `room` filings of the list in one chunk of the hash, and where to go on.
  async function readPart(
    account: string,
    status: string | null,
    { cursor, shownTo }: ScanPlace,
    room: number,
  ) {
    const { next, known, read } = await readChunk(account, status, cursor);
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
    status: string | null,
    start: ScanPlace,
    limit: number,
  ): Promise<FilingPage> {
    const found: (readonly [string, FilingState])[] = [];
    let place: ScanPlace | null = start;
    let read = 0;
    for (let chunks = 0; place !== null && chunks < chunksMax && found.length < limit; chunks += 1) {
      // Each chunk's place comes from the chunk before.
      const step: Awaited<ReturnType<typeof readPart>> = await readPart(
        account,
        status,
        place,
        limit - found.length,
      );
      found.push(...step.taken);
      ({ place } = step);
      read += step.read;
    }
    const next = place === null ? null : writePlace(place);
    return { filings: await withDetails(account, found), next, read };
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
        const known = (await readStates(account, ids, texts)).filter(
          ([, state]) => state.status === status && !state.removed,
        );
        const rankOf = new Map(page.map(({ id, rank }) => [id, rank]));
        if (tries < ordersMax && known.some(([id, state]) => rankOf.get(id) !== newestRank(state))) {
          await newest.drop(account);
          continue;
        }
        const last = found.length > limit ? page.at(-1) : undefined;
        return {
          filings: await withDetails(account, known),
          next: last === undefined ? null : writeNewestPlace(last),
          read: found.length,
        };
      }
    },
    async get(account, id) {
      const key = keys.account(account);
      const [text, details] = await Promise.all([redis.hget(key.filings, id), redis.hget(key.details, id)]);
      if (text === null) return null;
      const readable = await unreadable.toReadable(account, id, text);
      if (readable === null) return null;
      return { id, state: decodeState(readable), details: readDetails(account, id, details) };
    },
    async list(account, status, after, limit) {
      if (status !== null && isIndexed(status)) return listIndexed(account, status, after, limit);
      return scan(account, status, after === null ? { cursor: '0', shownTo: null } : readPlace(after), limit);
    },
  };
}

function writePlace({ cursor, shownTo }: ScanPlace): string {
  return shownTo === null ? cursor : `${cursor} ${shownTo}`;
}

function readPlace(text: string): ScanPlace {
  const [, cursor, shownTo] = /^(\d{1,20})(?: ([^]+))?$/.exec(text) ?? [];
  if (cursor === undefined) throw new RangeError('not a place in the list of filings');
  return { cursor, shownTo: shownTo ?? null };
}
