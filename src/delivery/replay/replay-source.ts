import type { PresentFilings } from '../../filings/present-filings.ts';
import type { EventLog, LogEntry, LogRead } from '../../events/event-log.ts';
import { takeTurns } from '../../json/turns.ts';
import type { Selectable } from '../../subscriptions/content-filter/selection.ts';
import { createCursor, type Cursor } from '../../subscriptions/cursor.ts';
import { createLanes, type Lanes } from '../schedule/lanes.ts';
import type { SendScheduler } from '../schedule/scheduler.ts';
import { correctedLane } from '../schedule/stepped-clock.ts';
import type { Work } from '../schedule/track.ts';
import type { ReplayChanges } from '../store/settlement-text.ts';
import { isAskedFor, type ReplayRecord, type ReplayState } from './replay.ts';
import type { ReplayStore } from './replay-store.ts';
import { findLettersAmong, type LettersDeps } from './select-events.ts';
import { readSnapshot } from './snapshot.ts';

/** A replay with its lanes, as a drain works on it. */
export interface OpenReplay extends ReplayRecord {
  readonly lanes: Lanes;
}

/** Numbers of a replay's events that were delivered or failed for good. */
export interface ReplayCounts {
  readonly delivered: number;
  /** Given up once more. */
  readonly failed: number;
}

/** The event of an attempt that is made when it starts. */
export type Made =
  | { readonly kind: 'made'; readonly entry: LogEntry }
  | { readonly kind: 'unwanted' } // there is nothing to send, or nothing that is asked for
  | { readonly kind: 'waits'; readonly until: number }; // milliseconds on Redis's clock

/** Reads the events of one replay into the scheduler. */
export interface ReplayReader {
  /** Reads on while there is room; true when it accepted any event. */
  read(): Promise<boolean>;
  /** Makes the event of an attempt; null where the log has it. */
  make(work: Work): Promise<Made | null>;
  /** Id of the dead letter that a delivery of the event at `position` makes up for; missing in a snapshot. */
  readonly letterAt?: (position: number) => string | undefined;
  /** Number of filings still to be sent; missing where it sends events of the log. */
  readonly left?: () => number;
  /** What is kept of its reading beside the cursor, and whether all events behind the lanes are done. */
  progress(): Pick<ReplayState, 'snapshot'> & { readonly isRead: boolean };
}

/** Brings the events of a subscription's replays into a drain's scheduler, one replay after the other. */
export interface ReplaySource {
  /**
   * The unfinished replays, oldest first. A current replay that is not among them was cancelled: none of its
   * events is started any more, and the next replay begins once none is in flight. Returns whether one was.
   */
  follow(ids: readonly string[]): boolean;
  /** Whether there is any replay. */
  hasAny(): boolean;
  /** Reads on in the current replay while there is room; true when it accepted any event. */
  readOn(): Promise<boolean>;
  /** The replay that is worked on; null when there is none. */
  current(): { readonly id: string; readonly reader: Pick<ReplayReader, 'make' | 'letterAt'> } | null;
  /** Number of filings that the current replay still has to send; null unless it is a snapshot. */
  snapshotsLeft(): number | null;
  /** The changes of the current replay since the last call, with these counts, to be written. */
  removeChanges(ended: ReplayCounts): ReplayChanges | null;
  /** The changes that `removeChanges` returned are written; a finished replay makes room for the next one. */
  written(changes: ReplayChanges | null): void;
  /** Number of lanes of the current replay. */
  lanes(): number;
}

export interface ReplaySourceDeps extends LettersDeps {
  readonly replays: Pick<ReplayStore, 'load' | 'state' | 'lanes'>;
  readonly log: EventLog;
  readonly filings: PresentFilings;
  readonly account: string;
  readonly subscription: string;
  /** Whether the subscription asks for the event. */
  readonly wants: (event: Selectable) => boolean;
  /** Whether the subscription no longer waits for an event of the log. */
  readonly isThrough: (entry: LogEntry) => boolean;
  /** Whether the drain has read all events of the log up to the position. */
  readonly hasRead: (position: number) => boolean;
  /** The newest position of the log that the drain has read. */
  readonly readTo: () => number;
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
  readonly cursor: Cursor;
  readonly reader: ReplayReader;
  state: ReplayState;
  written: string;
}

