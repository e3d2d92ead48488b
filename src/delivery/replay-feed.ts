import type { EventLog, LogEntry } from '../events/event-log.ts';
import type { Settlement } from './delivery-store.ts';
import type { DeliveryTrack } from './delivery-track.ts';
import type { DrainWindow } from './drain-window.ts';
import type { Replay, ReplayState } from './replay.ts';
import { createReplayRun, type ReplayRun } from './replay-run.ts';

/** Brings the events of a subscription's replays into a drain's window, one replay after the other. */
export interface ReplayFeed {
  /** The unfinished replays, oldest first. */
  set(ids: readonly string[]): void;
  /** Reads on in the current replay while the window has room; true when it took anything in. */
  readOn(): Promise<boolean>;
  /** Counts an event's end. Returns the id of the dead letter that a delivery has made up for, or null. */
  count(position: number, outcome: 'delivered' | 'failed'): string | null;
  /** Id of the current replay, or null. */
  current(): string | null;
  /** Where the current replay stands, to be written; null when there is none. */
  state(): Settlement['replay'];
  /** What `state` returned is written: a finished replay makes room for the next one. */
  written(state: Settlement['replay']): void;
}

export interface ReplayFeedDeps {
  readonly load: (id: string) => Promise<{ readonly replay: Replay; readonly state: ReplayState } | null>;
  readonly log: EventLog;
  readonly account: string;
  /** Whether the subscription asks for the event and has been through with it. */
  readonly wants: (entry: LogEntry) => boolean;
  readonly window: DrainWindow;
  /** Entries read at a time. */
  readonly batch: number;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

/** A feed without replays. */
export function createReplayFeed(deps: ReplayFeedDeps): ReplayFeed {
  let waiting: readonly string[] = [];
  let current: { readonly run: ReplayRun; readonly track: DeliveryTrack } | null = null;

  async function begin(): Promise<void> {
    const [id] = waiting;
    const found = id === undefined ? null : await deps.load(id);
    if (found === null) return;
    const run = createReplayRun(deps, found.replay, found.state);
    const track = deps.window.replay(run);
    current = track === null ? null : { run, track };
  }

  return {
    set(ids) {
      waiting = ids;
    },
    async readOn() {
      if (waiting.length === 0 || deps.window.isPaused(deps.now())) return false;
      if (current === null) await begin();
      return current === null ? false : current.run.read(current.track);
    },
    count: (position, outcome) => current?.run.count(position, outcome) ?? null,
    current: () => current?.run.id ?? null,
    state() {
      if (current === null) return null;
      const { finished, ...state } = current.run.state();
      return { id: current.run.id, state: JSON.stringify({ ...state, finished }), finished };
    },
    written(state) {
      if (state?.finished !== true) return;
      waiting = waiting.filter((id) => id !== state.id);
      current = null;
      deps.window.replay(null);
    },
  };
}
