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
  /** Whether the log goes on behind it. */
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
  if (filter.filingId !== null)
    return scanFiling(log, account, after, { ...filter, filingId: filter.filingId }, limit);
  const entries: LogEntry[] = [];
  let position = after;
  for (let scanned = 0; scanned < scannedMax;) {
    // Each batch begins where the one before ended.
    // oxlint-disable-next-line no-await-in-loop
    const batch = await log.readAfter(
      account,
      position,
      Math.min(batchMax, filter.types === null ? limit + 1 : batchMax),
    );
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
async function scanFiling(
  log: EventLog,
  account: string,
  after: number,
  filter: EventFilter & { filingId: string },
  limit: number,
): Promise<EventScan> {
  const head = await log.head(account);
  const positions = (await log.positionsOf(account, filter.filingId)).filter((position) => position > after);
  const page = positions.slice(0, limit);
  const found = await log.readAt(account, page);
  const entries = found.filter((entry) => entry !== null && matchesFilter(filter, entry)) as LogEntry[];
  const more = positions.length > page.length;
  return { entries, more, position: more ? (page.at(-1) ?? after) : Math.max(after, head, page.at(-1) ?? 0) };
}
