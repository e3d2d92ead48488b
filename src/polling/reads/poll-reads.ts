import {
  observeFilings,
  type ObservationContext,
  type Observed,
  type RecordedEvent,
} from '../../filings/observe-filings.ts';
import type { Observation } from '../../filings/detection/decide-commit.ts';
import type { SnapshotStore } from '../../filings/snapshot-store.ts';
import type { PartnerClient } from '../../partner/partner-client.ts';
import type { ReadSpan } from '../../partner/read-span.ts';
import type { PartnerError } from '../../partner/partner-error.ts';
import type { Clock } from '../../redis/clock.ts';
import { createCarefulReads } from '../doubt/careful-reads.ts';
import { isHeldBack } from '../doubt/doubt.ts';
import type { DoubtLimits } from '../doubt/doubt-policy.ts';
import { createFilingReader } from './filing-reader.ts';
import { createIdSet, type IdSet } from '../list/id-set.ts';
import { readIdentity } from '../doubt/identity.ts';
import { knownUntil } from '../beliefs/not-before.ts';
import { createListGuard, type ListGuard } from '../doubt/list-guard.ts';
import { scanList, type ScanRequest, type ScanResult } from '../list/list-scan.ts';
import { createMissRecord } from './miss-record.ts';
import { isRetryDue, type Miss } from '../beliefs/missed-reads.ts';
import { createPageObserver } from './page-observer.ts';
import type { PollingMarks } from '../store/marks.ts';
import type { PollingStore } from '../store/polling-store.ts';
import { createListing, unlessRefused, type RefusedLists } from '../list/refused-lists.ts';
import { splitSights } from '../list/repeated-rows.ts';

/** What the reads of one poll need. */
export interface PollRunDeps {
  readonly client: PartnerClient;
  readonly snapshot: SnapshotStore;
  readonly polling: PollingStore;
  readonly refused: RefusedLists;
  /** Maximum bytes of a filing, as JSON, that its events carry. */
  readonly filingBytesMax: number;
  /** From where on what a poll has found is doubted. */
  readonly doubtLimits: DoubtLimits;
  readonly random: () => number;
  readonly now: () => number;
  readonly clock: Clock;
  /**
   * Reports events and wakes the subscriptions that want them, as soon as a read has put them into the log:
   * delivery does not wait for the poll's end.
   */
  readonly handOn: (account: string, events: readonly RecordedEvent[]) => Promise<void>;
  readonly onQuarantined: (account: string, records: number) => void;
}

/** What one poll works with. */
export interface PollRunInput {
  readonly account: {
    readonly account: string;
    readonly pollIntervalMs: number;
    readonly sweepIntervalMs: number;
  };
  readonly marks: PollingMarks;
  /** Number of known filings, removed ones left out, before the poll. */
  readonly known: number;
  /**
   * Known filings that could not be read, as they stood after the marks were read; kept up to date by this
   * run.
   */
  readonly misses: Map<string, Miss>;
  /** Start of the poll, before its first read. */
  readonly startedAt: number;
  readonly signal: AbortSignal;
  /** True when the poll reads once more what it has found to be the account's own. */
  readonly isTrusted?: boolean;
  /** Events that the poll has put into the log before that. */
  readonly eventsBefore?: number;
  /** Between two reads of a long poll: something else that is due, or null. */
  readonly interlude: () => (() => Promise<void>) | null;
}

/** The first page of a list, or another single one. */
export interface PageRead {
  readonly total: number | null;
  readonly length: number;
  readonly ids: readonly string[];
  /** True when it held filings in another status than the one asked for. */
  readonly strayed: boolean;
  /** Filings on it that were never seen before. */
  readonly added: number;
}

/** The reads of one poll; each compares what it read with the snapshot before it resolves. */
export interface PollRun {
  readonly account: string;
  readonly startedAt: number;
  readonly marks: PollingMarks;
  /** Intervals of the account, milliseconds. */
  readonly pollIntervalMs: number;
  readonly sweepIntervalMs: number;
  /** Number of known filings before the poll. */
  readonly knownBefore: number;
  /** What keeps the poll from telling what it has read of lists that are not the account's own. */
  readonly guard: ListGuard;
  /** Reads a whole list, or the part of it in one status. */
  readList(request: ScanRequest): Promise<ScanResult>;
  readPage(offset: number, status?: string): Promise<PageRead>;
  /** Ids on any page that this run has read, those of records that cannot be read included. */
  readonly shown: IdSet;
  /**
   * Whether the service has refused the list of a status within the sweep interval: reading it rejects with
   * that refusal.
   */
  isRefused(status: string): boolean;
  /**
   * The service's count of filings in a status, or of all; null when it gives none or refuses that list. One
   * request.
   */
  countOf(status?: string): Promise<number | null>;
  /** Reads filings one by one. */
  readFilings(ids: readonly string[]): Promise<void>;
  /**
   * Removes filings that answered 404 on two polls, while the account itself answers, unless that is doubted.
   */
  removeAbsent(): Promise<void>;
  /** Of the ids on record as missed, those to be asked for now. */
  dueMisses(): string[];
  /** Number of known filings, removed ones left out. */
  known(): Promise<number>;
  /** Filings found removed since the run began, by whomever: this run may have shown them before. */
  removed(): Promise<number>;
  /** What the run has come to so far. */
  tally(): RunTally;
}

