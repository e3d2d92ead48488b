import type { LogEntry } from '../../events/event-log.ts';
import { snapshotType } from '../../events/event-types.ts';
import type { Work } from '../schedule/track.ts';
import type { OpenReplay, ReplaysDeps } from './replays.ts';
import { toEntry, type Made, type ReplayedSource } from './source.ts';

// Approximate number of filings of one step of the scan; it takes Redis a fraction of a millisecond.
const scannedAtOnce = 200;
// Maximum number of scanned filings that are not done, beyond which none are scanned: one callback may hang.
const aheadMax = 1_000;
// Milliseconds for which a snapshot waits for events of its filing.
const waitMs = 250;

/**
 * Reads a snapshot: it sends the filings of an account as they are, or one of them, each once, in no order.
 * The positions of its track count the filings. A body is made when its attempt starts, with the filing busy
 * and no event of it waiting, and only once the drain has read all of the filing's events: so it is never
 * older than what was sent before, and what is sent after it is never older than it. A crash repeats what was
 * not yet written as done.
 */
export function readSnapshot(
  deps: ReplaysDeps,
  { replay, state, lanes, cursor }: OpenReplay,
): ReplayedSource {
  const { account, subscription, filings, scheduler, wants, hasRead, batch, now } = deps;
  const intake = scheduler.startReplay(replay.id, {
    cursor,
    lanes,
    isBlocked: (filingId) => scheduler.live.waits(filingId),
  });
  let { next, scanned } = state.snapshot ?? { next: null, scanned: 0 };
  let isScanned = state.snapshot !== undefined && next === null;
  // The ids at the positions behind `before`.
  let ids: readonly string[] = Array.from(state.snapshot?.ids ?? []);
  let before = state.cursor;
  let accepted = before;

  const only = replay.request.filingId;

  async function scanOn(): Promise<void> {
    if (only !== null) {
      [next, scanned, isScanned, ids] = [null, 1, true, [...ids, only]];
      return;
    }
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

  const ofPosition = (i: number) => before + i + 1;

  return {
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
      if (scheduler.live.waits(filingId)) return waits();
      const filing = await filings.read(account, subscription, filingId);
      if (filing === null) return { kind: 'unwanted' };
      const entry = toEntry(filing.event, position, now());
      if (only === null && !wants(entry)) return { kind: 'unwanted' };
      // Again, because events may have been read meanwhile.
      if (!hasRead(filing.position) || scheduler.live.waits(filingId)) return waits();
      return { kind: 'made', entry, isChosen: only !== null };
    },
    left() {
      const unscanned = isScanned ? 0 : Math.max(0, replay.matched - scanned);
      const scannedLeft = ids.filter((each, i) => each !== '' && !cursor.isDone(ofPosition(i)));
      return unscanned + scannedLeft.length + lanes.count();
    },
    progress() {
      const done = cursor.position();
      ids = ids.map((each, i) => (cursor.isDone(ofPosition(i)) ? '' : each)).slice(done - before);
      before = done;
      return { isRead: isScanned && ids.length === 0, snapshot: { next, scanned, ids } };
    },
  };
}

// A filing's place in the scheduler, without a body.
function placeOf(filingId: string, position: number): LogEntry {
  const event = { id: '', type: snapshotType, filingId, state: '', status: '', body: '' };
  return toEntry(event, position, 0);
}
