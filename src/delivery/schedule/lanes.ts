/**
 * Events of one filing that wait behind a failed event, oldest first. The operational events share the lane
 * ''.
 */
export interface Lane {
  /** Positions in the log; the first is that of the failed event. */
  readonly positions: readonly number[];
  /** Failed attempts of the first position that count against its schedule. */
  readonly spent: number;
  /** All attempts of the first position so far. */
  readonly tried: number;
  /** When the first position may be tried again, milliseconds on Redis's clock. */
  readonly dueAt: number;
  /**
   * True when the event at the first position is itself at fault: the endpoint worked between two of its
   * failed attempts. A recovery of the endpoint is then no reason for an earlier retry.
   */
  readonly proven?: boolean;
  /** When `dueAt` was decided; a `retryNow` of the whole subscription after that makes the lane due. */
  readonly decidedAt: number;
}

/** The wait of an event for its next retry. */
export interface Wait {
  /** Milliseconds on Redis's clock. */
  readonly dueAt: number;
  /** Whether the failed attempt costs one of the event's retries. */
  readonly charged: boolean;
  /** Whether the event itself is at fault, see `isEventAtFault`. */
  readonly eventAtFault: boolean;
  /** True when nothing was sent: it waits for something else, and this was no attempt. */
  readonly unsent?: true;
}

/** A lane of events none of which has been tried. */
export function newLane(positions: readonly number[], now: number): Lane {
  return { positions, spent: 0, tried: 0, dueAt: now, decidedAt: now };
}

/** The lane after a failed attempt of its first position, which is to be tried again. */
export function laneAfterFailure(
  lane: Lane,
  { dueAt, charged, eventAtFault, unsent }: Wait,
  now: number,
): Lane {
  const { spent, tried } = lane;
  if (unsent) return { ...lane, dueAt, decidedAt: now };
  const next = { ...lane, spent: charged ? spent + 1 : spent, tried: tried + 1, dueAt, decidedAt: now };
  return eventAtFault ? { ...next, proven: true } : next;
}

/** The lane without its first position, due at once; null when that was the last position. */
export function laneAfterHead(lane: Lane, now: number): Lane | null {
  return lane.positions.length > 1 ? newLane(lane.positions.slice(1), now) : null;
}

/**
 * The lane after the endpoint was found to work again, due at once. The lane gets its spent retries back,
 * unless its event is at fault.
 */
export function laneRetriedNow(lane: Lane, now: number): Lane {
  return { ...lane, spent: lane.proven === true ? lane.spent : 0, dueAt: Math.min(lane.dueAt, now) };
}

/**
 * Whether a failure now is the fault of the lane's first event. `workedAt` is when the newest callback that
 * the endpoint accepted was sent, milliseconds.
 */
export function isEventAtFault(lane: Lane | undefined, workedAt: number): boolean {
  return lane !== undefined && (lane.proven === true || (lane.tried > 0 && workedAt > lane.decidedAt));
}

/** A lane whose first event is due. */
export interface DueLane {
  readonly filingId: string;
  readonly lane: Lane;
}

/**
 * The lanes of a subscription or of a replay, in the order of their due times. A started lane is in flight
 * until it is put back.
 */
export interface Lanes {
  get(filingId: string): Lane | undefined;
  /** Puts a new event behind the others of a filing that has a lane. */
  append(filingId: string, position: number): void;
  /** Puts back a started lane, or adds a new lane; null removes a lane in which no event waits any more. */
  put(filingId: string, lane: Lane | null): void;
  /**
   * Starts the lane that was due first, among lanes due at `now` whose filing is not busy; null when there is
   * none.
   */
  start(now: number, isBusy: (filingId: string) => boolean): DueLane | null;
  /**
   * Makes every lane due, see `laneRetriedNow`; one in flight gets its spent retries back, whatever becomes
   * of its attempt. The store learns of it by `releasedAt`, not by a change of each lane.
   */
  retryNow(now: number): void;
  /** Makes one lane due, unless it is in flight. */
  retryOneNow(filingId: string, now: number): void;
  /** Replaces each lane for which `change` returns another one, except those in flight. */
  correct(change: (lane: Lane) => Lane): void;
  /**
   * When the first lane not in flight is due, in milliseconds; null when there is none. Blocked ones do not
   * count.
   */
  nextDueAt(isBlocked?: (filingId: string) => boolean): number | null;
  /** Number of events in all lanes. */
  parked(): number;
  /** Removes and returns the changes since the last call; null where a lane is empty now. */
  removeChanges(): ReadonlyMap<string, Lane | null>;
  all(): ReadonlyMap<string, Lane>;
}

interface Due {
  readonly dueAt: number;
  readonly filingId: string;
}

const noChanges: ReadonlyMap<string, Lane | null> = new Map();

/** Lanes as stored. A lane decided before `releasedAt` (milliseconds, 0 = never) is due since that time. */
export function createLanes(stored: ReadonlyMap<string, Lane>, releasedAt: number): Lanes {
  const lanes = new Map<string, Lane>();
  let changed = new Map<string, Lane | null>();
  let parked = 0;
  // The lanes not in flight, in the order of their due times.
  const queue: Due[] = [];

  for (const [filingId, lane] of stored) {
    const current = lane.decidedAt < releasedAt ? laneRetriedNow(lane, releasedAt) : lane;
    lanes.set(filingId, current);
    queue.push({ dueAt: current.dueAt, filingId });
    parked += lane.positions.length;
  }
  queue.sort((a, b) => a.dueAt - b.dueAt);

  function store(filingId: string, lane: Lane | null): void {
    parked += (lane?.positions.length ?? 0) - (lanes.get(filingId)?.positions.length ?? 0);
    if (lane === null) lanes.delete(filingId);
    else lanes.set(filingId, lane);
    changed.set(filingId, lane);
  }

  function put(filingId: string, lane: Lane | null): void {
    store(filingId, lane);
    if (lane !== null) queue.splice(indexAfter(queue, lane.dueAt), 0, { dueAt: lane.dueAt, filingId });
  }

  return {
    get: (filingId) => lanes.get(filingId),
    append(filingId, position) {
      const lane = lanes.get(filingId);
      if (lane !== undefined) store(filingId, { ...lane, positions: [...lane.positions, position] });
    },
    put,
    start(now, isBusy) {
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
    retryNow(now) {
      for (const [filingId, lane] of lanes) lanes.set(filingId, laneRetriedNow(lane, now));
      for (const [i, { dueAt, filingId }] of queue.entries())
        queue[i] = { dueAt: Math.min(dueAt, now), filingId };
    },
    retryOneNow(filingId, now) {
      const index = queue.findIndex((due) => due.filingId === filingId);
      const lane = lanes.get(filingId);
      if (index < 0 || lane === undefined) return;
      queue.splice(index, 1);
      put(filingId, laneRetriedNow(lane, now));
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
    nextDueAt: (isBlocked = () => false) => queue.find(({ filingId }) => !isBlocked(filingId))?.dueAt ?? null,
    parked: () => parked,
    removeChanges() {
      if (changed.size === 0) return noChanges;
      const removed = changed;
      changed = new Map();
      return removed;
    },
    all: () => lanes,
  };
}

// Index at which a lane is queued: behind all lanes due at the same time or earlier.
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
