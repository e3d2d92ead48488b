import { isIndexed, knownStatuses } from '../../partner/filing-statuses.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import type { OnUnreadable } from '../../redis/unreadable-record.ts';
import { createFilingIndex } from './filing-index.ts';
import { createFilingReader, type KnownFiling, type ListedFiling } from './filing-reader.ts';
import { createOrderedWalk } from './ordered-walk.ts';
import { globOfPart } from './search-words.ts';

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

/** The filings that a scan is to find. */
export interface ScanQuery {
  /** Null for all. */
  readonly status: string | null;
  /** Only filings whose ids have this part, in any case; those of other letters than it may be among them. */
  readonly part?: string;
  /** The `next` of the page before; null from the beginning. */
  readonly after: string | null;
  readonly limit: number;
}

/**
 * The filings of an account for people to look through; removed filings are not listed. A state that cannot
 * be read is set aside first, see `ReadStates`.
 */
export type FilingListStore = ReturnType<typeof createFilingListStore>;

const shownStatuses = knownStatuses.filter(isIndexed);

/**
 * A place in a scan of the filings' hash: the cursor of the chunk that is being shown, and the last id of it
 * that was shown.
 */
interface ScanPlace {
  readonly cursor: string;
  readonly shownTo: string | null;
}

interface Scanned {
  readonly status: string | null;
  /** A pattern of Redis for ids; null for any. */
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
/** Lists from the status index and, for COMPLETED and all statuses, from the hash of all filings. */
export function createFilingListStore(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable = () => undefined,
) {
  const reader = createFilingReader(redis, keys, onUnreadable);
  const index = createFilingIndex(redis, keys);

  async function readChunk(account: string, glob: string | null, cursor: string) {
    const { filings } = keys.account(account);
    const [next, flat] =
      glob === null
        ? await redis.hscan(filings, cursor, 'COUNT', chunkSize)
        : await redis.hscan(filings, cursor, 'MATCH', glob, 'COUNT', matchedSize);
    // Ids and states take turns.
    const [ids = [], texts = []] = [0, 1].map((side) => flat.filter((_, i) => i % 2 === side));
    const known = await reader.states(account, ids, texts);
    return {
      next,
      known: known.toSorted(([a], [b]) => (a < b ? -1 : 1)),
      read: glob === null ? flat.length / 2 : matchedSize / matchedForOne,
    };
  }

  // Up to `room` filings of the list from one chunk of the hash, and the place of the next part.
  async function readPart(account: string, scanned: Scanned, { cursor, shownTo }: ScanPlace, room: number) {
    const { next, known, read } = await readChunk(account, scanned.glob, cursor);
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

  async function getAll(account: string, ids: readonly string[]): Promise<ListedFiling[]> {
    return reader.listed(account, await reader.states(account, ids));
  }

  return {
    /** A filing, removed or not, or null if it was never seen. */
    get: async (account: string, id: string): Promise<ListedFiling | null> =>
      (await getAll(account, [id]))[0] ?? null,
    /** Filings by their ids, in their order; those that were never seen are left out. */
    getAll,
    /**
     * A page of all filings, or of those in a status that has no index, in no order. Filings that keep their
     * status while the pages are read are on one of them; one that changes may be on two. Throws RangeError
     * when `after` is no such text.
     */
    scan: (account: string, { status, part, after, limit }: ScanQuery): Promise<FilingPage> =>
      scan(account, { status, glob: part === undefined ? null : globOfPart(part) }, startAt(after), limit),
    /**
     * A stretch of the filings of several accounts or statuses other than COMPLETED, in the order of their
     * age.
     */
    walk: createOrderedWalk(index, reader),
    /**
     * When the filing that has been in it for longest came into each known status (ms), COMPLETED and
     * answered rejections left out; statuses without filings are missing.
     */
    oldest: (account: string): Promise<ReadonlyMap<string, number>> => index.oldest(account, shownStatuses),
    /** Number of filings in a status, for rejections only the open ones; not for COMPLETED. */
    count: index.count,
  };
}

function writePlace({ cursor, shownTo }: ScanPlace): string {
  return shownTo === null ? cursor : `${cursor} ${shownTo}`;
}

function startAt(after: string | null): ScanPlace {
  const [, cursor, shownTo] = /^(\d{1,20})(?: ([^]+))?$/.exec(after ?? '0') ?? [];
  if (cursor === undefined) throw new RangeError('not a place in the list of filings');
  return { cursor, shownTo: shownTo ?? null };
}
