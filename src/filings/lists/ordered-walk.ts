import type { FilingState } from '../detection/filing-state.ts';
import { newestRank, ofMember, timeOfRank } from '../detection/newest.ts';
import type { NewestIndex } from '../newest/newest-index.ts';
import type { FilingReader, ListedFiling } from './filing-reader.ts';
import { createMerge, type Merged } from './merge.ts';
import {
  boundBehind,
  bySource,
  readPlace,
  writePlace,
  type AgeOrder,
  type OrderedPlace,
  type OrderedSource,
} from './ordered-place.ts';

/** A filing and the account that it belongs to. */
export interface SourcedFiling extends ListedFiling {
  readonly account: string;
}

/** The choice of filings of a walk, and its bounds. */
export interface WalkQuery {
  readonly order: AgeOrder;
  /** The `next` of the walk before; null from the beginning. */
  readonly after: string | null;
  /** Maximum number of filings that are returned. */
  readonly limit: number;
  /**
   * Whether a filing may be wanted, by its id and its details as they are stored. False is certain. It is
   * asked first, and spares reading the rest.
   */
  readonly mayWant?: (id: string, details: string | null) => boolean;
  readonly wants?: (filing: SourcedFiling) => boolean;
  /** Number of filings after which no more are read; those that were read are gone through. */
  readonly readMax: number;
  /** The same as a time, on the clock of `performance.now`. */
  readonly untilMs: number;
  /** Whether the walk goes on without the source whose read failed with this error. */
  readonly passOver?: (error: unknown) => boolean;
}

/** The filings that a walk has found. */
export interface WalkedFilings {
  readonly filings: readonly SourcedFiling[];
  /**
   * The `after` of the next walk; null at the end. A walk may find fewer than asked for, and not be at its
   * end.
   */
  readonly next: string | null;
  /** Number of filings that were read for it. */
  readonly read: number;
}

/**
 * Goes through the filings of several sources, of one account or of many, in the order of their age. Sources
 * of equally old filings come by account and status, then the filings by id. Filings that stay as they are
 * while the walks go on are found once. Rejects with RangeError when `after` is no place.
 */
export type OrderedWalk = (sources: readonly OrderedSource[], query: WalkQuery) => Promise<WalkedFilings>;

// Number of filings in the first and in the longest step of a source. Redis serves others between two steps.
const stepMin = 8;
const stepMax = 500;
// Number of sources that are read at once for the first time.
const sourcesAtOnce = 50;
// Maximum number of times that an order which turns out to be wrong is made anew for a step.
const ordersMax = 2;

/** One that is wanted, or the end of a step. */
interface Entry {
  readonly id: string;
  readonly rank: string;
  readonly filing: SourcedFiling | null;
}

interface Cursor extends Merged {
  entries: Entry[];
  at: number;
  from: string | null;
  size: number;
  isAtEnd: boolean;
}