/** The source of these unfinished replays. */
export function createReplaySource(deps: ReplaySourceDeps, ids: readonly string[]): ReplaySource {
  const { replays, account, subscription, scheduler, now } = deps;
  let waiting = ids;
  let resting: { readonly id: string; readonly state: ReplayState } | null = null;
  let current: Current | null = null;
  let isCancelled = false;

  function end(): void {
    current = null;
    isCancelled = false;
    scheduler.endReplay();
  }

  // A replay whose lanes are all due later is left alone until then: it may have thousands of them.
  async function rests(id: string): Promise<boolean> {
    if (resting?.id !== id) {
      const state = await replays.state(account, subscription, id);
      resting = state === null ? null : { id, state };
    }
    if (resting === null || deps.aheadMs() > 0) return false;
    const { restsUntil, releasedAt } = resting.state;
    if (now() >= restsUntil || releasedAt !== scheduler.releasedAt()) return false;
    scheduler.restReplay(restsUntil);
    return true;
  }

  async function open(id: string): Promise<OpenReplay | null> {
    if (await rests(id)) return null;
    const [record, lanes] = await Promise.all([
      replays.load(account, subscription, id),
      replays.lanes(account, subscription),
    ]);
    return record === null ? null : { ...record, lanes: createLanes(lanes, scheduler.releasedAt()) };
  }

  async function begin(id: string): Promise<void> {
    const opened = await open(id);
    if (opened === null) return;
    const { replay, state, lanes } = opened;
    const aheadMs = deps.aheadMs();
    if (aheadMs > 0) lanes.correct((lane) => correctedLane(lane, aheadMs, now()));
    const cursor = createCursor(state.cursor, state.done);
    const reading = { ...opened, cursor };
    const reader =
      replay.source === 'filings' ? readSnapshot(deps, reading) : await readEvents(deps, reading);
    current = { id, ...reading, reader, written: JSON.stringify(state) };
  }

  return {
    follow(unfinished) {
      waiting = unfinished;
      const isGone = (id: string | undefined) => id !== undefined && !waiting.includes(id);
      const rested = isGone(resting?.id);
      if (rested) {
        resting = null;
        if (current === null) scheduler.endReplay();
      }
      isCancelled = isGone(current?.id);
      if (isCancelled) scheduler.cancelReplay();
      return isCancelled || rested;
    },
    hasAny: () => waiting.length > 0 || current !== null,
    async readOn() {
      if (isCancelled) {
        if (scheduler.hasReplayInFlight()) return false;
        end();
      }
      const [next] = waiting;
      if (next === undefined || scheduler.isPaused(now())) return false;
      if (current === null) await begin(next);
      return current === null ? false : current.reader.read();
    },
    current: () => current,
    snapshotsLeft: () => (current === null || isCancelled ? null : (current.reader.left?.() ?? null)),
    removeChanges(ended) {
      if (current === null || isCancelled) return null;
      const { id, cursor, lanes, state, written } = current;
      const { isRead, ...progress } = current.reader.progress();
      const finished = isRead && lanes.all().size === 0;
      current.state = {
        cursor: cursor.position(),
        done: cursor.done(),
        delivered: state.delivered + ended.delivered,
        failed: state.failed + ended.failed,
        finished,
        restsUntil: isRead ? scheduler.replayRestsUntil() : 0,
        releasedAt: scheduler.releasedAt(),
        ...progress,
      };
      current.written = JSON.stringify(current.state);
      const isNew = current.written !== written;
      return { id, state: isNew ? current.written : null, lanes: lanes.removeChanges(), finished };
    },
    written(changes) {
      if (changes?.finished !== true) return;
      waiting = waiting.filter((id) => id !== changes.id);
      end();
    },
    lanes: () => current?.lanes.all().size ?? 0,
  };
}

