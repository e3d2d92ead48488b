import type { EventLog, LogEntry, LogRead } from '../../events/event-log.ts';
import { takeTurns } from '../../json/turns.ts';
import { createCursor } from '../../subscriptions/cursor.ts';
import { createLanes, type Lane } from '../schedule/lanes.ts';
import type { SendScheduler } from '../schedule/scheduler.ts';
import { correctedLane } from '../schedule/stepped-clock.ts';
import type { Work } from '../schedule/track.ts';
import type { ReplayChanges } from '../store/settle-arguments.ts';
import { findLettersAmong, type LettersDeps } from './find-letters.ts';
import { isAskedFor, isAtRest, type LettersAmong, type Replay, type ReplayState } from './replay.ts';
import type { Made, OpenReplay, ReplayCounts, ReplayReader } from './replay-reader.ts';
import type { ReplayRecord, ReplayStore } from './replay-store.ts';

/** Brings the events of a subscription's replays into a drain's scheduler, one replay after the other. */
export interface ReplaySource {
  /**
   * The unfinished replays, oldest first. A current replay that is not among them was cancelled: none of its
   * events is started any more, and the next replay begins once none is in flight. Returns whether one was.
   */
  set(ids: readonly string[]): boolean;
  /**
   * Takes note that Redis's clock was ahead by `aheadMs` when replays opened from now on were last written.
   */
  setBack(aheadMs: number): void;
  /** Reads on in the current replay while there is room; true when it accepted any event. */
  readOn(): Promise<boolean>;
  /** Id of the current replay, or null. */
  current(): string | null;
  /** Makes the event of a replayed attempt; null where the log has it. */
  make(work: Work): Promise<Made | null>;
  /** Number of filings that the current replay still has to send; null unless it is a snapshot. */
  snapshotsLeft(): number | null;
  /** Id of the dead letter that a delivery of the event at `position` makes up for, or null. */
  letterAt(position: number): string | null;
  /** Counts events of the current replay that were delivered or failed for good. */
  count(ended: ReplayCounts): void;
  /** The changes of the current replay since the last call, to be written; null when there is none. */
  removeChanges(): ReplayChanges | null;
  /** The changes that `removeChanges` returned are written; a finished replay makes room for the next one. */
  written(changes: ReplayChanges | null): void;
  /** The current replay for the next drain, once all of it is written; null when there is none. */
  leave(): OpenReplay | null;
}

export interface ReplaySourceDeps extends LettersDeps {
  readonly replays: Pick<ReplayStore, 'load' | 'state' | 'lanes'>;
  readonly log: EventLog;
  readonly account: string;
  readonly subscription: string;
  /** Whether the subscription asks for the event and no longer waits for it anyway. */
  readonly wants: (entry: LogEntry) => boolean;
  /** Whether the drain has read all events of the log up to the position. */
  readonly hasRead: (position: number) => boolean;
  readonly scheduler: SendScheduler;
  /** Begins to read a snapshot. */
  readonly readSnapshot: (opened: OpenReplay) => ReplayReader;
  /** Number of entries read at a time. */
  readonly batch: number;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

/**
 * The source of these unfinished replays; `kept` is the replay that an earlier drain left, if still current.
 */
export function createReplaySource(
  deps: ReplaySourceDeps,
  ids: readonly string[],
  kept: OpenReplay | null,
): ReplaySource {
  const { replays, account, subscription, scheduler, now } = deps;
  let waiting = ids;
  let unused = kept;
  let resting: { readonly id: string; readonly state: ReplayState } | null = null;
  let aheadMs = 0;
  let current: ReplayReader | null = null;
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
    if (resting === null || aheadMs > 0) return false;
    if (!isAtRest(resting.state, scheduler.releasedAt(), now())) return false;
    scheduler.restReplay(resting.state.restsUntil);
    return true;
  }

  async function open(id: string): Promise<OpenReplay | null> {
    if (unused?.replay.id === id) return upToDate(unused, scheduler.releasedAt());
    if (await rests(id)) return null;
    const [record, lanes] = await Promise.all([
      replays.load(account, subscription, id),
      replays.lanes(account, subscription),
    ]);
    return record === null ? null : openReplay(record, lanes, scheduler.releasedAt());
  }

  async function begin(): Promise<void> {
    const [id] = waiting;
    const opened = id === undefined ? null : await open(id);
    unused = null;
    if (opened === null) return;
    if (aheadMs > 0) opened.lanes.correct((lane) => correctedLane(lane, aheadMs, now()));
    current = opened.replay.source === 'filings' ? deps.readSnapshot(opened) : await readReplay(deps, opened);
  }