export interface RunTally {
  /** Events put into the log. */
  readonly events: number;
  /** Filings never seen before. */
  readonly added: number;
  /** Known filings that could not be read. */
  readonly unread: number;
  /** Known filings that the service did not know when last asked for, but not often enough to be removed. */
  readonly gone: number;
  /** Second 404s of this poll that wait for `removeAbsent`. */
  readonly absent: number;
  /** The last failure that did not end the poll; null when there was none. */
  readonly failure: PartnerError | null;
  /**
   * True when a read met a newer one by somebody who started before this run: then it proves nothing about
   * its time.
   */
  readonly overtaken: boolean;
}

const pageSize = 100;
const nothingObserved: Observed = { events: [], added: 0, overtakenBy: Infinity, held: [] };

/** Prepares the reads of one poll of an account. */
export function createPollRun(deps: PollRunDeps, input: PollRunInput): PollRun {
  const { marks, misses, startedAt, signal } = input;
  const { account } = input.account;
  const shown = createIdSet();
  const { listFilings, isRefused } = createListing({ ...deps, forMs: input.account.sweepIntervalMs });
  let events = input.eventsBefore ?? 0;
  let added = 0;
  let overtaken = false;
  let failure: PartnerError | null = null;
  const record = createMissRecord({ ...deps, input });
  const context: Omit<ObservationContext, 'announces'> = {
    account,
    generation: marks.generation,
    filingBytesMax: deps.filingBytesMax,
    knownUntil: (id, previous, document) => knownUntil(marks, misses.get(id), previous, document),
  };

  async function observe(
    observations: readonly Observation[],
    span: ReadSpan,
    announces: (id: string) => boolean = () => marks.baselined,
    holdsBack: (known: number, unknown: number) => boolean = () => guard.keepsBack(),
  ): Promise<Observed> {
    if (guard.isClosed()) return nothingObserved;
    const told = { ...context, announces, holdsBack };
    const observed = await observeFilings(deps, told, observations, span);
    events += observed.events.length;
    added += observed.added;
    overtaken ||= observed.overtakenBy < startedAt;
    if (observed.events.length > 0) await deps.handOn(account, observed.events);
    if (misses.size > 0)
      await record.forget(observations.filter(({ filing }) => filing !== null).map(({ id }) => id));
    return observed;
  }

  const guard = createListGuard({
    limits: deps.doubtLimits,
    marks,
    known: input.known,
    isTrusted: input.isTrusted === true,
    gone: record.gone,
    askAccount: () => readIdentity(deps.client, signal),
  });

  const reader = createFilingReader({
    client: deps.client,
    input,
    now: deps.now,
    observe,
    ...record,
    knownUntil: async (id) => {
      const [stored] = await deps.snapshot.read(account, [id]);
      const state = stored?.known ?? null;
      return state === null || (state.removed && state.restate !== true)
        ? null
        : knownUntil(marks, misses.get(id), state, null);
    },
    witness: () => pages.witness(),
    noteAccount: guard.noteAccount,
  });

  const reads = createCarefulReads({
    ...deps,
    reader,
    guard,
    misses,
    isHeldBack: isHeldBack(marks),
    observe,
    forget: record.forget,
  });

  const pages = createPageObserver({
    ...deps,
    account,
    marks,
    signal,
    guard,
    commit: observe,
    readFilings: reader.read,
    ...record,
  });

  async function readPage(offset: number, limit: number, status?: string): Promise<PageRead> {
    const query = { offset, limit, ...(status === undefined ? {} : { status }) };
    const fetched = await listFilings(query, signal);
    const { total, length, filings, quarantined } = fetched.page;
    const sights = splitSights(filings, shown.add);
    for (const name of quarantined) shown.add(name);
    const fresh = await pages.observe({ ...fetched, sights }, status);
    const strayed = status !== undefined && filings.some((filing) => filing.status !== status);
    return { total, length, ids: filings.map(({ id }) => id), strayed, added: fresh };
  }

  return {
    account,
    startedAt,
    marks,
    pollIntervalMs: input.account.pollIntervalMs,
    sweepIntervalMs: input.account.sweepIntervalMs,
    knownBefore: input.known,
    guard,
    async readList(request) {
      const result = await scanList(
        {
          fetchPage: (query, onArrival) => listFilings(query, signal, onArrival),
          onPage: async (seen) => void (await pages.observe(seen, request.status)),
          shown,
          interlude: input.interlude,
        },
        request,
      );
      failure = result.failure ?? failure;
      if (result.quarantined.size > 0) deps.onQuarantined(account, result.quarantined.size);
      return result;
    },
    readPage: (offset, status) => readPage(offset, pageSize, status),
    isRefused,
    async countOf(status) {
      if (status === undefined) return (await readPage(0, 1)).total;
      return (await unlessRefused(readPage(0, 1, status)))?.total ?? null;
    },
    readFilings: reads.read,
    removeAbsent: reads.removeAbsent,
    shown,
    dueMisses: () => [...misses].filter(([, miss]) => isRetryDue(miss, deps.now())).map(([id]) => id),
    known: () => deps.snapshot.known(account),
    removed: async () => Math.max(0, (await deps.polling.read(account)).removals - marks.removals),
    tally: () => ({
      events,
      added,
      unread: reader.unread(),
      gone: record.gone(),
      absent: reader.absent(),
      failure: reader.failure() ?? failure,
      overtaken,
    }),
  };
}