// Reads the events of the log that one replay sends.
async function readEvents(
  deps: ReplaySourceDeps,
  { replay, state, lanes, cursor }: OpenReplay & { readonly cursor: Cursor },
): Promise<ReplayReader> {
  const { log, account, subscription, wants, isThrough, hasRead, batch, scheduler, now } = deps;
  const { first, last, positions, request } = replay;
  const letters = new Map<number, string>();
  let newestLetter = replay.letters?.newest;
  addLetters(replay.letters?.positions ?? positions ?? [], replay.letters?.ids ?? []);
  await findNewLetters();
  const intake = scheduler.startReplay({ cursor, lanes }, isBlocked);
  let readTo = Math.max(state.cursor, first - 1);

  function addLetters(at: readonly number[], ids: readonly string[]): void {
    for (const [i, id] of ids.entries()) letters.set(at[i] ?? 0, id);
  }

  // An event that waited when the replay was begun is sent by it too once it was given up.
  async function findNewLetters(): Promise<void> {
    if (newestLetter === undefined) return;
    // Letters of other events do no harm.
    const range = { first, last, positions: null };
    const found = await findLettersAmong(deps, account, subscription, range, newestLetter);
    if (found === null) return;
    addLetters(found.positions, found.ids);
    newestLetter = found.newest;
  }

  // An earlier event of the filing may wait, or is yet to be read: it is sent first.
  function isBlocked(filingId: string, position: number): boolean {
    return !hasRead(position) || scheduler.liveWaits(filingId, position);
  }

  // The next entries, and the position up to which no others are to be delivered: those between were trimmed,
  // or their bodies are lost.
  async function readBatch(): Promise<{ entries: readonly LogEntry[]; upTo: number }> {
    if (positions === null) {
      const read = await log.readAfter(account, { position: readTo, timeline: '' }, batch);
      const end = read.more ? lastOf(read) : last;
      return { entries: read.entries.filter(({ position }) => position <= last), upTo: Math.min(end, last) };
    }
    const start = positions.findIndex((position) => position > readTo);
    const next = start < 0 ? [] : positions.slice(start, start + batch);
    const read = await log.readAt(account, next);
    const end = next.length < batch ? last : (next.at(-1) ?? last);
    return { entries: read.entries, upTo: read.more ? lastOf(read) : end };
  }

  function passOver(to: number): void {
    if (to > readTo) cursor.markRange(readTo + 1, to);
    readTo = Math.max(readTo, to);
  }

  return {
    async read(): Promise<boolean> {
      if (readTo >= last || !intake.hasRoom()) return false;
      const [{ entries, upTo }] = await Promise.all([readBatch(), findNewLetters()]);
      const turns = takeTurns();
      for (const entry of entries) {
        // A filter may take milliseconds.
        if (turns.isOver()) await turns.next();
        passOver(entry.position - 1);
        readTo = entry.position;
        if (!cursor.isDone(entry.position))
          intake.accept(entry, isAskedFor(request, entry) && wants(entry) && isThrough(entry));
      }
      passOver(upTo);
      return true;
    },
    // It goes into its lane, which is started as soon as it is no longer blocked.
    make: ({ filingId, position }) =>
      Promise.resolve(isBlocked(filingId, position) ? { kind: 'waits', until: now() } : null),
    letterAt: (position) => letters.get(position),
    progress: () => ({ isRead: cursor.position() >= last }),
  };
}

// The last position that was read; 0 where all of them were trimmed meanwhile.
function lastOf({ entries, lost = [] }: LogRead): number {
  return Math.max(entries.at(-1)?.position ?? 0, lost.at(-1)?.position ?? 0);
}
