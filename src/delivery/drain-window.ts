import type { LogEntry } from '../events/event-log.ts';
import type { DeadLetter, Settlement } from './delivery-store.ts';
import { laneAfterFailure, laneAfterHead, type Lane } from './lanes.ts';
import { endpointHealth, healthAfter, isDown, type EndpointHealth } from './pause-policy.ts';
import type { Progress } from './progress.ts';
import type { Sent } from './send-callback.ts';

/** What to send next: an event never tried, or the first one of a lane. */
export interface Work {
  readonly position: number;
  /** Null for the first event of a lane: it has to be read from the log again. */
  readonly entry: LogEntry | null;
  readonly filingId: string;
  /** 1 for the first try. */
  readonly attempt: number;
  /** True when it is to find out whether a down endpoint is back. */
  readonly probe: boolean;
}

export interface WindowRules {
  readonly maxInFlight: number;
  readonly retryMs: readonly number[];
  readonly random: () => number;
}

/**
 * One drain's picture of its subscription: which events are ready, in flight, behind another one of their filing or in
 * a lane. Decides what is sent next; does no I/O. Order per filing holds because a filing has at most one event in
 * flight, and none is ready while its lane is not empty.
 */
export interface DrainWindow {
  /** Takes in the next entry of the log; `wanted` false passes it over. */
  take(entry: LogEntry, wanted: boolean): void;
  /** The next thing to send, now in flight; null when nothing may be sent now. */
  next(now: number): Work | null;
  /** Takes in what came of it. Its filing stays in flight until `free`. Returns the dead letter if it was given up. */
  settle(work: Work, entry: LogEntry, sent: Sent, now: number): DeadLetter | null;
  /** The entry of a lane is no longer in the log: it is done with. */
  drop(work: Work, now: number): void;
  /** Lets the filing's next event go, once the outcome of the former is written. */
  free(work: Work): void;
  /** Everything that waits is due now, and nothing is paused. */
  release(now: number): void;
  inFlight(): number;
  /** Events read and not sent yet. */
  waiting(): number;
  /** When something may be sent again if nothing else happens, in milliseconds; null when nothing waits. */
  nextDueAt(now: number): number | null;
  /** What changed since the last call, ready to be written. */
  changes(): Pick<Settlement, 'state' | 'lanes'>;
  dirty(): boolean;
  /** Since when nothing has been delivered, in milliseconds; 0 when the last attempt was a success. */
  failingSince(): number;
}

const retriesEvery = 4;

