import type { EventLog, LogEntry } from '../events/event-log.ts';
import { matchesType } from '../subscriptions/matches-event.ts';

/** Which events of the log are asked for; null asks for all. */
export interface EventFilter {
  readonly types: readonly string[] | null;
  readonly filingId: string | null;
}

/** Some events, and how far the log was looked through for them. */
export interface EventScan {
  readonly entries: readonly LogEntry[];
  /** The position of the last entry that was looked at, or where the scan began. */
  readonly position: number;
  /** Whether the log goes on behind it, in the direction of the scan. */
  readonly more: boolean;
}

const batchMax = 200;
const scannedMax = 2_000;

/** Whether an event is asked for; pure. */
export function matchesFilter(
  { types, filingId }: EventFilter,
  entry: Pick<LogEntry, 'type' | 'filingId'>,
): boolean {
  if (filingId !== null && entry.filingId !== filingId) return false;
  return types === null || types.some((pattern) => matchesType(pattern, entry.type));
}

/**
 * Up to `limit` events behind a position, oldest first. Looks at no more than 2 000 entries of the log, so it may come back with
 * fewer, or none, though the log goes on.
 */
export async function scanEvents(
  log: EventLog,
  account: string,
  after: number,
  filter: EventFilter,
  limit: number,
): Promise<EventScan> {
  if (filter.filingId === null)
    return scan((position, count) => log.readAfter(account, position, count), after, filter, limit);
  const head = await log.head(account);
  const positions = (await log.positionsOf(account, filter.filingId)).filter((position) => position > after);
  const found = await readFiltered(log, account, positions, filter, limit);
  return { ...found, position: found.more ? found.position : Math.max(after, head, found.position) };
}

/** The same before a position, newest first. */
export async function scanNewestEvents(
  log: EventLog,
  account: string,
  before: number,
  filter: EventFilter,
  limit: number,
): Promise<EventScan> {
  if (filter.filingId === null)
    return scan((position, count) => log.readBefore(account, position, count), before, filter, limit);
  const positions = (await log.positionsOf(account, filter.filingId)).filter((position) => position < before);
  return readFiltered(log, account, positions.toReversed(), filter, limit);
}

async function scan(
  read: (position: number, count: number) => Promise<LogEntry[]>,
  from: number,
  filter: EventFilter,
  limit: number,
): Promise<EventScan> {
  const batchSize = Math.min(batchMax, filter.types === null ? limit + 1 : batchMax);
  const entries: LogEntry[] = [];
  let position = from;
  for (let scanned = 0; scanned < scannedMax;) {
    // Each batch begins where the one before ended.
    // oxlint-disable-next-line no-await-in-loop
    const batch = await read(position, batchSize);
    for (const entry of batch) {
      const matches = matchesFilter(filter, entry);
      if (matches && entries.length === limit) return { entries, position, more: true };
      if (matches) entries.push(entry);
      position = entry.position;
    }
    scanned += batch.length;
    if (batch.length === 0) return { entries, position, more: false };
  }
  return { entries, position, more: true };
}

// A filing's events are found by their positions; the log between them need not be read.
async function readFiltered(
  log: EventLog,
  account: string,
  positions: readonly number[],
  filter: EventFilter,
  limit: number,
): Promise<EventScan> {
  const page = positions.slice(0, limit);
  const found = await log.readAt(account, page);
  const entries = found.filter((entry) => entry !== null && matchesFilter(filter, entry)) as LogEntry[];
  return { entries, more: positions.length > page.length, position: page.at(-1) ?? 0 };
}
