import { setImmediate as othersFirst } from 'node:timers/promises';
import { createBoundedMap, type BoundedMap } from '../../memory/bounded-map.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript } from '../../redis/scripts.ts';
import type { EventLog } from '../event-log.ts';
import { type Checkpoint, logBeginning } from '../timeline.ts';

/** Number of positions in a section. It bounds the time for which one step of a search keeps Redis busy. */
export const sectionSize = 256;

/** The position before the section with a position. */
export function beforeSection(position: number): number {
  return position - 1 - ((position - 1) % sectionSize);
}

/** Something of a section of a log. */
interface Learnt {
  /** Number of events that were read for it; 0 when it was known. */
  readonly read: number;
}

/** A log as it is searched, section by section. */
export interface SearchedLog<T> {
  /** The head when the search began. */
  readonly head: Checkpoint;
  /** What is learnt of the section with a position, as far as the log had it when the search began. */
  learn(position: number): Promise<T>;
}

/** Begins a search of an account's log. */
export type SearchLog<T> = (account: string) => Promise<SearchedLog<T>>;

interface KnownLog<T> {
  upTo: Checkpoint;
  readonly sections: BoundedMap<number, T>;
}

// Number of known sections after which other work of the process has its turn.
const knownAtOnce = 200;

/**
 * Learns something of the sections of logs by `read`, and remembers it of the last `sectionsMax` full ones of
 * the `logsMax` logs used last: a section that is full never changes, except that retention removes it. What
 * is known of a log is forgotten when it is no longer the one that it was learnt from: Redis was set back.
 */
export function createSectionMemory<T extends Learnt>(
  log: Pick<EventLog, 'head' | 'commonWith'>,
  { logsMax, sectionsMax }: { readonly logsMax: number; readonly sectionsMax: number },
  read: (account: string, first: number, last: number) => Promise<T>,
): SearchLog<T> {
  const logs = createBoundedMap<string, KnownLog<T>>(logsMax);
  return async (account) => {
    const head = await log.head(account);
    const former = logs.get(account);
    const isSame =
      former !== undefined &&
      (await log.commonWith(account, former.upTo)).position === former.upTo.position &&
      former.upTo.position <= head.position;
    const opened = isSame
      ? former
      : { upTo: logBeginning, sections: createBoundedMap<number, T>(sectionsMax) };
    opened.upTo = head;
    logs.set(account, opened);
    let passed = 0;
    return {
      head,
      async learn(position) {
        const before = beforeSection(position);
        const known = opened.sections.get(before);
        if (known !== undefined) {
          passed += 1;
          if (passed % knownAtOnce === 0) await othersFirst();
          return known;
        }
        const end = before + sectionSize;
        const learnt = await read(account, before + 1, Math.min(end, head.position));
        if (end <= head.position) opened.sections.set(before, { ...learnt, read: 0 });
        return learnt;
      },
    };
  };
}

/** The types of the events of a section. */
export interface SectionTypes extends Learnt {
  readonly types: readonly string[];
}

// Maximum number of logs, and of sections of each: a million events, about a megabyte.
const remembered = { logsMax: 64, sectionsMax: 4_096 };

// KEYS   1 the log's entries
// ARGV   1 first and 2 last position
// Reply  number of events, then each of their types once
const typesScript = defineScript(`
local entries, known = redis.call('XRANGE', KEYS[1], ARGV[1] .. '-0', ARGV[2] .. '-0'), {}
local reply = { #entries }
for _, entry in ipairs(entries) do
  local type = entry[2][4]
  if not known[type] then reply[#reply + 1] = type end
  known[type] = true
end
return reply`);

/** Searches of logs by type: what is remembered of the sections lets them pass over those without a match. */
export function createTypeSearch(
  redis: RedisClient,
  keys: Keys,
  log: Pick<EventLog, 'head' | 'commonWith'>,
): SearchLog<SectionTypes> {
  return createSectionMemory(log, remembered, async (account, first, last) => {
    const reply = await typesScript.run(redis, [keys.account(account).events], [first, last]);
    const [read, ...types] = reply as [number, ...string[]];
    return { types, read };
  });
}
