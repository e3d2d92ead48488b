import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript } from '../../redis/scripts.ts';
import type { EventLog, OutlinedEntry } from '../event-log.ts';
import { beforeSection, createSectionMemory } from './log-sections.ts';

/** The events that were found by their ids. */
export interface FoundEvents {
  readonly entries: ReadonlyMap<string, OutlinedEntry>;
  /** Whether the whole log was searched for those that were not found. */
  readonly complete: boolean;
  /** Number of events that were read. */
  readonly read: number;
}

/**
 * Finds events of an account's log by their ids, newest first. `filingId` is the filing that they belong to,
 * so that only its events are read. If it is null (unknown), the log is read section by section, at most half
 * a million events; sections that were searched before are remembered. Events of types for which `isSeen` is
 * false are not found, and the search takes as long as for ids that no event has.
 */
export type FindEvents = (
  account: string,
  ids: readonly string[],
  filingId: string | null,
  isSeen?: (type: string) => boolean,
) => Promise<FoundEvents>;

// Maximum number of events that one search reads: about a second.
const readMax = 500_000;
// Maximum number of logs, and of sections of each: half a million events, of which four megabytes are kept.
const remembered = { logsMax: 8, sectionsMax: 2_048 };
// Characters of an id that are remembered: those behind `evt_`.
const [markFrom, markLength] = [4, 8];

// KEYS   1 the log's entries
// ARGV   1 first and 2 last position
// Reply  { position of the first of them, the marks of their ids in one text }
const marksScript = defineScript(`
local entries, marks = redis.call('XRANGE', KEYS[1], ARGV[1] .. '-0', ARGV[2] .. '-0'), {}
for i, entry in ipairs(entries) do
  marks[i] = string.sub(string.sub(entry[2][2], ${markFrom + 1}, ${markFrom + markLength}) .. '${' '.repeat(markLength)}', 1, ${markLength})
end
return { entries[1] and string.match(entries[1][1], '^%d+') or '0', table.concat(marks) }`);

/** The ids of a section, as far as they are remembered. */
interface Marks {
  /** Position of the first event. */
  readonly first: number;
  readonly text: string;
  readonly read: number;
}

/** A search over one connection. */
export function createEventFinder(
  redis: RedisClient,
  keys: Keys,
  log: Pick<EventLog, 'head' | 'commonWith' | 'positionsOf' | 'outlineAt' | 'outlineAfter'>,
): FindEvents {
  async function readMarks(account: string, first: number, last: number): Promise<Marks> {
    const reply = await marksScript.run(redis, [keys.account(account).events], [first, last]);
    const [position, text] = reply as [string, string];
    return { first: Number(position), text, read: text.length / markLength };
  }

  const sections = createSectionMemory(log, remembered, readMarks);

  async function searchLog(
    account: string,
    wanted: ReadonlySet<string>,
    isFound: (entry: OutlinedEntry) => boolean,
  ): Promise<FoundEvents> {
    const { head, learn } = await sections(account);
    const [oldest] = await log.outlineAfter(account, 0, 1);
    const entries = new Map<string, OutlinedEntry>();
    let read = 0;
    for (let last = head.position; oldest !== undefined && last >= oldest.position;) {
      if (read >= readMax) return { entries, complete: false, read };
      const marks = await learn(last);
      read += marks.read;
      for (const entry of await log.outlineAt(account, positionsIn(marks, wanted)))
        if (entry !== null && isFound(entry)) entries.set(entry.id, entry);
      if (entries.size === wanted.size) break;
      last = beforeSection(last);
    }
    return { entries, complete: true, read };
  }

  return async (account, ids, filingId, isSeen = () => true) => {
    const wanted = new Set(ids);
    const isFound = ({ id, type }: OutlinedEntry) => wanted.has(id) && isSeen(type);
    if (filingId === null) return searchLog(account, wanted, isFound);
    const found = await log.outlineAt(account, await log.positionsOf(account, filingId));
    const entries = found.filter((entry) => entry !== null).filter(isFound);
    return {
      entries: new Map(entries.map((entry) => [entry.id, entry])),
      complete: true,
      read: found.length,
    };
  };
}

// Positions of events that may have one of these ids.
function positionsIn({ first, text }: Marks, wanted: ReadonlySet<string>): number[] {
  const positions: number[] = [];
  for (const id of wanted) {
    const mark = id.slice(markFrom, markFrom + markLength).padEnd(markLength);
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1))
      if (at % markLength === 0) positions.push(first + at / markLength);
  }
  return positions;
}
