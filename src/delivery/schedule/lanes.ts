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

/** The lane without its first position, due at once. Null if no position is left. */
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

interface Due {
  readonly dueAt: number;
  readonly filingId: string;
}

/**
 * The lanes of a subscription or of a replay, in the order of their due times. A started lane is in flight
 * until it is put back.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  // The lanes not in flight, in the order of their due times.
  readonly #queue: Due[] = [];
  #changed = new Map<string, Lane | null>();
  #parked = 0;

  /** Lanes as stored. A lane decided before `releasedAt` (milliseconds, 0 = never) is due since that time. */
  constructor(stored: ReadonlyMap<string, Lane>, releasedAt: number) {
    for (const [filingId, lane] of stored) {
      const current = lane.decidedAt < releasedAt ? laneRetriedNow(lane, releasedAt) : lane;
      this.#lanes.set(filingId, current);
      this.#queue.push({ dueAt: current.dueAt, filingId });
      this.#parked += lane.positions.length;
    }
    this.#queue.sort((a, b) => a.dueAt - b.dueAt);
  }

  get(filingId: string): Lane | undefined {
    return this.#lanes.get(filingId);
  }

  /** Number of lanes. */
  count(): number {
    return this.#lanes.size;
  }

  /** Number of events in all lanes. */
  parked(): number {
    return this.#parked;
  }

  /** Number of events in all lanes from before a position. */
  parkedBefore(position: number): number {
    let parked = 0;
    for (const { positions } of this.#lanes.values())
      parked += positions.filter((each) => each < position).length;
    return parked;
  }

  /** Puts a new event behind the others of a filing that has a lane. */
  append(filingId: string, position: number): void {
    const lane = this.#lanes.get(filingId);
    if (lane !== undefined) this.#store(filingId, { ...lane, positions: [...lane.positions, position] });
  }

  /** Puts back a started lane, or adds a new lane; null removes a lane in which no event waits any more. */
  put(filingId: string, lane: Lane | null): void {
    this.#store(filingId, lane);
    if (lane === null) return;
    const { dueAt } = lane;
    this.#queue.splice(indexAfter(this.#queue, dueAt), 0, { dueAt, filingId });
  }

  /** Starts the lane due first among those due at `now` and not blocked. Null if there is none. */
  start(now: number, isBlocked: (filingId: string) => boolean): DueLane | null {
    for (const [i, { dueAt, filingId }] of this.#queue.entries()) {
      if (dueAt > now) return null;
      const lane = this.#lanes.get(filingId);
      if (lane === undefined || isBlocked(filingId)) continue;
      this.#queue.splice(i, 1);
      return { filingId, lane };
    }
    return null;
  }

  /**
   * Makes every lane due, see `laneRetriedNow`; one in flight gets its spent retries back, whatever becomes
   * of its attempt. The store learns of it by `releasedAt`, not by a change of each lane.
   */
  retryNow(now: number): void {
    for (const [filingId, lane] of this.#lanes) this.#lanes.set(filingId, laneRetriedNow(lane, now));
    for (const [i, { dueAt, filingId }] of this.#queue.entries())
      this.#queue[i] = { dueAt: Math.min(dueAt, now), filingId };
  }

  /** Makes one lane due, unless it is in flight. */
  retryOneNow(filingId: string, now: number): void {
    const index = this.#queue.findIndex((due) => due.filingId === filingId);
    const lane = this.#lanes.get(filingId);
    if (index < 0 || lane === undefined) return;
    this.#queue.splice(index, 1);
    this.put(filingId, laneRetriedNow(lane, now));
  }

  /** Replaces each lane for which `change` returns another one, except those in flight. */
  correct(change: (lane: Lane) => Lane): void {
    for (const [i, { filingId }] of this.#queue.entries()) {
      const lane = this.#lanes.get(filingId);
      const next = lane === undefined ? undefined : change(lane);
      if (next === undefined || next === lane) continue;
      this.#store(filingId, next);
      this.#queue[i] = { dueAt: next.dueAt, filingId };
    }
    this.#queue.sort((a, b) => a.dueAt - b.dueAt);
  }

  /** When the first unblocked lane not in flight is due, in milliseconds. Null if there is none. */
  nextDueAt(isBlocked: (filingId: string) => boolean = () => false): number | null {
    return this.#queue.find(({ filingId }) => !isBlocked(filingId))?.dueAt ?? null;
  }

  /** Removes and returns the lanes changed since the last call; null = the lane is now empty. */
  removeChanges(): ReadonlyMap<string, Lane | null> {
    const removed = this.#changed;
    this.#changed = new Map();
    return removed;
  }

  #store(filingId: string, lane: Lane | null): void {
    this.#parked += (lane?.positions.length ?? 0) - (this.#lanes.get(filingId)?.positions.length ?? 0);
    if (lane === null) this.#lanes.delete(filingId);
    else this.#lanes.set(filingId, lane);
    this.#changed.set(filingId, lane);
  }
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
