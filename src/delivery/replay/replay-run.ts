import type { EventLog, LogEntry } from '../../events/event-log.ts';
import type { ReplayChanges } from '../store/delivery-store.ts';
import type { DeliveryTrack } from '../schedule/track.ts';
import { createLaneSet, type LaneSet } from '../schedule/lane-set.ts';
import type { Lane } from '../schedule/lanes.ts';
import { createCursor, type Cursor } from '../../subscriptions/cursor.ts';
import { isAskedFor, type ReplayState } from './replay.ts';
import type { ReplayRecord, StoredReplayState } from './replay-store.ts';

/** A replay with its lanes, as a drain works on it. */
export interface OpenReplay extends ReplayRecord {
  readonly lanes: LaneSet;
}

/**
 * One replay within a drain: reads its events from the log and keeps its account. Decides nothing about
 * sending.
 */
export interface ReplayRun {
  readonly id: string;
  readonly cursor: Cursor;
  readonly lanes: LaneSet;
  /** Takes in its next entries if `track` has room; true when there were any. */
  read(track: DeliveryTrack): Promise<boolean>;
  /**
   * Counts an event that was delivered, or given up once more. Returns the id of the dead letter that is
   * thereby done with.
   */
  count(position: number, outcome: 'delivered' | 'failed'): string | null;
  /**
   * What changed since the last call, to be written. `rest` is until when its lanes have nothing to do, see
   * `ReplayState`.
   */
  changes(rest: Rest): ReplayChanges;
  /**
   * The replay as it stands, for a later drain, once everything is written; null while its lanes are stored
   * in the former way.
   */
  leave(): OpenReplay | null;
}

/** Until when nothing is to be done, if there is no release after `releasedAt`. */
type Rest = Pick<ReplayState, 'restsUntil' | 'releasedAt'>;

export interface ReplayRunDeps {
  readonly log: EventLog;
  readonly account: string;
  /** Whether the subscription asks for the event, and no longer waits for it anyway. */
  readonly wants: (entry: LogEntry) => boolean;
  /** Entries read at a time. */
  readonly batch: number;
}

/** Puts a replay together from what is stored; `releasedAt` is when its subscription was last released. */
export function openReplay(
  record: ReplayRecord,
  lanes: ReadonlyMap<string, Lane>,
  releasedAt: number,
): OpenReplay {
  const set = createLaneSet(lanes, releasedAt);
  // Put one by one they count as changed, so that they move to where they are kept now.
  for (const [filingId, lane] of record.state.lanes ?? []) set.put(filingId, lane);
  return { ...record, lanes: set };
}

/** Takes a replay up where its state left it. */
export function createReplayRun(deps: ReplayRunDeps, { replay, state, lanes }: OpenReplay): ReplayRun {
  const { id, first, last, positions, letters } = replay;
  const cursor = createCursor(state.cursor, state.done);
  let { delivered, failed } = state;
  let readTo = Math.max(state.cursor, first - 1);
  let current: StoredReplayState = state;
  let written = JSON.stringify(state);

  // The next entries, and the position up to which there are no others to deliver: what is between has been
  // trimmed away.
  async function readBatch(): Promise<{ entries: readonly LogEntry[]; upTo: number }> {
    if (positions === null) {
      const after = { position: readTo, timeline: '' };
      const { entries, more } = await deps.log.readAfter(deps.account, after, deps.batch);
      const end = more ? (entries.at(-1)?.position ?? readTo) : last;
      return { entries: entries.filter(({ position }) => position <= last), upTo: Math.min(end, last) };
    }
    const start = indexOfFirst(positions, readTo + 1);
    const next = positions.slice(start, start + deps.batch);
    const { entries, more } = await deps.log.readAt(deps.account, next);
    if (more) return { entries, upTo: entries.at(-1)?.position ?? readTo };
    return { entries, upTo: next.length < deps.batch ? last : (next.at(-1) ?? last) };
  }

  function passOver(to: number): void {
    if (to > readTo) cursor.markRange(readTo + 1, to);
    readTo = Math.max(readTo, to);
  }

  function stateNow(rest: Rest): ReplayState {
    const isRead = cursor.position() >= last;
    return {
      cursor: cursor.position(),
      done: cursor.done(),
      delivered,
      failed,
      finished: isRead && lanes.all().size === 0,
      restsUntil: isRead ? rest.restsUntil : 0,
      releasedAt: rest.releasedAt,
    };
  }

  return {
    id,
    cursor,
    lanes,
    async read(track) {
      if (readTo >= last || !track.hasRoom()) return false;
      const { entries, upTo } = await readBatch();
      for (const entry of entries) {
        passOver(entry.position - 1);
        readTo = entry.position;
        if (cursor.isDone(entry.position)) continue;
        track.take(entry, isAskedFor(replay.request, entry) && deps.wants(entry));
      }
      passOver(upTo);
      return true;
    },
    count(position, outcome) {
      if (outcome === 'failed') failed += 1;
      else delivered += 1;
      if (outcome === 'failed' || positions === null) return null;
      return letters?.[indexOfFirst(positions, position)] ?? null;
    },
    changes(rest) {
      current = stateNow(rest);
      const text = JSON.stringify(current);
      const isNew = text !== written;
      written = text;
      return { id, state: isNew ? text : null, lanes: lanes.changes(), finished: current.finished };
    },
    leave: () => (current.lanes === undefined ? { replay, state: current, lanes } : null),
  };
}

// Index of the first of these positions, which are in order, that is at `position` or later.
function indexOfFirst(positions: readonly number[], position: number): number {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((positions[middle] ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}
