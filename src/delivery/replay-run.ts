import type { EventLog, LogEntry } from '../events/event-log.ts';
import type { DeliveryTrack } from './delivery-track.ts';
import { createLaneSet, type LaneSet } from './lane-set.ts';
import { createProgress, type Progress } from './progress.ts';
import { isAskedFor, type Replay, type ReplayState } from './replay.ts';

/** One replay within a drain: reads its events from the log and keeps its account. Decides nothing about sending. */
export interface ReplayRun {
  readonly id: string;
  readonly progress: Progress;
  readonly lanes: LaneSet;
  /** Takes in its next entries if `track` has room; true when there were any. */
  read(track: DeliveryTrack): Promise<boolean>;
  /** Counts an event that was delivered, or given up once more. Returns the id of the dead letter that is thereby done with. */
  count(position: number, outcome: 'delivered' | 'failed'): string | null;
  /** To be written. */
  state(): ReplayState;
}

export interface ReplayRunDeps {
  readonly log: EventLog;
  readonly account: string;
  /** Whether the subscription asks for the event, and no longer waits for it anyway. */
  readonly wants: (entry: LogEntry) => boolean;
  /** Entries read at a time. */
  readonly batch: number;
}

/** Takes a replay up where its state left it. */
export function createReplayRun(deps: ReplayRunDeps, replay: Replay, stored: ReplayState): ReplayRun {
  const { first, last, positions, letters } = replay;
  const progress = createProgress(stored.cursor, stored.done);
  const lanes = createLaneSet(new Map(stored.lanes), 0);
  let { delivered, failed } = stored;
  let readTo = Math.max(stored.cursor, first - 1);

  // The next entries, and the position up to which there are no others to deliver: what is between has been trimmed away.
  async function readBatch(): Promise<{ entries: readonly LogEntry[]; upTo: number }> {
    if (positions === null) {
      const after = { position: readTo, timeline: '' };
      const { entries, more } = await deps.log.readAfter(deps.account, after, deps.batch);
      const end = more ? (entries.at(-1)?.position ?? readTo) : last;
      return { entries: entries.filter(({ position }) => position <= last), upTo: Math.min(end, last) };
    }
    const next = positions.filter((position) => position > readTo).slice(0, deps.batch);
    const found = await deps.log.readAt(deps.account, next);
    const end = next.length < deps.batch ? last : (next.at(-1) ?? last);
    return { entries: found.filter((entry) => entry !== null), upTo: end };
  }

  function passOver(to: number): void {
    if (to > readTo) progress.markRange(readTo + 1, to);
    readTo = Math.max(readTo, to);
  }

  return {
    id: replay.id,
    progress,
    lanes,
    async read(track) {
      if (readTo >= last || !track.hasRoom()) return false;
      const { entries, upTo } = await readBatch();
      for (const entry of entries) {
        passOver(entry.position - 1);
        readTo = entry.position;
        if (progress.isDone(entry.position)) continue;
        track.take(entry, isAskedFor(replay.request, entry) && deps.wants(entry));
      }
      passOver(upTo);
      return true;
    },
    count(position, outcome) {
      if (outcome === 'failed') failed += 1;
      else delivered += 1;
      const letter = outcome === 'delivered' ? letters?.[positions?.indexOf(position) ?? -1] : undefined;
      return letter ?? null;
    },
    state: () => ({
      cursor: progress.cursor(),
      done: progress.done(),
      lanes: [...lanes.all()],
      delivered,
      failed,
      finished: progress.cursor() >= last && lanes.all().size === 0,
    }),
  };
}
