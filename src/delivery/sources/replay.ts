import type { LogEntry, LogRead } from '../../events/event-log.ts';
import { takeTurns } from '../../json/turns.ts';
import { isAskedFor } from '../replay/replay.ts';
import { createLetters } from '../replay/letters.ts';
import { makeFromLog } from './log.ts';
import type { OpenReplay, ReplaysDeps } from './replays.ts';
import type { ReplayedSource } from './source.ts';

/** The events of the log that one replay sends: another cursor on the log, with an end. */
export function readReplay(deps: ReplaysDeps, { replay, state, lanes, cursor }: OpenReplay): ReplayedSource {
  const { log, account, subscription, wants, isThrough, hasRead, batch, scheduler, now } = deps;
  const { first, last, positions, request } = replay;
  const letters = createLetters(deps, account, subscription, replay);
  const make = makeFromLog(log, account);
  const intake = scheduler.startReplay(replay.id, { cursor, lanes, isBlocked });
  let readTo = Math.max(state.cursor, first - 1);

  // An earlier event of the filing may wait, or is yet to be read: it is sent first.
  function isBlocked(filingId: string, position: number): boolean {
    return !hasRead(position) || scheduler.live.waits(filingId, position);
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
      const { entries, upTo } = await readBatch();
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
      // An event that waited when the replay was begun is sent by it too once it was given up.
      letters.lookAgain();
      return true;
    },
    async make(work) {
      // It goes into its lane, which is started as soon as it is no longer blocked.
      if (isBlocked(work.filingId, work.position)) return { kind: 'waits', until: now() };
      await letters.find();
      const made = await make(work);
      return made.kind === 'made' ? { ...made, letter: letters.at(work.position) } : made;
    },
    progress: () => ({ isRead: cursor.position() >= last }),
  };
}

// The last position read; 0 if all of them have been trimmed since.
function lastOf({ entries, lost = [] }: LogRead): number {
  return Math.max(entries.at(-1)?.position ?? 0, lost.at(-1)?.position ?? 0);
}
