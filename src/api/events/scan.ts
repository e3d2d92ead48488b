import type { EventLog, LogEntry, OutlinedEntry } from '../../events/event-log.ts';
import { fitting } from '../../events/log-entry.ts';
import type { Checkpoint } from '../../events/timeline.ts';
import { matchesType } from '../../subscriptions/matches-event.ts';

/** A filter on the events of the log; null = all. */
export interface EventFilter {
  readonly types: readonly string[] | null;
  readonly filingId: string | null;
}

/** Events of the log, and the position up to which it was searched. */
export interface EventScan {
  readonly entries: readonly LogEntry[];
  /** The last entry that was examined, or where the scan began. */
  readonly position: Checkpoint;
  /** Whether the log continues after `position`, in the direction of the scan. */
  readonly more: boolean;
}

type OutlineScan = Omit<EventScan, 'entries'> & { readonly found: readonly OutlinedEntry[] };

const batchMax = 200;
const scannedMax = 2_000;
// Maximum bytes of the bodies of one page.
const pageBytesMax = 8 * 1024 * 1024;

/** Whether an event passes the filter; pure. */
export function matchesFilter(
  { types, filingId }: EventFilter,
  entry: Pick<LogEntry, 'type' | 'filingId'>,
): boolean {
  if (filingId !== null && entry.filingId !== filingId) return false;
  return types === null || types.some((pattern) => matchesType(pattern, entry.type));
}

/**
 * Up to `limit` events after a checkpoint, oldest first. It examines at most 2 000 entries of the log and
 * returns at most 8 MiB, so it may return fewer events, or none, before the end of the log. After Redis was
 * set back it starts where the two logs diverge.
 */
export async function scanEvents(
  log: EventLog,
  account: string,
  cursor: Checkpoint,
  filter: EventFilter,
  limit: number,
): Promise<EventScan> {
  const after = cursor.position === 0 ? cursor : await log.commonWith(account, cursor);
  const { filingId } = filter;
  if (filingId === null)
    return load(
      log,
      account,
      await scan((position, count) => log.outlineAfter(account, position, count), after, filter, limit),
    );
  const head = await log.head(account);
  const positions = await log.positionsOf(account, filingId);
  const behind = positions.filter((position) => position > after.position);
  const found = await findAt(log, account, behind, filter, limit, after);
  const position = found.more || head.position < found.position.position ? found.position : head;
  return load(log, account, { ...found, position });
}

/** As `scanEvents`, but before a checkpoint and newest first; null starts with the newest of all. */
export async function scanNewestEvents(
  log: EventLog,
  account: string,
  cursor: Checkpoint | null,
  filter: EventFilter,
  limit: number,
): Promise<EventScan> {
  const before = await newestBefore(log, account, cursor);
  const { filingId } = filter;
  if (filingId === null)
    return load(
      log,
      account,
      await scan((position, count) => log.outlineBefore(account, position, count), before, filter, limit),
    );
  const positions = await log.positionsOf(account, filingId);
  const older = positions.filter((position) => position < before.position).toReversed();
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
  filter: EventFilter,
  limit: number,
): Promise<OutlineScan> {
  const batchSize = Math.min(batchMax, filter.types === null ? limit + 1 : batchMax);
  const found: OutlinedEntry[] = [];
  let bytes = 0;
  let position = from;
  for (let scanned = 0; scanned < scannedMax;) {
    // Each batch begins at the end of the one before.
    const batch = await read(position.position, batchSize);
    for (const entry of batch) {
      if (matchesFilter(filter, entry)) {
        bytes += entry.bytes;
        if (found.length === limit || (found.length > 0 && bytes > pageBytesMax))
          return { found, position, more: true };
        found.push(entry);
      }
      position = entry;
    }
    scanned += batch.length;
    if (batch.length === 0) return { found, position, more: false };
  }
  return { found, position, more: true };
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
  };
}

async function load(log: EventLog, account: string, { found, ...rest }: OutlineScan): Promise<EventScan> {
  const entries = await log.load(account, found);
  return { ...rest, entries: entries.filter((entry) => entry !== null) };
}
