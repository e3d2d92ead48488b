import { toCheckpoint, type EventLog } from '../../events/event-log.ts';
import { toOutline, type OutlinedEntry, type StreamEntry } from '../../events/log-entry.ts';
import { unindexedStatuses } from '../../partner/filing-statuses.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript, loadScript } from '../../redis/scripts.ts';
import { decodeRecord } from '../../redis/unreadable-record.ts';
import type { PublishedEvent } from '../commit/published-batch.ts';
import { indexStatus, type ReadStates } from '../commit/filing-commit.ts';
import type { StoredState } from '../detection/filing-state.ts';
import { around, findTornRange, readBodyFacts, type TornRange, type BodyFacts } from './find-torn-range.ts';

/** A repair of a torn log. */
export interface LogRepair {
  readonly account: string;
  /**
   * First and last position where entries and bodies may belong to different events; null where only states
   * were missing.
   */
  readonly from: number | null;
  readonly to: number | null;
  /** Number of entries removed from the log. */
  readonly removed: number;
  /**
   * Filings about which receivers may have got a wrong event: the next read of each leads to an event in any
   * case.
   */
  readonly restated: readonly string[];
}

/** Repairs logs in which Redis has carried out half a transaction at its start. */
export interface LogRepairer {
  /**
   * Runs one script while the server is in the same run as before, and looks at some hundred entries after
   * each of its starts. Filings are counted anew only where something is torn, or the file of the former run
   * was not rewritten. Null when nothing was torn. `onTorn` is called before the log is marked as whole;
   * after a crash until then all of it happens once more.
   */
  repair(account: string, generation: string): Promise<LogRepair | null>;
}

export interface LogRepairerDeps {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly log: Pick<EventLog, 'load'>;
  readonly read: ReadStates;
  /**
   * Raises the sequences of filings to those of these events, and makes the next read lead to an event.
   * Returns the ids of these filings.
   */
  readonly restate: (
    account: string,
    generation: string,
    events: readonly PublishedEvent[],
  ) => Promise<string[]>;
  /** Counts the filings of an account anew. */
  readonly recount: (account: string) => Promise<void>;
  readonly onTorn: (repair: LogRepair, generation: string) => Promise<void>;
}

const bodiesAtOnce = 20;
const triesMax = 5;

type LookReply = [
  run: Buffer,
  former: number,
  isWhole: number,
  head: Buffer,
  newest: StreamEntry[],
  entries: StreamEntry[],
];

const markScript = defineScript(`
if redis.call('HGET', KEYS[2], 'generation') == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) end
return 1`);

interface Look {
  readonly run: string;
  readonly head: string;
  readonly checkedTo: number;
  readonly isOpen: boolean;
  readonly entries: readonly OutlinedEntry[];
  readonly newest: OutlinedEntry | null;
}

