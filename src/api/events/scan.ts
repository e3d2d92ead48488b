import type { EventLog, LogEntry, OutlinedEntry } from '../../events/event-log.ts';
import { type Checkpoint, fitting, logBeginning } from '../../events/timeline.ts';
import {
  beforeSection,
  type SearchedLog,
  type SearchLog,
  type SectionTypes,
  sectionSize,
} from '../../events/search/log-sections.ts';
import { matchesType } from '../../subscriptions/matches-event.ts';

/** A filter on the events of the log; null = all. */
export interface EventFilter {
  readonly types: readonly string[] | null;
  readonly filingId: string | null;
  /** The positions between which they stand: after the first, up to the last. Missing = the whole log. */
  readonly between?: LogStretch;
}

/** A stretch of a log: after one checkpoint, up to another one; null = to its end. */
export interface LogStretch {
  readonly after: Checkpoint;
  readonly upTo: Checkpoint | null;
}

const wholeLog: LogStretch = { after: logBeginning, upTo: null };

/** Events of the log, and the position up to which it was searched. */
export interface EventScan {
  readonly entries: readonly LogEntry[];
  /** The last entry that was examined, or the start of the scan. */
  readonly position: Checkpoint;
  /** Whether the log continues after `position`, in the direction of the scan. */
  readonly more: boolean;
}

/** A log, and what is known of the sections of all logs. */
export interface ScannedLog {
  readonly log: EventLog;
  readonly sections: SearchLog<SectionTypes>;
}

/** The positions to scan, between the two; newest first if `before` is given. */
interface ScannedRange {
  readonly after: Checkpoint;
  readonly before: Checkpoint | null;
  /** The last position that is wanted; Infinity for any. */
  readonly last: number;
}

type OutlineScan = Omit<EventScan, 'entries'> & { readonly found: readonly OutlinedEntry[] };

// Maximum bytes of the bodies of one page.
const pageBytesMax = 8 * 1024 * 1024;

/** Whether an event passes the filter; pure. */
export function matchesFilter(
  { types, filingId }: Pick<EventFilter, 'types' | 'filingId'>,
  entry: Pick<LogEntry, 'type' | 'filingId'>,
): boolean {
  if (filingId !== null && entry.filingId !== filingId) return false;
  return types === null || types.some((pattern) => matchesType(pattern, entry.type));
}

/**
 * Up to `limit` events after a checkpoint, oldest first; null starts with the oldest of all. It returns at
 * most 8 MiB, and a search by type is bounded (`scanTypes`), so it may return fewer events, or none, before
 * the end of the log. If Redis was set back, it starts where the two logs diverge.
 */
export async function scanEvents(
  searched: ScannedLog,
  account: string,
  cursor: Checkpoint | null,
  filter: EventFilter,
  limit: number,
): Promise<EventScan> {
  const { log } = searched;
  const { after, upTo } = filter.between ?? wholeLog;
  const start =
    (cursor?.position ?? 0) === 0 ? logBeginning : await log.commonWith(account, cursor ?? logBeginning);
  const begin = start.position < after.position ? after : start;
  // Read first: what is appended while a filing's events are found stands behind it.
  const head = filter.filingId === null ? null : await log.head(account);
  const range = { after: begin, before: null, last: upTo?.position ?? Infinity };
  const found = await scanRange(searched, account, filter, range, limit);
  if (head === null || found.more) return found;
  const end = upTo !== null && upTo.position < head.position ? upTo : head;
  return end.position < found.position.position ? found : { ...found, position: end };
}

/** As `scanEvents`, but before a checkpoint and newest first; null starts with the newest of all. */
export async function scanNewestEvents(
  searched: ScannedLog,
  account: string,
  cursor: Checkpoint | null,
  filter: EventFilter,
  limit: number,
): Promise<EventScan> {
  const { after, upTo } = filter.between ?? wholeLog;
  const newest = await newestBefore(searched.log, account, cursor);
  const before =
    upTo !== null && upTo.position < newest.position ? { position: upTo.position + 1, timeline: '' } : newest;
  return scanRange(searched, account, filter, { after, before, last: Infinity }, limit);
}

