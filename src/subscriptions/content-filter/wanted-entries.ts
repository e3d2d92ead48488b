import type { EventLog, OutlinedEntry } from '../../events/event-log.ts';
import { fitting } from '../../events/timeline.ts';
import { takeTurns } from '../../json/turns.ts';
import { matchesEvent } from '../matches-event.ts';
import type { FilterJudge } from './judge.ts';
import { choose, type Selecting } from './selection.ts';

/** The log whose bodies filters are asked about. */
export interface JudgedLog {
  readonly log: Pick<EventLog, 'load' | 'outlineAt'>;
  readonly judge: FilterJudge;
}

// Maximum bytes of bodies that are read at a time.
const bytesAtOnce = 512 * 1024;

/**
 * Those of these entries that a subscription gets, in their order. Bodies are read only where it has a
 * filter, half a megabyte at a time. An entry whose body is gone counts as wanted.
 */
export async function wantedAmong<Entry extends OutlinedEntry>(
  { log, judge }: JudgedLog,
  account: string,
  selecting: Selecting,
  entries: readonly Entry[],
): Promise<Entry[]> {
  const open = entries.filter((entry) => matchesEvent(selecting, entry));
  if (selecting.filter == null) return open;
  const wanted: Entry[] = [];
  const turns = takeTurns();
  for (let rest: readonly Entry[] = open; rest.length > 0;) {
    const some = fitting(rest, bytesAtOnce);
    rest = rest.slice(some.length);
    const bodies = await log.load(account, some);
    for (const [i, entry] of some.entries()) {
      if (turns.isOver()) await turns.next();
      if (choose(judge, selecting, bodies[i] ?? entry) !== 'unwanted') wanted.push(entry);
    }
  }
  return wanted;
}

/** Maximum number of events whose bodies are read to count them. */
export const countedMax = 100;

/**
 * Number of the events at these positions that a subscription with a filter gets; all of more than a hundred.
 */
export async function countWanted(
  judged: JudgedLog,
  account: string,
  selecting: Selecting,
  positions: readonly number[],
): Promise<number> {
  if (selecting.filter == null || positions.length > countedMax) return positions.length;
  const entries = (await judged.log.outlineAt(account, positions)).filter((entry) => entry !== null);
  const wanted = await wantedAmong(judged, account, selecting, entries);
  // An event that was trimmed meanwhile was not delivered either.
  return positions.length - entries.length + wanted.length;
}
