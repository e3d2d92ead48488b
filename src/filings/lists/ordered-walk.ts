import {
  boundBehind,
  byAccountAndStatus,
  filingIndexes,
  memberOf,
  readPlace,
  timeOfRank,
  writePlace,
  type AgeOrder,
  type AgePlace,
  type RankedFiling,
} from '../detection/age-rank.ts';
import type { FilingState } from '../detection/filing-state.ts';
import type { FilingIndex, FilingSource } from './filing-index.ts';
import type { FilingReader, ListedFiling } from './filing-reader.ts';

/** A filing and the account that it belongs to. */
export interface SourcedFiling extends ListedFiling {
  readonly account: string;
}

/** Filings of an account that a walk goes through. */
export interface WalkSource extends FilingSource {
  /** Whether a filing belongs to the source; left out: each of the index does. */
  readonly takes?: (state: FilingState) => boolean;
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
  /** Those of the wanted filings of an account that are wanted after a look elsewhere. */
  readonly sift?: (account: string, filings: readonly SourcedFiling[]) => Promise<readonly SourcedFiling[]>;
  /** Number of filings after which no more are read; those that were read are gone through. */
  readonly readMax?: number;
  /** The same as a time, on the clock of `performance.now`. */
  readonly untilMs?: number;
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
 * Goes through the filings of several sources, of one account or of many, in the order of their age. Equally
 * old filings come by account and status, then by id. Filings that stay as they are while the walks go on are
 * found once. Rejects with RangeError when `after` is no place.
 */
export type OrderedWalk = (sources: readonly WalkSource[], query: WalkQuery) => Promise<WalkedFilings>;

// Minimum and maximum number of filings in one step of a source. Redis serves others between two steps.
const stepMin = 8;
const stepMax = 500;
// Number of sources that are read at once. If there are more, only the first filing of each is looked up
// before the walk gets to it.
const sourcesAtOnce = 50;
// Number of sources whose next filing is looked up at the cost of reading one filing.
const peeksForOne = 10;

/** A stretch of a source, in its order. */
interface Stretch {
  readonly source: WalkSource;
  members: readonly RankedFiling[];
  /** The next of them. */
  at: number;
  /** Whether no others follow. */
  isLast: boolean;
  /** Number of filings of the next stretch. */
  size: number;
  /** The wanted members; null until they are read. */
  wanted: ReadonlyMap<string, SourcedFiling> | null;
}

/** Walks over the index in Redis. */
export function createOrderedWalk(index: FilingIndex, reader: FilingReader): OrderedWalk {
  async function advance(
    stretch: Stretch,
    from: string | null,
    order: AgeOrder,
    size: number,
  ): Promise<void> {
    const found = await index.members(stretch.source, from, size + 1, order);
    stretch.members = found.slice(0, size);
    [stretch.at, stretch.isLast, stretch.wanted] = [0, found.length <= size, null];
  }

  async function wantedOf({ source, members }: Stretch, { mayWant, wants, sift }: WalkQuery) {
    const { account, status, by = 'index', takes } = source;
    const all = members.map(({ id }) => id);
    const details = await reader.detailTexts(account, all);
    const ids = all.filter((id) => mayWant?.(id, details.get(id) ?? null) !== false);
    const memberById = new Map(members.map(({ id, rank }) => [id, memberOf(status, rank, id)]));
    // A filing may have moved on since its member was read.
    const there = (await reader.states(account, ids)).filter(
      ([id, state]) => `${filingIndexes[by](state)} ${id}` === memberById.get(id) && takes?.(state) !== false,
    );
    const listed = await reader.listed(account, there, details);
    const sourced = listed.map((filing): SourcedFiling => ({ ...filing, account }));
    const wanted = sourced.filter((one) => wants?.(one) !== false);
    const sifted = sift === undefined || wanted.length === 0 ? wanted : await sift(account, wanted);
    return new Map(sifted.map((one) => [one.id, one]));
  }

  // A source that cannot be read may be passed over, if the caller says so.
  async function unlessPassedOver(stretch: Stretch, query: WalkQuery, read: () => Promise<void>) {
    try {
      await read();
    } catch (error) {
      if (query.passOver?.(error) !== true) throw error;
      [stretch.members, stretch.at, stretch.isLast, stretch.wanted] = [[], 0, true, new Map()];
    }
  }

  async function begin(sources: readonly WalkSource[], place: AgePlace | null, query: WalkQuery) {
    const { order, limit } = query;
    const share = Math.ceil((2 * limit) / sources.length) + 1;
    const size = Math.min(stepMax, sources.length === 1 ? limit : Math.max(stepMin, share));
    const first = sources.length > sourcesAtOnce ? 1 : size;
    const stretches = sources.map((source): Stretch => {
      return { source, members: [], at: 0, isLast: true, size, wanted: null };
    });
    for (let from = 0; from < stretches.length; from += sourcesAtOnce)
      await Promise.all(
        stretches
          .slice(from, from + sourcesAtOnce)
          .map((one) =>
            unlessPassedOver(one, query, () =>
              advance(one, boundBehind(one.source, order, place), order, first),
            ),
          ),
      );
    return stretches;
  }

  return async (sources, query) => {
    const { order, limit, readMax = Infinity, untilMs = Infinity } = query;
    const place = query.after === null ? null : readPlace(query.after);
    const filings: SourcedFiling[] = [];
    let last = place;
    let read = sources.length / peeksForOne;
    const isSpent = () => read >= readMax || performance.now() > untilMs;
    const stop = () => ({ filings, next: last === null ? null : writePlace(last), read });
    const open = createMerge(order);
    for (const stretch of await begin(sources, place, query)) open.add(stretch);
    for (;;) {
      const [next] = open.first(1);
      if (next === undefined) return { filings, next: null, read };
      if (filings.length >= limit) return stop();
      if (next.wanted === null) {
        // Without a filing to go on behind, the next walk would begin here again.
        if (last !== place && isSpent()) return stop();
        const some = open
          .first(Math.min(sourcesAtOnce, limit - filings.length))
          .filter(({ wanted }) => wanted === null);
        for (const { members } of some) read += members.length;
        await Promise.all(
          some.map((one) =>
            unlessPassedOver(one, query, async () => void (one.wanted = await wantedOf(one, query))),
          ),
        );
        // A source that was passed over has no filings any more.
        for (const one of some) open.replace(one);
        continue;
      }
      const { source, members, wanted } = next;
      const { id, rank } = members[next.at] as RankedFiling;
      last = { ...source, since: timeOf(next), id };
      const filing = wanted.get(id);
      if (filing !== undefined) filings.push(filing);
      next.at += 1;
      if (next.at === members.length && !next.isLast) {
        if (isSpent()) return stop();
        await unlessPassedOver(next, query, () =>
          advance(next, `(${memberOf(source.status, rank, id)}`, order, next.size),
        );
        next.size = Math.min(stepMax, next.size * 2);
      }
      open.replace(next);
    }
  };
}

// The time of a stretch's next filing, shifted.
function timeOf({ source: { shiftMs = 0 }, members, at }: Stretch): number {
  return timeOfRank(members[at]?.rank ?? '') + shiftMs;
}

/** The stretches of several sources in the order of their next filings; one at its end is left out. */
function createMerge(order: AgeOrder) {
  // The first one is at the end. An addition compares with a few of the others, however many there are.
  const sorted: Stretch[] = [];

  function isBefore(a: Stretch, b: Stretch): boolean {
    const [x, y] = [timeOf(a), timeOf(b)];
    return x === y ? byAccountAndStatus(a.source, b.source) < 0 : x > y === (order === 'newest');
  }

  function add(stretch: Stretch): void {
    if (stretch.members[stretch.at] === undefined) return;
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(stretch, sorted[middle] as Stretch)) low = middle + 1;
      else high = middle;
    }
    sorted.splice(low, 0, stretch);
  }

  return {
    add,
    first: (count: number): Stretch[] => sorted.slice(-count).toReversed(),
    /** Moves a stretch of which the next filing is another one. */
    replace(stretch: Stretch): void {
      sorted.splice(sorted.lastIndexOf(stretch), 1);
      add(stretch);
    },
  };
}
