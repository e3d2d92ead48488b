import type { EventLog, LogEntry, OutlinedEntry } from '../../events/event-log.ts';
import { fitting } from '../../events/log-entry.ts';
import type { LogSections } from '../../events/search/log-sections.ts';
import { logBeginning, type Checkpoint } from '../../events/timeline.ts';
import { matchesType } from '../../subscriptions/matches-event.ts';
import { scanTypes } from './type-scan.ts';

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
