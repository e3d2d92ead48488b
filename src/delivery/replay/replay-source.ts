import type { EventLog, LogEntry } from '../../events/event-log.ts';
import type { ReplayChanges } from '../store/delivery-store.ts';
import type { DeliveryTrack } from '../schedule/track.ts';
import type { DrainWindow } from '../schedule/scheduler.ts';
import { isAtRest, type ReplayState } from './replay.ts';
import { createReplayRun, openReplay, type OpenReplay, type ReplayRun } from './replay-run.ts';
import type { ReplayStore } from './replay-store.ts';
import { correctedLane } from '../schedule/stepped-clock.ts';

/** Brings the events of a subscription's replays into a drain's window, one replay after the other. */
export interface ReplayFeed {
  /** The unfinished replays, oldest first. */
  set(ids: readonly string[]): void;
  /**
   * Redis's clock was ahead by so much (milliseconds) when replays were last written: what is opened from now
   * on was decided by it.
   */
  setBack(aheadMs: number): void;
  /** Reads on in the current replay while the window has room; true when it took anything in. */
  readOn(): Promise<boolean>;
  /** Counts an event's end. Returns the id of the dead letter that a delivery has made up for, or null. */
  count(position: number, outcome: 'delivered' | 'failed'): string | null;
  /** Id of the current replay, or null. */
  current(): string | null;
  /** What changed of the current replay since the last call, to be written; null when there is none. */
  changes(): ReplayChanges | null;
  /** What `changes` returned is written: a finished replay makes room for the next one. */
  written(changes: ReplayChanges | null): void;
  /** The current replay for the next drain, once all of it is written; null when there is none. */
  leave(): OpenReplay | null;
}

export interface ReplayFeedDeps {
  readonly replays: Pick<ReplayStore, 'load' | 'state' | 'lanes'>;
  readonly log: EventLog;
  readonly account: string;
  readonly subscription: string;
  /** Whether the subscription asks for the event and has been through with it. */
  readonly wants: (entry: LogEntry) => boolean;
  readonly window: DrainWindow;
  /** Entries read at a time. */
  readonly batch: number;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

/** A feed without replays; `kept` is what an earlier drain left, if nothing else was written since. */
export function createReplayFeed(deps: ReplayFeedDeps, kept: OpenReplay | null): ReplayFeed {
  const { replays, account, subscription, window, now } = deps;
  let waiting: readonly string[] = [];
  let unused = kept;
  let resting: { readonly id: string; readonly state: ReplayState } | null = null;
  let aheadMs = 0;
  let current: { readonly run: ReplayRun; readonly track: DeliveryTrack } | null = null;

  // A replay whose lanes are all due later is left alone until then: it may have thousands of them.
  async function rests(id: string): Promise<boolean> {
    if (resting?.id !== id) {
      const state = await replays.state(account, subscription, id);
      resting = state === null ? null : { id, state };
    }
    if (resting === null || aheadMs > 0 || !isAtRest(resting.state, window.releasedAt(), now())) return false;
    window.restReplay(resting.state.restsUntil);
    return true;
  }

  async function open(id: string): Promise<OpenReplay | null> {
    if (unused?.replay.id === id) return upToDate(unused, window.releasedAt());
    if (await rests(id)) return null;
    const [record, lanes] = await Promise.all([
      replays.load(account, subscription, id),
      replays.lanes(account, subscription),
    ]);
    return record === null ? null : openReplay(record, lanes, window.releasedAt());
  }

  async function begin(): Promise<void> {
    const [id] = waiting;
    const opened = id === undefined ? null : await open(id);
    unused = null;
    if (opened === null) return;
    if (aheadMs > 0) opened.lanes.correct((lane) => correctedLane(lane, aheadMs, now()));
    const run = createReplayRun(deps, opened);
    const track = window.replay(run);
    current = track === null ? null : { run, track };
  }

  return {
    set(ids) {
      waiting = ids;
    },
    setBack(ms) {
      aheadMs = ms;
    },
    async readOn() {
      if (waiting.length === 0 || window.isPaused(now())) return false;
      if (current === null) await begin();
      return current === null ? false : current.run.read(current.track);
    },
    count: (position, outcome) => current?.run.count(position, outcome) ?? null,
    current: () => current?.run.id ?? null,
    changes: () =>
      current?.run.changes({
        restsUntil: window.replayRestsUntil(),
        releasedAt: window.releasedAt(),
      }) ?? null,
    written(changes) {
      if (changes?.finished !== true) return;
      waiting = waiting.filter((id) => id !== changes.id);
      current = null;
      window.replay(null);
    },
    leave: () => current?.run.leave() ?? unused,
  };
}

// The subscription may have been released since the replay was kept.
function upToDate(kept: OpenReplay, releasedAt: number): OpenReplay {
  return kept.state.releasedAt === releasedAt ? kept : openReplay(kept, kept.lanes.all(), releasedAt);
}