async function scanRange(
  searched: ScannedLog,
  account: string,
  filter: EventFilter,
  range: ScannedRange,
  limit: number,
): Promise<EventScan> {
  const { log } = searched;
  const { types, filingId } = filter;
  const { after, before, last } = range;
  const from = before ?? after;
  const isWithin = (position: number) =>
    position > after.position && position < (before?.position ?? Infinity) && position <= last;
  if (filingId === null && types !== null)
    return load(log, account, fitPage(await scanTypes(searched, account, types, range, limit), limit));
  let outlined: readonly (OutlinedEntry | null)[];
  let more = false;
  if (filingId === null) {
    const read = before === null ? log.outlineAfter : log.outlineBefore;
    outlined = await read(account, from.position, limit + 1);
  } else {
    // A filing's events are found by their positions, without reading the log between them.
    const positions = (await log.positionsOf(account, filingId)).filter(isWithin);
    const inOrder = before === null ? positions : positions.toReversed();
    outlined = await log.outlineAt(account, inOrder.slice(0, limit));
    more = positions.length > limit;
  }
  const found = outlined.filter((entry) => entry !== null).filter(({ position }) => isWithin(position));
  const page = fitPage({ found, position: found.at(-1) ?? from, more }, limit);
  return load(log, account, { ...page, found: page.found.filter((entry) => matchesFilter(filter, entry)) });
}

// After a set-back the last shared entry has not been listed yet; otherwise the entry at the cursor has.
async function newestBefore(log: EventLog, account: string, cursor: Checkpoint | null): Promise<Checkpoint> {
  const newest = cursor === null ? await log.head(account) : await log.commonWith(account, cursor);
  return newest.position === cursor?.position ? cursor : { position: newest.position + 1, timeline: '' };
}

// The events of one page; if some are left over, the next page starts with them.
function fitPage({ found, position, more }: OutlineScan, limit: number): OutlineScan {
  const page = fitting(found.slice(0, limit), pageBytesMax);
  return page.length < found.length
    ? { found: page, position: page.at(-1) ?? position, more: true }
    : { found, position, more };
}

async function load(log: EventLog, account: string, { found, ...rest }: OutlineScan): Promise<EventScan> {
  const entries = await log.load(account, found);
  return { ...rest, entries: entries.filter((entry) => entry !== null) };
}

// Maximum number of events that are read in Redis for one page, besides those of the page.
const readMax = 2_000;

/**
 * Up to `limit` + 1 events of these types (exact, or `prefix.*`) within a range of positions. What is known
 * of the log's sections decides which of them are read, and at most 2 000 events are read: so it may find
 * fewer before the end of the range.
 */
async function scanTypes(
  { log, sections }: ScannedLog,
  account: string,
  patterns: readonly string[],
  { after, before, last: lastWanted }: ScannedRange,
  limit: number,
): Promise<OutlineScan> {
  const searched = await sections(account);
  const [oldest] = await log.outlineAfter(account, after.position, 1);
  const last = Math.min(lastWanted, (before?.position ?? Infinity) - 1, searched.head.position);
  const from = before ?? after;
  if (oldest === undefined || oldest.position > last) return { found: [], position: from, more: false };
  const [first, newestFirst] = [oldest.position, before !== null];
  const range = { first, last, newestFirst };
  const { found, reached } = await findOfTypes(searched, log, account, patterns, range, limit + 1);
  const end = newestFirst ? first : last;
  if (found.length > limit) return { found, position: found[limit - 1] ?? from, more: true };
  if (reached === searched.head.position) return { found, position: searched.head, more: reached !== end };
  const [entry] = await log.outlineAt(account, [reached]);
  return { found, position: { position: reached, timeline: entry?.timeline ?? '' }, more: reached !== end };
}

// The entries of these types, and the last position that was examined.
async function findOfTypes(
  searched: SearchedLog<SectionTypes>,
  log: EventLog,
  account: string,
  patterns: readonly string[],
  { first, last, newestFirst }: { first: number; last: number; newestFirst: boolean },
  count: number,
): Promise<{ found: OutlinedEntry[]; reached: number }> {
  const found: OutlinedEntry[] = [];
  const isWanted = (type: string) => patterns.some((pattern) => matchesType(pattern, type));
  const end = newestFirst ? first : last;
  let reached = newestFirst ? last + 1 : first - 1;
  let read = 0;
  while (reached !== end && read < readMax && found.length < count) {
    const next = newestFirst ? reached - 1 : reached + 1;
    const section = await searched.learn(next);
    const before = beforeSection(next);
    reached = newestFirst ? Math.max(first, before + 1) : Math.min(last, before + sectionSize);
    read += section.read;
    if (!section.types.some(isWanted)) continue;
    const [from, to] = [Math.min(next, reached), Math.max(next, reached)];
    const entries = await log.outlineAfter(account, from - 1, to - from + 1);
    const wanted = entries.filter(({ position, type }) => position <= to && isWanted(type));
    found.push(...(newestFirst ? wanted.toReversed() : wanted));
    read += to - from + 1;
  }
  return { found: found.slice(0, count), reached: found[count - 1]?.position ?? reached };
}
