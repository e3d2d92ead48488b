import type { EventLog } from '../../events/event-log.ts';
import type { LogOutline, OutlinedEntry } from '../../events/event-log.ts';
import type { LogSection, LogSections } from '../../events/search/log-sections.ts';
import { sectionSize } from '../../events/search/log-sections.ts';
import { wantedAmong, type JudgedLog } from '../../subscriptions/content-filter/wanted-entries.ts';
import type { Cursor } from '../../subscriptions/cursor.ts';
import { createEventMatcher, type Matchable } from '../../subscriptions/matches-event.ts';
import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import { isAskedFor, type Replay, type ReplayRequest } from './replay.ts';

/** The part of a replay that its request selects. */
export type Selection = Pick<Replay, 'matched' | 'first' | 'last' | 'positions' | 'letters'>;

/** The selection of a request that selects nothing. */
export const nothing: Selection = { matched: 0, first: 1, last: 0, positions: [], letters: null };

export interface RangeDeps extends JudgedLog {
  readonly log: Pick<EventLog, 'load' | 'outlineAt' | 'outlineAfter'>;
  readonly outline: LogOutline;
  readonly sections: LogSections;
  /** Maximum number of events that are read; see `ReplayerDeps`. */
  readonly countMax: number;
}

/** A subscription with the positions of the log that it has settled. */
export interface SettledRecord extends SubscriptionRecord {
  readonly settled: Pick<Cursor, 'position' | 'last' | 'isDone'>;
}

// Maximum number of events whose bodies are read for a filter: a few seconds. Those behind count as matching.
const judgedMax = 20_000;

/** A stretch of the log with its number of matching events. */
interface Counted {
  readonly matched: number;
  /** First and last position that may match. */
  readonly first: number;
  readonly last: number;
  /** Number of events that were read. */
  readonly read: number;
}

/**
 * Counts the events that a request without a filing selects, section by section. A section of which enough is
 * known is counted without reading it; a section in which nothing can match is passed over.
 */
export async function selectRange(
  deps: RangeDeps,
  { subscription, settled }: SettledRecord,
  request: ReplayRequest,
): Promise<Selection> {
  const { outline, sections } = deps;
  const { account, filter = null } = subscription;
  const countMax = filter === null ? deps.countMax : Math.min(deps.countMax, judgedMax);
  const wants = createEventMatcher(subscription);
  const searched = await sections.search(account);
  const [oldest] = await outline(account, 0, 1);
  const end = settled.last();
  let [matched, first, last, read] = [0, 1, 0, 0];
  for (let position = oldest?.position ?? end + 1; position <= end;) {
    if (read >= countMax) {
      if (matched === 0) first = position;
      matched += end - position + 1;
      last = end;
      break;
    }
    const to = Math.min(end, position - ((position - 1) % sectionSize) + sectionSize - 1);
    const section = await searched.sectionAt(position);
    const isWhole = section !== null && section.first === position && section.last === to;
    const counted =
      (isWhole && to <= settled.position() ? countKinds(section, request, wants, filter === null) : null) ??
      countEntries(
        await entriesOf(deps, subscription, { from: position, to }),
        request,
        (entry) => settled.isDone(entry.position) && wants(entry),
      );
    if (counted.matched > 0) {
      if (matched === 0) ({ first } = counted);
      ({ last } = counted);
    }
    matched += counted.matched;
    read += counted.read + (section?.read ?? 0);
    position = to + 1;
  }
  return matched === 0 ? nothing : { matched, first, last, positions: null, letters: null };
}

// Null where the section has to be read.
function countKinds(
  { kinds, earliest, latest, first, last }: LogSection,
  request: ReplayRequest,
  wants: (event: Matchable) => boolean,
  areEnough: boolean,
): Counted | null {
  const { after, before } = request;
  const isOutside = (after !== null && latest < after) || (before !== null && earliest >= before);
  if (isOutside) return { matched: 0, first, last, read: 0 };
  if (kinds === null) return null;
  const timeless = { ...request, after: null, before: null };
  const matched = kinds
    .filter((kind) => wants(kind) && isAskedFor(timeless, { ...kind, filingId: '', recordedAt: earliest }))
    .reduce((sum, { count }) => sum + count, 0);
  const isInside = (after === null || earliest >= after) && (before === null || latest < before);
  return matched === 0 || (isInside && areEnough) ? { matched, first, last, read: 0 } : null;
}

/** A section of the log. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

// The entries of a section; where the subscription has a filter, only those that pass it.
async function entriesOf(
  deps: RangeDeps,
  subscription: SubscriptionRecord['subscription'],
  { from, to }: Stretch,
): Promise<Stretch & { entries: readonly OutlinedEntry[]; read: number }> {
  const { account, filter = null } = subscription;
  const [after, count] = [from - 1, to - from + 1];
  if (filter === null) {
    const entries = await deps.outline(account, after, count);
    return { from, to, entries, read: entries.length };
  }
  const all = await deps.log.outlineAfter(account, after, count);
  const entries = await wantedAmong(deps, account, subscription, all);
  return { from, to, entries, read: all.length };
}

function countEntries(
  { from, to, entries, read }: Stretch & { entries: readonly OutlinedEntry[]; read: number },
  request: ReplayRequest,
  wants: (entry: OutlinedEntry) => boolean,
): Counted {
  const matching = entries.filter(
    (entry) => entry.position <= to && isAskedFor(request, entry) && wants(entry),
  );
  const first = matching[0]?.position ?? from;
  return { matched: matching.length, first, last: matching.at(-1)?.position ?? to, read };
}