/** Builds the window from what the subscription's claim returned. */
export function createDrainWindow(
  rules: WindowRules,
  progress: Progress,
  stored: ReadonlyMap<string, Lane>,
  initial: EndpointHealth,
): DrainWindow {
  const lanes = new Map(stored);
  const ready: LogEntry[] = [];
  const behind = new Map<string, LogEntry[]>();
  const flying = new Set<string>();
  const queued = new Set<string>();
  const changedLanes = new Map<string, Lane | null>();
  let health = endpointHealth(initial);
  let dirty = false;
  let starts = 0;

  function setLane(filingId: string, lane: Lane | null): void {
    if (lane === null) lanes.delete(filingId);
    else lanes.set(filingId, lane);
    changedLanes.set(filingId, lane);
    dirty = true;
  }

  function park(positions: readonly number[], tried: Omit<Lane, 'positions'>): Lane {
    for (const position of positions) progress.markDone(position);
    return { ...tried, positions };
  }

  function dueLane(now: number): string | null {
    const anyTime = isDown(health);
    for (const [filingId, lane] of lanes) {
      if (!flying.has(filingId) && (anyTime || lane.dueAt <= now)) return filingId;
    }
    return null;
  }

  function startFirstTry(probe: boolean): Work | null {
    const entry = ready.shift();
    if (entry === undefined) return null;
    queued.delete(entry.filingId);
    flying.add(entry.filingId);
    return { position: entry.position, entry, filingId: entry.filingId, attempt: 1, probe };
  }

  function startRetry(now: number, probe: boolean): Work | null {
    const filingId = dueLane(now);
    const lane = filingId === null ? undefined : lanes.get(filingId);
    if (filingId === null || lane === undefined) return null;
    flying.add(filingId);
    // To the end of the lanes, so that probes and retries go round.
    lanes.delete(filingId);
    lanes.set(filingId, lane);
    return { position: lane.positions[0] ?? 0, entry: null, filingId, attempt: lane.tried + 1, probe };
  }

  function afterFailure(
    work: Work,
    entry: LogEntry,
    sent: Sent,
    spends: boolean,
    now: number,
  ): DeadLetter | null {
    const { filingId } = work;
    const followers = behind.get(filingId) ?? [];
    behind.delete(filingId);
    const lane =
      lanes.get(filingId) ??
      park(
        [entry, ...followers].map(({ position }) => position),
        { spent: 0, tried: 0, dueAt: now },
      );
    if (sent.outcome.kind === 'slow_down' || sent.outcome.kind === 'gone') {
      setLane(filingId, { ...lane, tried: work.attempt, dueAt: Math.max(now, health.pausedUntil) });
      return null;
    }
    const failed = laneAfterFailure(lane, spends, now, rules.retryMs, rules.random);
    setLane(filingId, failed.lane);
    return failed.exhausted ? toDeadLetter(entry, work, sent, now) : null;
  }

  function afterDelivery(work: Work, entry: LogEntry, wasDown: boolean, now: number): void {
    const lane = lanes.get(work.filingId);
    if (lane === undefined) progress.markDone(entry.position);
    else setLane(work.filingId, laneAfterHead(lane, now));
    if (wasDown) releaseLanes(now);
  }

  function releaseLanes(now: number): void {
    for (const [filingId, lane] of lanes) setLane(filingId, { ...lane, dueAt: now });
  }

  return {
    take(entry, wanted) {
      dirty = true;
      if (!wanted) return progress.markDone(entry.position);
      const lane = lanes.get(entry.filingId);
      if (lane !== undefined) {
        progress.markDone(entry.position);
        return setLane(entry.filingId, { ...lane, positions: [...lane.positions, entry.position] });
      }
      const queue = behind.get(entry.filingId);
      if (queue !== undefined) queue.push(entry);
      else if (flying.has(entry.filingId) || queued.has(entry.filingId)) behind.set(entry.filingId, [entry]);
      else {
        ready.push(entry);
        queued.add(entry.filingId);
      }
    },
    next(now) {
      const probe = isDown(health);
      if (now < health.pausedUntil || flying.size >= (probe ? 1 : rules.maxInFlight)) return null;
      starts += 1;
      const retryFirst = probe ? health.probes % 2 === 0 : starts % retriesEvery === 0;
      return retryFirst
        ? (startRetry(now, probe) ?? startFirstTry(probe))
        : (startFirstTry(probe) ?? startRetry(now, probe));
    },
    settle(work, entry, sent, now) {
      const before = health;
      const down = isDown(before);
      const attempt = { outcome: sent.outcome, filingId: work.filingId, probe: work.probe };
      health = healthAfter(before, attempt, now, rules.retryMs[0] ?? 0);
      dirty = true;
      if (sent.outcome.kind !== 'delivered')
        return afterFailure(work, entry, sent, !down && !isDown(health), now);
      afterDelivery(work, entry, down, now);
      return null;
    },
    drop(work, now) {
      const lane = lanes.get(work.filingId);
      if (lane !== undefined) setLane(work.filingId, laneAfterHead(lane, now));
    },
    free({ filingId }) {
      flying.delete(filingId);
      const [first, ...rest] = behind.get(filingId) ?? [];
      behind.delete(filingId);
      if (first === undefined) return;
      ready.unshift(first);
      queued.add(filingId);
      if (rest.length > 0) behind.set(filingId, rest);
    },
    release(now) {
      releaseLanes(now);
      health = { ...health, failures: 0, failedFilings: [], failingSince: 0, pausedUntil: 0, probes: 0 };
      dirty = true;
    },
    inFlight: () => flying.size,
    waiting: () => ready.length + [...behind.values()].reduce((sum, queue) => sum + queue.length, 0),
    nextDueAt(now) {
      if (now < health.pausedUntil) return health.pausedUntil;
      let earliest: number | null = ready.length > 0 ? now : null;
      for (const { dueAt } of lanes.values()) earliest = Math.min(earliest ?? dueAt, dueAt);
      return earliest;
    },
    changes() {
      dirty = false;
      const parked = [...lanes.values()].reduce((sum, { positions }) => sum + positions.length, 0);
      const changed = new Map(changedLanes);
      changedLanes.clear();
      return {
        state: { cursor: progress.cursor(), done: progress.done(), parked, ...health },
        lanes: changed,
      };
    },
    dirty: () => dirty,
    failingSince: () => health.failingSince,
  };
}

function toDeadLetter(entry: LogEntry, work: Work, sent: Sent, now: number): DeadLetter {
  return {
    eventId: entry.id,
    eventType: entry.type,
    filingId: entry.filingId,
    position: entry.position,
    attempts: work.attempt,
    lastOutcome: sent.outcome.code,
    at: now,
  };
}
