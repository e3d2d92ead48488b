import { setImmediate as othersFirst } from 'node:timers/promises';
import { createBoundedMap } from '../../memory/bounded-map.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript } from '../../redis/scripts.ts';
import type { EventLog } from '../event-log.ts';
import { type Checkpoint, logBeginning } from '../timeline.ts';

interface KnownLog<T> {
  upTo: Checkpoint;
  readonly known: T;
}

/**
 * The memory that this process has of logs, up to the head that is given. It is forgotten when the log is no
 * longer the one that it was learnt from: Redis was set back.
 */
export type LogMemory<T> = (account: string, head: Checkpoint) => Promise<T>;

/**
 * Remembers something of the `logsMax` logs used last; `begin` makes it for a log of which nothing is known.
 */
export function createLogMemory<T>(
  log: Pick<EventLog, 'commonWith'>,
  logsMax: number,
  begin: () => T,
): LogMemory<T> {
  const logs = createBoundedMap<string, KnownLog<T>>(logsMax);
  return async (account, head) => {
    const former = logs.get(account);
    const isSame =
      former !== undefined &&
      (await log.commonWith(account, former.upTo)).position === former.upTo.position &&
      former.upTo.position <= head.position;
    const opened = isSame ? former : { upTo: logBeginning, known: begin() };
    opened.upTo = head;
    logs.set(account, opened);
    return opened.known;
  };
}

/** A number of events of one type, one state and one resulting status in a section. */
export interface EventKind {
  readonly type: string;
  /** State abbreviation; empty where unknown. */
  readonly state: string;
  /** The filing's status after the event; empty where unknown, and for operational events. */
  readonly status: string;
  readonly count: number;
}

/** The content of a section of a log, in numbers. */
export interface LogSection {
  readonly first: number;
  readonly last: number;
  /** Times (ms, Redis's clock) at which its first and its last event were recorded, in the order of time. */
  readonly earliest: number;
  readonly latest: number;
  /** Null where there are too many kinds: its events have to be read. */
  readonly kinds: readonly EventKind[] | null;
  /** Number of events that were read for this answer; 0 when it was known. */
  readonly read: number;
}

/** An account's log as it is searched. */
export interface SearchedLog {
  /** The head when the search began. */
  readonly head: Checkpoint;
  /** The section with a position; null for the last one, which is not full yet. */
  sectionAt(position: number): Promise<LogSection | null>;
  /**
   * Positions, in order, from `first` to `last` of events of these types, exact or `prefix.*`; at most a
   * section is searched.
   */
  positionsOf(patterns: readonly string[], first: number, last: number): Promise<number[]>;
}

/**
 * The content of the sections of logs, remembered by this process, so that a search passes over those without
 * a match. A section that is full never changes, except that retention removes it.
 */
export interface LogSections {
  /** Begins a search. What is remembered of a log that was set back since is forgotten first. */
  search(account: string): Promise<SearchedLog>;
}

/** Number of positions in a section. It bounds the time for which one step of a search keeps Redis busy. */
export const sectionSize = 256;

// Maximum number of logs, and of sections of each: a million events, about a megabyte.
const logsMax = 64;
const sectionsMax = 4_096;
// Maximum number of kinds of a section that is remembered by them.
const kindsMax = 64;
// Number of known sections after which other work of the process has its turn.
const knownAtOnce = 200;

// KEYS   1 the log's entries
// ARGV   1 first and 2 last position  3 maximum number of kinds
// Reply  number of events, earliest and latest time of recording (ms), then type, state, status and number
//        of each kind; no kinds where there are too many
const sectionScript = defineScript(`
local entries = redis.call('XRANGE', KEYS[1], ARGV[1] .. '-0', ARGV[2] .. '-0')
local counts, order, earliest, latest = {}, {}, nil, nil
for _, entry in ipairs(entries) do
  local type, state, at, status = entry[2][4], entry[2][8], tonumber(entry[2][10]) or 0, entry[2][16] or ''
  local kind = type .. '\\0' .. state .. '\\0' .. status
  if not counts[kind] then
    counts[kind] = 0
    order[#order + 1] = { type, state, status, kind }
  end
  counts[kind] = counts[kind] + 1
  if not earliest or at < earliest then earliest = at end
  if not latest or at > latest then latest = at end
end
local reply = { #entries, string.format('%.0f', earliest or 0), string.format('%.0f', latest or 0) }
if #order > tonumber(ARGV[3]) then return reply end
for _, kind in ipairs(order) do
  reply[#reply + 1], reply[#reply + 2], reply[#reply + 3] = kind[1], kind[2], kind[3]
  reply[#reply + 1] = counts[kind[4]]
end
return reply`);

// KEYS   1 the log's entries
// ARGV   1 first and 2 last position, then types, exact, `prefix.*` or `*`
// Reply  positions of the events of these types
const positionsScript = defineScript(`
local wanted, found = {}, {}
local function is_wanted(type)
  for i = 3, #ARGV do
    local pattern = ARGV[i]
    if pattern == type or pattern == '*' then return true end
    if string.sub(pattern, -2) == '.*' and string.sub(type, 1, #pattern - 1) == string.sub(pattern, 1, -2) then return true end
  end
  return false
end
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], ARGV[1] .. '-0', ARGV[2] .. '-0')) do
  local type = entry[2][4]
  if wanted[type] == nil then wanted[type] = is_wanted(type) end
  if wanted[type] then found[#found + 1] = string.match(entry[1], '^%d+') end
end
return found`);

/** The sections of logs in Redis. */
export function createLogSections(
  redis: RedisClient,
  keys: Keys,
  log: Pick<EventLog, 'head' | 'commonWith'>,
): LogSections {
  const remembered = createLogMemory(log, logsMax, () => createBoundedMap<number, LogSection>(sectionsMax));

  async function readSection(account: string, first: number, last: number): Promise<LogSection> {
    const reply = await sectionScript.run(redis, [keys.account(account).events], [first, last, kindsMax]);
    const [read = 0, earliest = 0, latest = 0, ...flat] = reply as (string | number)[];
    const kinds: EventKind[] = [];
    for (let i = 0; i < flat.length; i += 4) {
      const [type = '', state = '', status = ''] = flat.slice(i, i + 3).map(String);
      kinds.push({ type, state, status, count: Number(flat[i + 3]) });
    }
    return {
      first,
      last,
      earliest: Number(earliest),
      latest: Number(latest),
      kinds: Number(read) > 0 && kinds.length === 0 ? null : kinds,
      read: Number(read),
    };
  }

  return {
    async search(account) {
      const head = await log.head(account);
      const sections = await remembered(account, head);
      let passed = 0;
      return {
        head,
        async sectionAt(position) {
          const number = Math.floor((position - 1) / sectionSize);
          const [first, last] = [number * sectionSize + 1, (number + 1) * sectionSize];
          if (last > head.position) return null;
          const known = sections.get(number);
          if (known !== undefined) {
            passed += 1;
            if (passed % knownAtOnce === 0) await othersFirst();
            return known;
          }
          const section = await readSection(account, first, last);
          sections.set(number, { ...section, read: 0 });
          return section;
        },
        async positionsOf(patterns, first, last) {
          const end = Math.min(last, first + sectionSize - 1);
          const found = await positionsScript.run(
            redis,
            [keys.account(account).events],
            [first, end, ...patterns],
          );
          return (found as string[]).map(Number);
        },
      };
    },
  };
}
