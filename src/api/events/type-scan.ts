import type { EventLog, OutlinedEntry } from '../../events/event-log.ts';
import type { LogSection, LogSections, SearchedLog } from '../../events/search/log-sections.ts';
import { sectionSize } from '../../events/search/log-sections.ts';
import type { Checkpoint } from '../../events/timeline.ts';
import { matchesType } from '../../subscriptions/matches-event.ts';

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
export async function scanTypes(
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
