import { toCheckpoint, type EventLog } from '../../events/event-log.ts';
import { toOutline, type OutlinedEntry, type StreamEntry } from '../../events/log-entry.ts';
import { unindexedStatuses } from '../../partner/filing-statuses.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript, loadScript } from '../../redis/scripts.ts';
import { decodeRecord } from '../../redis/unreadable-record.ts';
import type { WitnessedEvent } from '../commit/commit-journal.ts';
import { indexStatus, type ReadStates } from '../commit/filing-commit.ts';
import type { StoredState } from '../detection/filing-state.ts';
import { around, findTear, readTold, type Tear, type ToldEvent } from './find-tear.ts';

/** What was found torn in a log, and mended. */
export interface LogMending {
  readonly account: string;
  /**
   * First and last position where entries and bodies may be of different events; null where only states were
   * missing.
   */
  readonly from: number | null;
  readonly to: number | null;
  /** Entries that were taken out of the log. */
  readonly removed: number;
  /**
   * Filings of which receivers may have heard what is not so: the next read of each leads to an event in any
   * case.
   */
  readonly restated: readonly string[];
}

/** Mends logs in which Redis has carried out half a transaction at its start. */
export interface LogMender {
  /**
   * One script while the server is the same run as before; after each start some hundred entries are looked
   * at. Filings are counted anew only where something is torn, or the former run's file was not rewritten.
   * Null when nothing was torn. `onTorn` is called before it is noted that the log is whole; a crash until
   * then leads to all of it once more.
   */
  mend(account: string, generation: string): Promise<LogMending | null>;
}

export interface LogMenderDeps {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly log: Pick<EventLog, 'load'>;
  readonly read: ReadStates;
  /**
   * Raises the sequences of filings to those of these events, and has the next read lead to an event; returns
   * which.
   */
  readonly restate: (
    account: string,
    generation: string,
    events: readonly WitnessedEvent[],
  ) => Promise<string[]>;
  /** Counts the filings of an account anew. */
  readonly recount: (account: string) => Promise<void>;
  readonly onTorn: (mending: LogMending, generation: string) => Promise<void>;
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

/** A mender over the log and the snapshot in Redis. */
export function createLogMender(deps: LogMenderDeps): LogMender {
  const { redis, keys, log, read, restate, recount, onTorn } = deps;
  const lookScript = loadScript(new URL('look-for-tear.lua', import.meta.url));
  const mendScript = loadScript(new URL('mend-log.lua', import.meta.url));

  async function look(account: string, generation: string): Promise<Look | null> {
    const { checked, polling, head, events } = keys.account(account);
    const reply = await lookScript.runBuffer(redis, [checked, polling, head, events], [generation, around]);
    return reply === null ? null : toLook(reply as LookReply);
  }

  async function readAll(account: string, entries: readonly OutlinedEntry[]): Promise<(ToldEvent | null)[]> {
    const told: (ToldEvent | null)[] = [];
    for (let from = 0; from < entries.length; from += bodiesAtOnce)
      // Bodies may be large, and are not kept.
      // oxlint-disable-next-line no-await-in-loop
      for (const entry of await log.load(account, entries.slice(from, from + bodiesAtOnce)))
        told.push(entry === null ? null : readTold(entry.body));
    return told;
  }

  async function mendOnce(
    account: string,
    generation: string,
    found: Look,
  ): Promise<LogMending | null | 'moved'> {
    const { entries, newest, checkedTo, isOpen } = found;
    const told = await readAll(account, entries);
    const head = decodeRecord(keys.account(account).head, null, found.head, toCheckpoint);
    const tear = findTear({ entries, told, newest, checkedTo, isOpen, head });
    const ids = [...new Set([...entries, ...told].map((each) => each?.filingId ?? ''))].filter(
      (id) => id !== '',
    );
    const states = new Map((await read(account, ids)).map((state, i) => [ids[i] ?? '', state]));
    const written = await write(account, found, tear, states);
    if (written === null) return 'moved';
    const doubted = doubtedEvents(entries, told, tear, states);
    const restated = await restate(account, generation, doubted);
    // What was done twice leaves no other trace where the same changes were found again.
    if (tear !== null || isOpen || !written.countsFit) await recount(account);
    const { from = null, to = null, mixed = [] } = tear ?? {};
    const mending = { account, from, to, removed: mixed.length, restated };
    const isTorn = tear !== null || restated.length > 0;
    if (isTorn) await onTorn(mending, generation);
    const { checked, polling } = keys.account(account);
    await markScript.run(redis, [checked, polling], [generation, `${found.run} ${written.position} open`]);
    return isTorn ? mending : null;
  }

  async function write(
    account: string,
    { entries, head }: Look,
    tear: Tear | null,
    states: ReadonlyMap<string, StoredState | null>,
  ): Promise<{ readonly position: number; readonly countsFit: boolean } | null> {
    const key = keys.account(account);
    const mixed = tear?.mixed ?? [];
    const kept = entries.filter(({ position }) => !mixed.includes(position));
    const reply = await mendScript.run(
      redis,
      [key.head, key.events, key.bodies, key.filingEvents, key.filings, key.index, key.counts],
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
    async mend(account, generation) {
      for (let tries = 0; tries < triesMax; tries += 1) {
        // Anew where others have written meanwhile.
        // oxlint-disable-next-line no-await-in-loop
        const found = await look(account, generation);
        if (found === null) return null;
        // oxlint-disable-next-line no-await-in-loop
        const mending = await mendOnce(account, generation, found);
        if (mending !== 'moved') return mending;
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
 * Of each filing that an entry or a body in the tear names, and of each whose state knows less than the log:
 * what receivers may have heard of it at most.
 */
function doubtedEvents(
  entries: readonly OutlinedEntry[],
  told: readonly (ToldEvent | null)[],
  tear: Tear | null,
  states: ReadonlyMap<string, StoredState | null>,
): WitnessedEvent[] {
  const heard = new Map<string, ToldEvent>();
  for (const event of told)
    if (event !== null && (heard.get(event.filingId)?.sequence ?? -1) < event.sequence)
      heard.set(event.filingId, event);
  const inTear = new Set<string>();
  // Of filings whose own body was overwritten nobody knows the sequence; a transaction commits one event of
  // each.
  const bodiless = new Set<string>();
  entries.forEach(({ position, filingId }, i) => {
    if (tear === null || position < tear.from || position > tear.to) return;
    inTear.add(filingId).add(told[i]?.filingId ?? '');
    if (tear.mixed.includes(position)) bodiless.add(filingId);
  });
  return [...states].flatMap(([filingId, stored]) => {
    const known = stored?.state ?? null;
    const { sequence, status } = heard.get(filingId) ?? { sequence: 0, status: '' };
    if (!inTear.has(filingId) && (known?.sequence ?? 0) >= sequence) return [];
    const most = Math.max(sequence, known?.sequence ?? 0) + (bodiless.has(filingId) ? 1 : 0);
    // No status is that of a filing's state, so that it is restated in any case.
    return { filingId, sequence: most, status: known === null ? status : '' };
  });
}
