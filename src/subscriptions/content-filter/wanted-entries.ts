import type { EventLog, OutlinedEntry } from '../../events/event-log.ts';
import { fitting } from '../../events/timeline.ts';
import { takeTurns } from '../../json/turns.ts';
import { matchesEvent } from '../matches-event.ts';
import type { FilterJudge } from './judge.ts';
import { choose, type Choice, type Selecting } from './selection.ts';

/** The log whose bodies filters are asked about. */
export interface JudgedLog {
  readonly log: Pick<EventLog, 'load'>;
  readonly judge: FilterJudge;
}

// Maximum bytes of bodies that are read at a time.
const bytesAtOnce = 512 * 1024;

/**
 * The choice among those of these entries that match by type, state and status, in their order. Bodies are
 * read only for a filter, half a megabyte at a time; other work has its turn after every few that a filter
 * judges. An entry whose body is gone counts as wanted.
 */
export async function* chooseAmong<Entry extends OutlinedEntry>(
  { log, judge }: JudgedLog,
  account: string,
  selecting: Selecting,
  entries: readonly Entry[],
): AsyncGenerator<[entry: Entry, choice: Choice]> {
  const turns = takeTurns();
  for (let rest = entries.filter((entry) => matchesEvent(selecting, entry)); rest.length > 0;) {
    const some = fitting(rest, bytesAtOnce);
    rest = rest.slice(some.length);
    const bodies = selecting.filter == null ? [] : await log.load(account, some);
    for (const [i, entry] of some.entries()) {
      if (turns.isOver()) await turns.next();
      yield [entry, choose(judge, selecting, bodies[i] ?? entry)];
    }
  }
}

/** Those of these entries that a subscription gets, in their order, as `chooseAmong`. */
export async function wantedAmong<Entry extends OutlinedEntry>(
  judged: JudgedLog,
  account: string,
  selecting: Selecting,
  entries: readonly Entry[],
): Promise<Entry[]> {
  const wanted: Entry[] = [];
  for await (const [entry, choice] of chooseAmong(judged, account, selecting, entries))
    if (choice !== 'unwanted') wanted.push(entry);
  return wanted;
}
