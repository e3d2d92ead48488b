import type { PresentFilings } from '../../filings/present-filings.ts';
import type { EventLog, LogEntry } from '../../events/event-log.ts';
import type { Selectable } from '../../subscriptions/content-filter/selection.ts';
import { createCursor, type Cursor } from '../../subscriptions/cursor.ts';
import type { ReplayRecord } from '../replay/replay.ts';
import type { ReplayStore } from '../replay/replay-store.ts';
import { Lanes } from '../schedule/lanes.ts';
import type { SendScheduler } from '../schedule/scheduler.ts';
import { correctedLane } from '../schedule/stepped-clock.ts';
import type { ReplayChanges } from '../store/settlement-text.ts';
import type { LettersDeps } from '../replay/letters.ts';
import { readReplay } from './replay.ts';
import { readSnapshot } from './snapshot.ts';
import type { ReplayedSource } from './source.ts';

/** A replay with its cursor and lanes, as a queue works on it. */
export interface OpenReplay extends ReplayRecord {
  readonly cursor: Cursor;
  readonly lanes: Lanes;
}

/** Numbers of a replay's events that were delivered or failed for good. */
export interface ReplayCounts {
  readonly delivered: number;
  /** Given up once more. */
  readonly failed: number;
}

/** The replays of a subscription, one after the other. */
export type Replays = ReturnType<typeof createReplays>;

export interface ReplaysDeps extends LettersDeps {
  readonly replays: Pick<ReplayStore, 'load' | 'lanes'>;
  readonly log: EventLog;
  readonly filings: PresentFilings;
  readonly account: string;
  readonly subscription: string;
  /** Whether the subscription asks for the event. */
  readonly wants: (event: Selectable) => boolean;
  /** Whether the subscription no longer waits for an event of the log. */
  readonly isThrough: (entry: LogEntry) => boolean;
  /** Whether all events of the log up to the position were read. */
  readonly hasRead: (position: number) => boolean;
  readonly scheduler: SendScheduler;
  /** Number of entries read at a time. */
  readonly batch: number;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  /** Milliseconds by which Redis's clock was ahead when replays opened from now on were last written. */
  readonly aheadMs: () => number;
}

/** The replay that is worked on, as it was last written. */
interface Current extends OpenReplay {
  readonly id: string;
  readonly source: ReplayedSource;
  state: ReplayRecord['state'];
  written: string;
}

/** There are none at first. */
export function createReplays(deps: ReplaysDeps) {
  const { replays, account, subscription, scheduler, now } = deps;
  let waiting: readonly string[] = [];
  let current: Current | null = null;

  function end(): void {
    current = null;
    scheduler.endReplay();
  }

  async function open(id: string): Promise<Current | null> {
    const [record, stored] = await Promise.all([
      replays.load(account, subscription, id),
      replays.lanes(account, subscription),
    ]);
    if (record === null) return null;
    const lanes = new Lanes(stored, scheduler.releasedAt());
    const aheadMs = deps.aheadMs();
    if (aheadMs > 0) lanes.correct((lane) => correctedLane(lane, aheadMs, now()));
    const { replay, state } = record;
    const opened = { ...record, lanes, cursor: createCursor(state.cursor, state.done) };
    const source = replay.source === 'filings' ? readSnapshot(deps, opened) : readReplay(deps, opened);
    return { id, ...opened, source, written: JSON.stringify(state) };
  }

  return {
    /**
     * The unfinished replays, oldest first. A current replay that is not among them was cancelled: none of
     * its events is started any more. Returns whether one was.
     */
    follow(unfinished: readonly string[]): boolean {
      waiting = unfinished;
      const isCancelled = current !== null && !waiting.includes(current.id);
      if (isCancelled) end();
      return isCancelled;
    },
    /** Whether there is any replay. */
    hasAny: () => waiting.length > 0 || current !== null,
    /** Reads on in the current replay while there is room; true when it took any event. */
    async readOn(): Promise<boolean> {
      const [next] = waiting;
      if (next === undefined || scheduler.isPaused(now())) return false;
      current ??= await open(next);
      return current === null ? false : current.source.read();
    },
    /** The current replay. Null if there is none. */
    current: (): { readonly id: string; readonly source: ReplayedSource } | null => current,
    /** Number of filings that the current replay still has to send. Null unless it is a snapshot. */
    snapshotsLeft: () => current?.source.left?.() ?? null,
    /** The changes of the current replay since the last call, with these counts, to be written. */
    removeChanges(ended: ReplayCounts): ReplayChanges | null {
      if (current === null) return null;
      const { id, cursor, lanes, state, written } = current;
      const { isRead, ...progress } = current.source.progress();
      const finished = isRead && lanes.count() === 0;
      current.state = {
        cursor: cursor.position(),
        done: cursor.done(),
        delivered: state.delivered + ended.delivered,
        failed: state.failed + ended.failed,
        finished,
        ...progress,
      };
      current.written = JSON.stringify(current.state);
      const isNew = current.written !== written;
      return { id, state: isNew ? current.written : null, lanes: lanes.removeChanges(), finished };
    },
    /** The changes that `removeChanges` returned are written; a finished replay makes room for the next. */
    written(changes: ReplayChanges | null): void {
      if (changes?.finished !== true) return;
      waiting = waiting.filter((id) => id !== changes.id);
      end();
    },
    /** Number of lanes of the current replay. */
    lanes: () => current?.lanes.count() ?? 0,
  };
}
