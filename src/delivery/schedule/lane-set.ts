import { laneReleased, type Lane } from './lanes.ts';

/**
 * The lanes of a subscription or of a replay, in the order in which they are due. A lane that was taken is in
 * flight until it is put back.
 */
export interface LaneSet {
  get(filingId: string): Lane | undefined;
  /** Puts a new event behind the others of a filing that has a lane. */
  append(filingId: string, position: number): void;
  /** Puts back a lane that was taken, or in a new one; null when nothing waits in it any more. */
  put(filingId: string, lane: Lane | null): void;
  /**
   * The lane due first at `now` among those whose filing is not busy, from now on in flight; null when there
   * is none.
   */
  take(
    now: number,
    isBusy: (filingId: string) => boolean,
  ): { readonly filingId: string; readonly lane: Lane } | null;
  /**
   * Releases every lane, see `laneReleased`. It is written by way of `releasedAt`, not as a change of each
   * lane.
   */
  release(now: number): void;
  /** Releases one, unless it is in flight. */
  releaseOne(filingId: string, now: number): void;
  /** Puts another lane in place of each of which `change` makes another one, but for those in flight. */
  correct(change: (lane: Lane) => Lane): void;
  /** When the first of those not in flight is due, in milliseconds; null when there is none. */
  nextDueAt(): number | null;
  /**
   * Until when no lane has anything to do, in milliseconds; 0 while one is in flight, and when there is none.
   */
  restsUntil(): number;
  /** Events in all lanes. */
  parked(): number;
  /** Lanes that changed since the last call; null where a lane is empty now. */
  changes(): Map<string, Lane | null>;
  all(): ReadonlyMap<string, Lane>;
}

interface Due {
  readonly dueAt: number;
  readonly filingId: string;
}

/**
 * Takes up lanes as stored. Those decided before `releasedAt` (milliseconds, 0 = never) are due since then.
 */
export function createLaneSet(stored: ReadonlyMap<string, Lane>, releasedAt: number): LaneSet {
  const lanes = new Map<string, Lane>();
  const changed = new Map<string, Lane | null>();
  let parked = 0;
  // Of the lanes not in flight, first due first.
  const queue: Due[] = [];

  for (const [filingId, lane] of stored) {
    const standing = lane.decidedAt < releasedAt ? laneReleased(lane, releasedAt) : lane;
    lanes.set(filingId, standing);
    queue.push({ dueAt: standing.dueAt, filingId });
    parked += lane.positions.length;
  }
  queue.sort((a, b) => a.dueAt - b.dueAt);

  function store(filingId: string, lane: Lane | null): void {
    parked += (lane?.positions.length ?? 0) - (lanes.get(filingId)?.positions.length ?? 0);
    if (lane === null) lanes.delete(filingId);
    else lanes.set(filingId, lane);
    changed.set(filingId, lane);
  }

  function enqueue(filingId: string, lane: Lane | null): void {
    store(filingId, lane);
    if (lane !== null) queue.splice(indexAfter(queue, lane.dueAt), 0, { dueAt: lane.dueAt, filingId });
  }

  return {
    get: (filingId) => lanes.get(filingId),
    append(filingId, position) {
      const lane = lanes.get(filingId);
      if (lane !== undefined) store(filingId, { ...lane, positions: [...lane.positions, position] });
    },
    put: enqueue,
    take(now, isBusy) {
      for (let i = 0; i < queue.length; i += 1) {
        const due = queue[i];
        if (due === undefined || due.dueAt > now) return null;
        const lane = lanes.get(due.filingId);
        if (lane === undefined || isBusy(due.filingId)) continue;
        queue.splice(i, 1);
        return { filingId: due.filingId, lane };
      }
      return null;
    },
    release(now) {
      for (const [i, { dueAt, filingId }] of queue.entries()) {
        queue[i] = { dueAt: Math.min(dueAt, now), filingId };
        const lane = lanes.get(filingId);
        if (lane !== undefined) lanes.set(filingId, laneReleased(lane, now));
      }
    },
    releaseOne(filingId, now) {
      const index = queue.findIndex((due) => due.filingId === filingId);
      const lane = lanes.get(filingId);
      if (index < 0 || lane === undefined) return;
      queue.splice(index, 1);
      enqueue(filingId, laneReleased(lane, now));
    },
    correct(change) {
      for (const [i, { filingId }] of queue.entries()) {
        const lane = lanes.get(filingId);
        const next = lane === undefined ? undefined : change(lane);
        if (next === undefined || next === lane) continue;
        store(filingId, next);
        queue[i] = { dueAt: next.dueAt, filingId };
      }
      queue.sort((a, b) => a.dueAt - b.dueAt);
    },
    nextDueAt: () => queue[0]?.dueAt ?? null,
    restsUntil: () => (queue.length === lanes.size ? (queue[0]?.dueAt ?? 0) : 0),
    parked: () => parked,
    changes() {
      const result = new Map(changed);
      changed.clear();
      return result;
    },
    all: () => lanes,
  };
}

// Where something due then goes: behind all that is due as early.
function indexAfter(queue: readonly Due[], dueAt: number): number {
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((queue[middle]?.dueAt ?? 0) <= dueAt) low = middle + 1;
    else high = middle;
  }
  return low;
}
