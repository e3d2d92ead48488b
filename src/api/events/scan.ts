import type { EventLog, LogEntry, OutlinedEntry } from '../../events/event-log.ts';
import { type Checkpoint, fitting, logBeginning } from '../../events/timeline.ts';
import {
  type LogSection,
  type LogSections,
  type SearchedLog,
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
  /** The last entry that was examined, or where the scan began. */
  readonly position: Checkpoint;
  /** Whether the log continues after `position`, in the direction of the scan. */
  readonly more: boolean;
  /** Number of events that were read for it, those that did not pass the filter included. */
  readonly read: number;
}

/** A log, and what is known of the sections of all logs. */
export interface ScannedLog {
  readonly log: EventLog;
  readonly sections: LogSections;
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
 * Up to `limit` events after a checkpoint, oldest first. It returns at most 8 MiB, and a search by type is
 * bounded (`scanTypes`), so it may return fewer events, or none, before the end of the log. After Redis was
 * set back it starts where the two logs diverge.
 */
export async function scanEvents(
  { log, sections }: ScannedLog,
  account: string,
  cursor: Checkpoint,
  filter: EventFilter,
  limit: number,
): Promise<EventScan> {
  const start = cursor.position === 0 ? cursor : await log.commonWith(account, cursor);
  const { filingId, types, between = wholeLog } = filter;
  const after = start.position < between.after.position ? between.after : start;
  const last = between.upTo?.position ?? Infinity;
  if (filingId === null && types !== null) {
    const range = { patterns: types, after, before: null, last };
    return load(log, account, fitPage(await scanTypes({ log, sections }, account, range, limit), limit));
  }
  if (filingId === null) {
    const read = async (position: number, count: number) =>
      (await log.outlineAfter(account, position, count)).filter((entry) => entry.position <= last);
    return load(log, account, await scan(read, after, limit));
  }
  const head = await log.head(account);
  const end = between.upTo !== null && between.upTo.position < head.position ? between.upTo : head;
  const positions = await log.positionsOf(account, filingId);
  const behind = positions.filter((position) => position > after.position && position <= last);
  const found = await findAt(log, account, behind, filter, limit, after);
  const position = found.more || end.position < found.position.position ? found.position : end;
  return load(log, account, { ...found, position });
}

/** As `scanEvents`, but before a checkpoint and newest first; null starts with the newest of all. */
export async function scanNewestEvents(
  { log, sections }: ScannedLog,
  account: string,
  cursor: Checkpoint | null,
  filter: EventFilter,
  limit: number,
): Promise<EventScan> {
  const { filingId, types, between = wholeLog } = filter;
  const newest = await newestBefore(log, account, cursor);
  const { after, upTo } = between;
  const before =
    upTo !== null && upTo.position < newest.position ? { position: upTo.position + 1, timeline: '' } : newest;
  if (filingId === null && types !== null) {
    const range = { patterns: types, after, before, last: Infinity };
    return load(log, account, fitPage(await scanTypes({ log, sections }, account, range, limit), limit));
  }
  if (filingId === null) {
    const read = async (position: number, count: number) =>
      (await log.outlineBefore(account, position, count)).filter((entry) => entry.position > after.position);
    return load(log, account, await scan(read, before, limit));
  }
  const positions = await log.positionsOf(account, filingId);
  const older = positions
    .filter((position) => position < before.position && position > after.position)
    .toReversed();
  return load(log, account, await findAt(log, account, older, filter, limit, before));
}

// After a set-back the last shared entry has not been listed yet; otherwise the entry at the cursor has.
async function newestBefore(log: EventLog, account: string, cursor: Checkpoint | null): Promise<Checkpoint> {
  const newest = cursor === null ? await log.head(account) : await log.commonWith(account, cursor);
  return newest.position === cursor?.position ? cursor : { position: newest.position + 1, timeline: '' };
}

async function scan(
  read: (position: number, count: number) => Promise<OutlinedEntry[]>,
  from: Checkpoint,
  limit: number,
): Promise<OutlineScan> {
  const found = await read(from.position, limit + 1);
  return fitPage({ found, position: found.at(-1) ?? from, more: false, read: found.length }, limit);
}

// The events of one page; where some are left over, the next page begins behind them.
function fitPage({ found, position, more, read }: OutlineScan, limit: number): OutlineScan {
  const page = fitting(found.slice(0, limit), pageBytesMax);
  return page.length < found.length
    ? { found: page, position: page.at(-1) ?? position, more: true, read }
    : { found, position, more, read };
}

// A filing's events are found by their positions, without reading the log between them.
async function findAt(
  log: EventLog,
  account: string,
  positions: readonly number[],
  filter: EventFilter,
  limit: number,
  from: Checkpoint,
): Promise<OutlineScan> {
  const looked = (await log.outlineAt(account, positions.slice(0, limit))).filter((entry) => entry !== null);
  const page = fitting(looked, pageBytesMax);
  const more = positions.length > limit || page.length < looked.length;
  return {
    found: page.filter((entry) => matchesFilter(filter, entry)),
    position: page.at(-1) ?? from,
    more,
    read: looked.length,
  };
}

async function load(log: EventLog, account: string, { found, ...rest }: OutlineScan): Promise<EventScan> {
  const entries = await log.load(account, found);
  return { ...rest, entries: entries.filter((entry) => entry !== null) };
}

/** Events of some types, without their bodies. */
export interface TypeScan {
  readonly found: readonly OutlinedEntry[];
  /** The last position that was examined. */
  readonly position: Checkpoint;
  /** Whether the log continues behind `position`, in the direction of the scan. */
  readonly more: boolean;
  /** Number of events that were read. */
  readonly read: number;
}

/** A stretch of the log to be searched, and in which direction. */
interface Range {
  readonly first: number;
  readonly last: number;
  readonly newestFirst: boolean;
}

// Maximum number of events that are read in Redis for one page, besides those of the page.
const readMax = 2_000;

/** The events that a scan looks for: newest first where `before` is given. */
export interface ScannedRange {
  /** Types, exact or `prefix.*`. */
  readonly patterns: readonly string[];
  readonly after: Checkpoint;
  readonly before: Checkpoint | null;
  /** The last position that is wanted; Infinity for any. */
  readonly last: number;
}

/**
 * Up to `limit` + 1 events of these types (exact, or `prefix.*`) within a range of positions. What is known
 * of the log's sections decides which of them are read, and at most 2 000 events are read: so it may find
 * fewer before the end of the range.
 */
async function scanTypes(
  { log, sections }: { readonly log: EventLog; readonly sections: LogSections },
  account: string,
  { patterns, after, before, last: lastWanted }: ScannedRange,
  limit: number,
): Promise<TypeScan> {
  const searched = await sections.search(account);
  const [oldest] = await log.outlineAfter(account, after.position, 1);
  const last = Math.min(lastWanted, (before?.position ?? Infinity) - 1, searched.head.position);
  const from = before ?? after;
  if (oldest === undefined || oldest.position > last)
    return { found: [], position: from, more: false, read: 1 };
  const range = { first: oldest.position, last, newestFirst: before !== null };
  const { positions, reached, read } = await findPositions(searched, patterns, range, limit + 1);
  const found = (await log.outlineAt(account, positions)).filter((entry) => entry !== null);
  const end = range.newestFirst ? range.first : range.last;
  if (found.length > limit) return { found, position: found[limit - 1] ?? from, more: true, read };
  const position = await checkpointAt(log, account, searched.head, reached);
  return { found, position, more: reached !== end, read };
}

interface Found {
  readonly positions: readonly number[];
  /** The last position that was examined. */
  readonly reached: number;
  /** Number of events that were read. */
  readonly read: number;
}

async function findPositions(
  searched: SearchedLog,
  patterns: readonly string[],
  { first, last, newestFirst }: Range,
  count: number,
): Promise<Found> {
  const positions: number[] = [];
  const end = newestFirst ? first : last;
  let reached = newestFirst ? last + 1 : first - 1;
  let read = 0;
  while (reached !== end && read < readMax && positions.length < count) {
    const next = newestFirst ? reached - 1 : reached + 1;
    const section = await searched.sectionAt(next);
    const begin = next - ((next - 1) % sectionSize);
    reached = newestFirst ? Math.max(first, begin) : Math.min(last, begin + sectionSize - 1);
    read += section?.read ?? 0;
    if (section !== null && !mayHold(section, patterns)) continue;
    const [from, to] = [Math.min(next, reached), Math.max(next, reached)];
    const found = await searched.positionsOf(patterns, from, to);
    positions.push(...(newestFirst ? found.toReversed() : found));
    read += to - from + 1;
  }
  return { positions: positions.slice(0, count), reached: positions[count - 1] ?? reached, read };
}

function mayHold({ kinds }: LogSection, patterns: readonly string[]): boolean {
  return kinds === null || kinds.some(({ type }) => patterns.some((pattern) => matchesType(pattern, type)));
}

async function checkpointAt(
  log: EventLog,
  account: string,
  head: Checkpoint,
  position: number,
): Promise<Checkpoint> {
  if (position === head.position) return head;
  const [entry] = await log.outlineAt(account, [position]);
  return { position, timeline: entry?.timeline ?? '' };
}