/** Walks over the orders in Redis. */
export function createOrderedWalk(newest: NewestIndex, reader: FilingReader): OrderedWalk {
  async function readStep({ source, from, size }: Cursor, query: WalkQuery) {
    const { account, status } = source;
    for (let tries = 0; ; tries += 1) {
      const found = await newest.members(account, status, from, size + 1, query.order);
      const members = found.slice(0, size);
      const maybe = await sift(account, status, members, query);
      const ids = maybe.map(({ id }) => id);
      const known = await reader.states(account, ids, await reader.stateTexts(account, ids));
      const byId = new Map(maybe.map((each) => [each.id, each]));
      // Between the two reads a filing may have moved on: then its member is another one, or gone.
      const misplaced = known.filter(
        ([id, state]) => isThere(state, status) && byId.get(id)?.rank !== newestRank(state),
      );
      if (tries < ordersMax && misplaced.length > 0) {
        if (tries > 0) await newest.drop(account);
        continue;
      }
      const listed = await reader.withDetails(
        account,
        known
          .filter(([, state]) => isThere(state, status))
          .map(([id, state]) => [id, state, byId.get(id)?.details ?? null]),
      );
      const wanted = listed
        .map((filing): SourcedFiling => ({ ...filing, account }))
        .filter((filing) => query.wants?.(filing) !== false);
      return {
        members,
        isLast: found.length <= size,
        wanted: wanted.map((filing): Entry => {
          return { id: filing.id, rank: byId.get(filing.id)?.rank ?? '', filing };
        }),
      };
    }
  }

  // The members that may be wanted, with their details.
  async function sift(account: string, status: string, members: readonly string[], query: WalkQuery) {
    const placed = members.map((member) => ofMember(status, member));
    const details = await reader.detailTexts(
      account,
      placed.map(({ id }) => id),
    );
    const maybe: { readonly id: string; readonly rank: string; readonly details: string | null }[] = [];
    for (const [i, { id, rank }] of placed.entries()) {
      const text = details[i] ?? null;
      if (query.mayWant?.(id, text) !== false) maybe.push({ id, rank, details: text });
    }
    return maybe;
  }

  async function refill(cursor: Cursor, query: WalkQuery): Promise<number> {
    const { members, isLast, wanted } = await readStep(cursor, query);
    const last = members.at(-1);
    cursor.at = 0;
    cursor.entries = wanted;
    // The last one of the step stands for all that are not wanted.
    if (last !== undefined) cursor.entries.push({ ...ofMember(cursor.source.status, last), filing: null });
    cursor.isAtEnd = isLast;
    if (last !== undefined) cursor.from = `(${last}`;
    cursor.size = Math.min(stepMax, cursor.size * 2);
    return members.length;
  }

  // A source that cannot be read may be passed over, if the caller says so.
  async function tryRefill(cursor: Cursor, query: WalkQuery): Promise<number> {
    try {
      return await refill(cursor, query);
    } catch (error) {
      if (query.passOver?.(error) !== true) throw error;
      [cursor.entries, cursor.at, cursor.isAtEnd] = [[], 0, true];
      return 0;
    }
  }

  return async (sources, query) => {
    const { order } = query;
    const place = query.after === null ? null : readPlace(query.after);
    const size = Math.min(stepMax, Math.max(stepMin, Math.ceil((2 * query.limit) / sources.length) + 1));
    const unread = sources
      .map((source): Unread => {
        const from = boundBehind(source, order, place);
        const cursor = { source, from, size, entries: [], at: 0, isAtEnd: false };
        return { rank: firstRank(source, order), cursor };
      })
      .toSorted((a, b) => byRank(b.rank, a.rank, order) || bySource(b.cursor.source, a.cursor.source));
    const merged = createMerge<Cursor>(order);
    const filings: SourcedFiling[] = [];
    let read = 0;
    let last: OrderedPlace | null = place;
    const isSpent = () => read >= query.readMax || performance.now() > query.untilMs;
    for (;;) {
      const next = merged.first();
      if (next === null ? unread.length > 0 : mayComeFirst(unread.at(-1), next, order)) {
        // Without a filing to go on behind, the next walk would begin here again.
        if (last !== place && isSpent()) return { filings, next: placeText(last), read };
        const some = unread.splice(-sourcesAtOnce).map(({ cursor }) => cursor);
        const counts = await Promise.all(some.map((cursor) => tryRefill(cursor, query)));
        read += counts.reduce((sum, count) => sum + count, 0);
        for (const cursor of some) merged.add(cursor);
        continue;
      }
      if (next === null) return { filings, next: null, read };
      if (filings.length >= query.limit) return { filings, next: placeText(last), read };
      merged.takeFirst();
      const { account, status } = next.source;
      const entry = next.entries[next.at];
      if (entry === undefined) {
        if (isSpent()) return { filings, next: placeText(last), read };
        read += await tryRefill(next, query);
        merged.add(next);
        continue;
      }
      next.at += 1;
      last = { account, status, since: timeOfRank(entry.rank), id: entry.id };
      if (entry.filing !== null) filings.push(entry.filing);
      merged.add(next);
    }
  };
}

/** A source that was not read yet, and the rank before which it has no filing. */
interface Unread {
  readonly rank: string | null;
  readonly cursor: Cursor;
}

function firstRank({ since }: OrderedSource, order: AgeOrder): string | null {
  if (since === undefined || since === null) return null;
  return newestRank({ since: order === 'newest' ? since.newest : since.oldest });
}

function mayComeFirst(unread: Unread | undefined, { entries, at }: Cursor, order: AgeOrder): boolean {
  const entry = entries[at];
  return unread !== undefined && entry !== undefined && byRank(unread.rank, entry.rank, order) <= 0;
}

// Null comes before all ranks.
function byRank(a: string | null, b: string | null, order: AgeOrder): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  return a < b === (order === 'newest') ? -1 : 1;
}

function isThere(state: FilingState, status: string): boolean {
  return state.status === status && !state.removed;
}

function placeText(place: OrderedPlace | null): string | null {
  return place === null ? null : writePlace(place);
}