  return {
    set(unfinished) {
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
    setBack(ms) {
      aheadMs = ms;
    },
    async readOn() {
      if (isCancelled) {
        if (scheduler.hasReplayInFlight()) return false;
        end();
      }
      if (waiting.length === 0 || scheduler.isPaused(now())) return false;
      if (current === null) await begin();
      return current === null ? false : current.read();
    },
    current: () => current?.id ?? null,
    make: async (work) => (await current?.make(work)) ?? null,
    snapshotsLeft: () => (isCancelled ? null : (current?.left?.() ?? null)),
    letterAt: (position) => current?.letterAt(position) ?? null,
    count: (ended) => current?.count(ended),
    removeChanges: () => (isCancelled ? null : (current?.removeChanges() ?? null)),
    written(changes) {
      if (changes?.finished !== true) return;
      waiting = waiting.filter((id) => id !== changes.id);
      end();
    },
    leave: () => (current === null ? unused : isCancelled ? null : current.leave()),
  };
}

// Everything may have been made due at once since the replay was kept.
function upToDate(kept: OpenReplay, releasedAt: number): OpenReplay {
  return kept.state.releasedAt === releasedAt ? kept : openReplay(kept, kept.lanes.all(), releasedAt);
}

function openReplay(record: ReplayRecord, stored: ReadonlyMap<string, Lane>, releasedAt: number): OpenReplay {
  const lanes = createLanes(stored, releasedAt);
  return { ...record, lanes };
}

// Begins to send one replay from where its state left it.
async function readReplay(
  deps: ReplaySourceDeps,
  { replay, state, lanes }: OpenReplay,
): Promise<ReplayReader> {
  const { log, account, subscription, wants, hasRead, batch, scheduler, now } = deps;
  const { id, first, last, positions } = replay;
  const letters = byPosition(lettersOf(replay));
  let newestLetter = replay.lettersAmong?.newest;
  await findNewLetters();
  const cursor = createCursor(state.cursor, state.done);
  const intake = scheduler.startReplay({ cursor, lanes }, isBlocked);
  let { delivered, failed } = state;
  let readTo = Math.max(state.cursor, first - 1);
  let current: ReplayState = state;
  let written = JSON.stringify(state);

  // An event that waited when the replay was begun is sent by it too once it was given up.
  async function findNewLetters(): Promise<void> {
    if (newestLetter === undefined) return;
    // Letters of other events do no harm.
    const range = { ...replay, positions: null };
    const found = await findLettersAmong(deps, account, subscription, range, newestLetter);
    if (found === null) return;
    for (const [position, letter] of byPosition(found)) letters.set(position, letter);
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
      const { entries } = read;
      const end = read.more ? Math.max(readTo, lastOf(read)) : last;
      return { entries: entries.filter(({ position }) => position <= last), upTo: Math.min(end, last) };
    }
    const start = indexOfFirst(positions, readTo + 1);
    const next = positions.slice(start, start + batch);
    const read = await log.readAt(account, next);
    const { entries } = read;
    if (read.more) return { entries, upTo: Math.max(readTo, lastOf(read)) };
    return { entries, upTo: next.length < batch ? last : (next.at(-1) ?? last) };
  }

  function passOver(to: number): void {
    if (to > readTo) cursor.markRange(readTo + 1, to);
    readTo = Math.max(readTo, to);
  }

  function stateNow(): ReplayState {
    const isRead = cursor.position() >= last;
    return {
      cursor: cursor.position(),
      done: cursor.done(),
      delivered,
      failed,
      finished: isRead && lanes.all().size === 0,
      restsUntil: isRead ? scheduler.replayRestsUntil() : 0,
      releasedAt: scheduler.releasedAt(),
    };
  }

  return {
    id,
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
          intake.accept(entry, isAskedFor(replay.request, entry) && wants(entry));
      }
      passOver(upTo);
      return true;
    },
    // It goes into its lane, which is started as soon as it is no longer blocked.
    make: ({ filingId, position }) =>
      Promise.resolve(isBlocked(filingId, position) ? { kind: 'waits', until: now() } : null),
    letterAt: (position) => letters.get(position) ?? null,
    count(ended: ReplayCounts): void {
      delivered += ended.delivered;
      failed += ended.failed;
    },
    removeChanges(): ReplayChanges {
      current = stateNow();
      const text = JSON.stringify(current);
      const isNew = text !== written;
      written = text;
      return { id, state: isNew ? text : null, lanes: lanes.removeChanges(), finished: current.finished };
    },
    leave: () => ({ replay, state: current, lanes }),
  };
}

// The last position that was read; 0 where all of them were trimmed meanwhile.
function lastOf({ entries, lost = [] }: LogRead): number {
  return Math.max(entries.at(-1)?.position ?? 0, lost.at(-1)?.position ?? 0);
}

// Those known when the replay was begun.
function lettersOf({ positions, letters, lettersAmong }: Replay): LettersAmong {
  if (letters !== null && positions !== null) return { positions, letters };
  return lettersAmong ?? { positions: [], letters: [] };
}

function byPosition({ positions, letters }: LettersAmong): Map<number, string> {
  return new Map(positions.map((position, i) => [position, letters[i] ?? '']));
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
