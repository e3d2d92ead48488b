import { isIndexed } from '../../partner/filing-statuses.ts';
import { answeredGroup, readPlace, writePlace } from '../../filings/detection/age-rank.ts';
import { passedDeadline, type Deadlines } from '../../filings/detection/deadlines.ts';
import type { LateFiling, LateFilings } from '../../filings/detection/decide-commit.ts';
import { datedSources } from '../../filings/lists/walk-sources.ts';
import type { FilingListStore, ListedFiling } from '../../filings/lists/filing-list-store.ts';
import type { WalkSource } from '../../filings/lists/ordered-walk.ts';

/** Finds filings that have passed a deadline which was not reported yet. */
export type LateSearch = ReturnType<typeof createLateSearch>;

/** No filing. */
export const noneLate: LateFilings = new Map();

// Maximum number of filings that a poll looks at for one deadline, and of those that are late at once.
const looksMax = 1_000;
const lateMax = 200;
// Milliseconds between two walks through all filings of a source: one may come, or come back, with an earlier
// time.
const walkEveryMs = 3_600_000;

// Filings of these sources pass a deadline when their time is this many milliseconds ago.
interface Watch {
  readonly sources: readonly WalkSource[];
  readonly afterMs: number;
}

// The progress through the filings of a watch. All with times until `top` were looked at, except the ones
// from `place` on.
interface Walk {
  top: number;
  place: string | null;
  begunAt: number;
  readonly late: Map<string, LateFiling>;
}

/**
 * A search that remembers in this process which filings it has looked at. The reports stand in the filings'
 * states, so a search that begins anew reports nothing twice.
 */
export function createLateSearch({
  filings,
}: {
  readonly filings: Pick<FilingListStore, 'walk' | 'getAll'>;
}) {
  let walks = new Map<string, Walk>();

  // Forgets the filings that were reported or have moved on.
  async function forgetOthers(account: string, isLate: (filing: ListedFiling) => boolean): Promise<void> {
    const ids = new Set([...walks.values()].flatMap(({ late }) => [...late.keys()]));
    if (ids.size === 0) return;
    const now = new Map((await filings.getAll(account, [...ids])).map((filing) => [filing.id, filing]));
    for (const { late } of walks.values())
      for (const id of late.keys()) {
        const filing = now.get(id);
        if (filing !== undefined && isLate(filing)) late.set(id, toLate(filing));
        else late.delete(id);
      }
  }

  // Looks at filings from the ones that are late for the first time to the oldest, in parts.
  async function look(watch: Watch, walk: Walk, isLate: (filing: ListedFiling) => boolean, now: number) {
    if (walk.late.size >= lateMax) return;
    let room = looksMax;
    async function take(after: string) {
      const query = { order: 'newest', after, limit: lateMax, readMax: lateMax } as const;
      const { filings: found, next } = await filings.walk(watch.sources, query);
      for (const filing of found) if (isLate(filing)) walk.late.set(filing.id, toLate(filing));
      room -= lateMax;
      return { next, since: next === null ? -Infinity : readPlace(next).since };
    }
    const by = Math.trunc(now - watch.afterMs);
    let { next, since } = await take(writePlace({ account: '-', status: '-', since: by + 1, id: '' }));
    while (next !== null && since > walk.top && room > 0 && walk.late.size < lateMax)
      ({ next, since } = await take(next));
    // Whatever lies between here and the former top is looked at again by the walk.
    if (next !== null && since > walk.top) walk.place = next;
    if (next === null) walk.place = null;
    walk.top = by;
    while (walk.place !== null && room > 0 && walk.late.size < lateMax)
      walk.place = (await take(walk.place)).next;
  }

  return {
    /**
     * Finds some of them among filings in these statuses, as of a time (ms); the next call goes on. Deadlines
     * that are passed for the first time come before those that a former process may have left.
     */
    async find(
      account: string,
      deadlines: Deadlines,
      statuses: readonly string[],
      now: number,
    ): Promise<LateFilings> {
      const watches = watchesOf(account, deadlines, statuses);
      if (watches.length === 0) return noneLate;
      const isLate = ({ state, seen }: ListedFiling) =>
        passedDeadline(deadlines, state, now, seen !== null) !== null;
      await forgetOthers(account, isLate);
      const kept = new Map<string, Walk>();
      for (const watch of watches) {
        const key = JSON.stringify([watch, ...(deadlines.due?.after ?? [])]);
        const known = walks.get(key);
        const isFresh = known !== undefined && (known.place !== null || now - known.begunAt < walkEveryMs);
        const walk: Walk = isFresh
          ? known
          : { top: -Infinity, place: null, begunAt: now, late: known?.late ?? new Map() };
        kept.set(key, walk);
        await look(watch, walk, isLate, now);
      }
      walks = kept;
      return new Map([...kept.values()].flatMap(({ late }) => [...late]).slice(0, lateMax));
    },
  };
}

function toLate({ seen }: ListedFiling): LateFiling {
  return { seen: seen !== null };
}

// Stays by the time at which they began, due dates by themselves.
function watchesOf(account: string, { limits, due }: Deadlines, statuses: readonly string[]): Watch[] {
  const stays = [...limits].map(([status, { ms }]) => ({ sources: [{ account, status }], afterMs: ms }));
  const sources = datedSources(
    account,
    due,
    statuses.filter((status) => isIndexed(status) && status !== answeredGroup),
  );
  return [...stays, ...(due?.warnings ?? []).map(({ ms }) => ({ sources, afterMs: -ms }))];
}
