import type { FilingState } from '../../filings/detection/filing-state.ts';
import type { StayLimit, StayLimits } from '../../filings/detection/stay-limits.ts';
import { writePlace } from '../../filings/detection/age-rank.ts';
import type { FilingListStore } from '../../filings/lists/filing-list-store.ts';
import type { SnapshotStore } from '../../filings/snapshot-store.ts';

/** The filings of an account of which a poll may report that they stay for too long. */
export interface DueStays {
  readonly ids: readonly string[];
  /** The limit for a filing's stay in a status, if it may be over. */
  readonly limitOf: (id: string, status: string) => StayLimit | undefined;
}

/** Finds filings that have been in their status for longer than a limit and were not reported yet. */
export interface StalledSearch {
  /**
   * Finds some of them, as of a time (ms); the next call goes on. Limits that are over for the first time
   * come before those that a former process may have left.
   */
  find(account: string, limits: StayLimits, now: number): Promise<DueStays>;
}

/** No filing. */
export const noStays: DueStays = { ids: [], limitOf: () => undefined };

// Maximum number of filings of one status that a poll looks at, and of those that are due at once.
const looksMax = 1_000;
const dueMax = 200;
// Milliseconds between two walks through all filings of a status: one may come back with an earlier time.
const walkEveryMs = 3_600_000;

// The progress through the filings of one status. All that came into it until `top` were looked at, except
// the ones from `place` on.
interface Walk {
  top: number;
  place: string | null;
  begunAt: number;
  readonly due: Set<string>;
}

/**
 * A search that remembers in this process which filings it has looked at. The reports stand in the filings'
 * states, so a search that begins anew reports nothing twice.
 */
export function createStalledSearch({
  filings,
  snapshot,
}: {
  readonly filings: Pick<FilingListStore, 'walk'>;
  readonly snapshot: Pick<SnapshotStore, 'read'>;
}): StalledSearch {
  let walks = new Map<string, Walk>();

  async function stillDue(account: string, walk: Walk, isDue: (state: FilingState) => boolean) {
    const ids = [...walk.due];
    if (ids.length === 0) return;
    for (const [i, stored] of (await snapshot.read(account, ids)).entries()) {
      const state = stored?.state ?? null;
      if (state === null || !isDue(state)) walk.due.delete(ids[i] ?? '');
    }
  }

  // Looks at filings from the ones that are over for the first time to the oldest, in parts.
  async function look(account: string, status: string, walk: Walk, limit: StayLimit, now: number) {
    const isDue = (state: FilingState) => isOver(state, status, limit, now);
    await stillDue(account, walk, isDue);
    if (walk.due.size >= dueMax) return;
    let room = looksMax;
    async function take(after: string) {
      const query = { order: 'newest', after, limit: dueMax, readMax: dueMax } as const;
      const { filings: found, next } = await filings.walk([{ account, status }], query);
      for (const { id, state } of found) if (isDue(state)) walk.due.add(id);
      room -= dueMax;
      return { next, since: found.at(-1)?.state.since ?? 0 };
    }
    const by = now - limit.ms;
    let { next, since } = await take(writePlace({ account, status, since: Math.trunc(by), id: '' }));
    while (next !== null && since > walk.top && room > 0 && walk.due.size < dueMax)
      ({ next, since } = await take(next));
    // Whatever lies between here and the former top is looked at again by the walk.
    if (next !== null && since > walk.top) walk.place = next;
    if (next === null) walk.place = null;
    walk.top = by;
    while (walk.place !== null && room > 0 && walk.due.size < dueMax)
      walk.place = (await take(walk.place)).next;
  }

  return {
    async find(account, limits, now) {
      if (limits.size === 0) return noStays;
      const kept = new Map<string, Walk>();
      for (const [status, limit] of limits) {
        const key = `${limit.ms} ${status}`;
        const known = walks.get(key);
        const isFresh = known !== undefined && (known.place !== null || now - known.begunAt < walkEveryMs);
        const walk: Walk = isFresh
          ? known
          : { top: -Infinity, place: null, begunAt: now, due: known?.due ?? new Set() };
        kept.set(key, walk);
        await look(account, status, walk, limit, now);
      }
      walks = kept;
      return toDue(limits, kept);
    },
  };
}

function toDue(limits: StayLimits, walks: ReadonlyMap<string, Walk>): DueStays {
  const ids = new Set([...walks.values()].flatMap(({ due }) => [...due]));
  return {
    ids: [...ids].slice(0, dueMax),
    limitOf: (id, status) => (ids.has(id) ? limits.get(status) : undefined),
  };
}

function isOver(state: FilingState, status: string, { ms }: StayLimit, now: number): boolean {
  const { since, stalled = [], removed, answeredBy } = state;
  return (
    state.status === status &&
    !removed &&
    answeredBy === undefined &&
    since > 0 &&
    now - since >= ms &&
    !stalled.includes(ms)
  );
}