/** A repairer over the log and the snapshot in Redis. */
export function createLogRepairer(deps: LogRepairerDeps): LogRepairer {
  const { redis, keys, log, read, restate, recount, onTorn } = deps;
  const lookScript = loadScript(new URL('read-after-restart.lua', import.meta.url));
  const repairScript = loadScript(new URL('repair-log.lua', import.meta.url));

  async function look(account: string, generation: string): Promise<Look | null> {
    const { checked, polling, head, events } = keys.account(account);
    const reply = await lookScript.runBuffer(redis, [checked, polling, head, events], [generation, around]);
    return reply === null ? null : toLook(reply as LookReply);
  }

  async function readAll(account: string, entries: readonly OutlinedEntry[]): Promise<(BodyFacts | null)[]> {
    const bodies: (BodyFacts | null)[] = [];
    for (let from = 0; from < entries.length; from += bodiesAtOnce)
      // Bodies may be large, and are not kept.
      for (const entry of await log.load(account, entries.slice(from, from + bodiesAtOnce)))
        bodies.push(entry === null ? null : readBodyFacts(entry.body));
    return bodies;
  }

  async function repairOnce(
    account: string,
    generation: string,
    found: Look,
  ): Promise<LogRepair | null | 'moved'> {
    const { entries, newest, checkedTo, isOpen } = found;
    const bodies = await readAll(account, entries);
    const head = decodeRecord(keys.account(account).head, null, found.head, toCheckpoint);
    const torn = findTornRange({ entries, bodies, newest, checkedTo, isOpen, head });
    const ids = [...new Set([...entries, ...bodies].map((each) => each?.filingId ?? ''))].filter(
      (id) => id !== '',
    );
    const states = new Map((await read(account, ids)).map((state, i) => [ids[i] ?? '', state]));
    const written = await write(account, found, torn, states);
    if (written === null) return 'moved';
    const doubted = doubtedEvents(entries, bodies, torn, states);
    const restated = await restate(account, generation, doubted);
    // If the same changes were detected again, only the counts show the double writes.
    if (torn !== null || isOpen || !written.countsFit) await recount(account);
    const { from = null, to = null, mixed = [] } = torn ?? {};
    const repair = { account, from, to, removed: mixed.length, restated };
    const isTorn = torn !== null || restated.length > 0;
    if (isTorn) await onTorn(repair, generation);
    const { checked, polling } = keys.account(account);
    await markScript.run(redis, [checked, polling], [generation, `${found.run} ${written.position} open`]);
    return isTorn ? repair : null;
  }

  async function write(
    account: string,
    { entries, head }: Look,
    torn: TornRange | null,
    states: ReadonlyMap<string, StoredState | null>,
  ): Promise<{ readonly position: number; readonly countsFit: boolean } | null> {
    const key = keys.account(account);
    const mixed = torn?.mixed ?? [];
    const kept = entries.filter(({ position }) => !mixed.includes(position));
    const reply = await repairScript.run(
      redis,
      [key.head, key.events, key.bodies, key.filingEvents, key.filings, key.index, key.counts, key.newest],
      [
        head,
        entries[0]?.position ?? 0,
        entries.at(-1)?.position ?? 0,
        unindexedStatuses.join('\n'),
        mixed.length,
        ...mixed,
        ...[...states].flatMap(([id, stored]) => [
          id,
          stored?.text ?? '',
          indexStatus(stored?.state ?? null),
          positionsOf(kept, id).join(','),
        ]),
      ],
    );
    if (reply === null) return null;
    const [position, countsFit] = reply as [number, number];
    return { position, countsFit: countsFit === 1 };
  }

  return {
    async repair(account, generation) {
      for (let tries = 0; tries < triesMax; tries += 1) {
        // Begins anew where other processes have written meanwhile.
        const found = await look(account, generation);
        if (found === null) return null;
        const repair = await repairOnce(account, generation, found);
        if (repair !== 'moved') return repair;
      }
      // The next poll looks again.
      return null;
    },
  };
}

function toLook([run, former, isWhole, head, [newest], entries]: LookReply): Look {
  return {
    run: run.toString(),
    head: head.toString(),
    checkedTo: Math.max(0, former),
    isOpen: former >= 0 && isWhole === 0,
    entries: entries.map(toOutline),
    newest: newest === undefined ? null : toOutline(newest),
  };
}

function positionsOf(entries: readonly OutlinedEntry[], id: string): number[] {
  return entries.flatMap(({ filingId, position }) => (filingId === id ? [position] : []));
}

/**
 * The latest events that receivers may have got: of each filing that an entry or a body in the torn range
 * names, and of each filing whose state is behind the log.
 */
function doubtedEvents(
  entries: readonly OutlinedEntry[],
  bodies: readonly (BodyFacts | null)[],
  torn: TornRange | null,
  states: ReadonlyMap<string, StoredState | null>,
): PublishedEvent[] {
  const latest = new Map<string, BodyFacts>();
  for (const event of bodies)
    if (event !== null && (latest.get(event.filingId)?.sequence ?? -1) < event.sequence)
      latest.set(event.filingId, event);
  const inRange = new Set<string>();
  // The sequence of a filing whose own body was overwritten is not known; a transaction commits one event of
  // each filing.
  const bodiless = new Set<string>();
  entries.forEach(({ position, filingId }, i) => {
    if (torn === null || position < torn.from || position > torn.to) return;
    inRange.add(filingId).add(bodies[i]?.filingId ?? '');
    if (torn.mixed.includes(position)) bodiless.add(filingId);
  });
  return [...states].flatMap(([filingId, stored]) => {
    const known = stored?.state ?? null;
    const { sequence, status } = latest.get(filingId) ?? { sequence: 0, status: '' };
    if (!inRange.has(filingId) && (known?.sequence ?? 0) >= sequence) return [];
    const most = Math.max(sequence, known?.sequence ?? 0) + (bodiless.has(filingId) ? 1 : 0);
    // An empty status is that of no state, so the filing is restated in any case.
    return { filingId, sequence: most, status: known === null ? status : '' };
  });
}
