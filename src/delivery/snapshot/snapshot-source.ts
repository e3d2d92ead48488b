import { randomBytes } from 'node:crypto';
import type { LogEntry } from '../../events/event-log.ts';
import { snapshotType } from '../../events/event-types.ts';
import type { NewEvent } from '../../events/event.ts';
import { createCursor } from '../../subscriptions/cursor.ts';
import type { Selectable } from '../../subscriptions/content-filter/selection.ts';
import type { Made, OpenReplay, ReplayReader } from '../replay/replay-reader.ts';
import { requestOfAll, type Replay, type ReplayState } from '../replay/replay.ts';
import type { SendScheduler } from '../schedule/scheduler.ts';
import type { Work } from '../schedule/track.ts';

/** A place in a scan of an account's filings, and the server that named it. */
interface ScanPlace {
  readonly at: string;
  readonly server: string;
}

/** The account's filings as they are now. */
export interface FilingsNow {
  scan(
    account: string,
    place: ScanPlace | null,
    count: number,
  ): Promise<{
    /** Without removed ones; the status is empty where it is not known. */
    readonly filings: readonly { readonly id: string; readonly status: string }[];
    /** Number of filings read. */
    readonly read: number;
    /** Null at the end. */
    readonly next: ScanPlace | null;
    /** Whether the scan began anew, because the place meant nothing any more. */
    readonly isAnew: boolean;
  }>;
  /**
   * A filing's snapshot for a subscription, with the position of its last event in the log, both of one
   * moment; null where the filing is gone.
   */
  read(
    account: string,
    subscription: string,
    filingId: string,
  ): Promise<{ readonly event: NewEvent; readonly position: number } | null>;
}

export interface SnapshotDeps {
  readonly account: string;
  readonly subscription: string;
  readonly filings: FilingsNow;
  readonly scheduler: SendScheduler;
  /** Whether the subscription asks for the event. */
  readonly wants: (event: Selectable) => boolean;
  /** The newest position of the log that the drain has read. */
  readonly readTo: () => number;
  /** Number of filings handed to the scheduler at a time. */
  readonly batch: number;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

// Approximate number of filings of one step of the scan; it takes Redis a fraction of a millisecond.
const scannedAtOnce = 200;
// Maximum number of scanned filings that are not done, beyond which none are scanned: one callback may hang.
const aheadMax = 1_000;
// Milliseconds for which a snapshot waits for events of its filing.
const waitMs = 250;

/** A snapshot of an account with `known` filings, to be sent as a replay is. */
export function newSnapshot(known: number, now: number): Replay {
  return {
    id: `rpl_${randomBytes(12).toString('hex')}`,
    source: 'filings',
    request: requestOfAll,
    createdAt: now,
    matched: known,
    // No positions of the log: a process that knows no snapshots finishes it at once.
    first: 1,
    last: 0,
    positions: null,
    letters: null,
  };
}

/**
 * Reads snapshots: each sends the filings of an account as they are, each once, in no order. The positions of
 * its track count the filings. A body is made when its attempt starts, with the filing busy and no event of
 * it waiting, and only once the drain has read all of the filing's events: so it is never older than what was
 * sent before, and what is sent after it is never older than it. A crash repeats what was not yet written as
 * done.
 */
export function createSnapshotReader(deps: SnapshotDeps): (opened: OpenReplay) => ReplayReader {
  return (opened) => readSnapshot(deps, opened);
}

function readSnapshot(deps: SnapshotDeps, { replay, state, lanes }: OpenReplay): ReplayReader {
  const { account, subscription, filings, scheduler, wants, readTo, batch, now } = deps;
  const { id, matched } = replay;
  const cursor = createCursor(state.cursor, state.done);
  const intake = scheduler.startReplay({ cursor, lanes }, (filingId) => scheduler.liveWaits(filingId));
  let { delivered, failed } = state;
  let { next, scanned } = state.snapshot ?? { next: null, scanned: 0 };
  let isScanned = state.snapshot !== undefined && next === null;
  // The ids at the positions behind `before`.
  let ids: readonly string[] = Array.from(state.snapshot?.ids ?? []);
  let before = state.cursor;
  let accepted = before;
  let current: ReplayState = state;
  let written = JSON.stringify(state);

  async function scanOn(): Promise<void> {
    const found = await filings.scan(account, next, scannedAtOnce);
    scanned = found.read + (found.isAnew ? 0 : scanned);
    ({ next } = found);
    isScanned = next === null;
    // A filing that is passed over may enter a status that is asked for; that is an event then.
    const wanted = found.filings.filter(({ status }) => wants({ type: snapshotType, state: '', status }));
    ids = [...ids, ...wanted.map((filing) => filing.id)];
  }

  function acceptSome(): void {
    const end = Math.min(before + ids.length, accepted + batch);
    while (accepted < end) {
      accepted += 1;
      const filingId = ids[accepted - before - 1] ?? '';
      if (!cursor.isDone(accepted)) intake.accept(placeOf(filingId, accepted), true);
    }
  }

  function stateNow(): ReplayState {
    const done = cursor.position();
    ids = ids.slice(done - before).map((each, i) => (cursor.isDone(done + i + 1) ? '' : each));
    before = done;
    const isRead = isScanned && ids.length === 0;
    return {
      cursor: done,
      done: cursor.done(),
      delivered,
      failed,
      finished: isRead && lanes.all().size === 0,
      restsUntil: isRead ? scheduler.replayRestsUntil() : 0,
      releasedAt: scheduler.releasedAt(),
      snapshot: { next, scanned, ids },
    };
  }

  function left(): number {
    const unscanned = isScanned ? 0 : Math.max(0, matched - scanned);
    const scannedLeft = ids.filter((each, i) => each !== '' && !cursor.isDone(before + i + 1));
    return unscanned + scannedLeft.length + lanes.all().size;
  }

  return {
    id,
    async read() {
      if (!intake.hasRoom()) return false;
      if (accepted === before + ids.length) {
        if (isScanned || ids.length >= aheadMax) return false;
        await scanOn();
      }
      acceptSome();
      return true;
    },
    async make({ filingId, position }: Work): Promise<Made> {
      const waits = (): Made => ({ kind: 'waits', until: now() + waitMs });
      if (scheduler.liveWaits(filingId)) return waits();
      const filing = await filings.read(account, subscription, filingId);
      if (filing === null || !wants(filing.event)) return { kind: 'unwanted' };
      // Again, because events may have been read meanwhile.
      if (filing.position > readTo() || scheduler.liveWaits(filingId)) return waits();
      return { kind: 'made', entry: toEntry(filing.event, position, now()) };
    },
    left,
    letterAt: () => null,
    count(ended) {
      delivered += ended.delivered;
      failed += ended.failed;
    },
    removeChanges() {
      current = stateNow();
      const text = JSON.stringify(current);
      const isNew = text !== written;
      written = text;
      return { id, state: isNew ? text : null, lanes: lanes.removeChanges(), finished: current.finished };
    },
    leave: () => ({ replay, state: current, lanes }),
  };
}

// A filing's place in the scheduler, without a body.
function placeOf(filingId: string, position: number): LogEntry {
  const event = { id: '', type: snapshotType, filingId, state: '', status: '', body: '' };
  return toEntry(event, position, 0);
}

function toEntry({ body, ...event }: NewEvent, position: number, recordedAt: number): LogEntry {
  const bytes = Buffer.from(body);
  return { ...event, position, timeline: '', recordedAt, bytes: bytes.length, body: bytes };
}
