import type { Account } from '../../../src/accounts/account.ts';
import type { PollMode } from '../../../src/polling/schedule/plan.ts';
import { readAgain } from '../../../src/polling/store/missed-read-store.ts';
import { createUnsoundAccounts } from '../../../src/accounts/unsound-accounts.ts';
import { reportHealth } from '../../../src/polling/health.ts';
import { createEventLog, type EventLog } from '../../../src/events/event-log.ts';
import type { RecordedEvent } from '../../../src/filings/observe-filings.ts';
import { createFilingListStore, type FilingListStore } from '../../../src/filings/lists/filing-list-store.ts';
import { createSnapshotStore, type SnapshotStore } from '../../../src/filings/snapshot-store.ts';
import { toDueRules, type ReadDueRules } from '../../../src/filings/detection/due-dates.ts';
import { createTriageStore, type TriageStore } from '../../../src/filings/triage-store.ts';
import { createPartnerClient } from '../../../src/partner/partner-client.ts';
import { createPatientClient } from '../../../src/partner/patient-client.ts';
import { createRequestBudget } from '../../../src/partner/request-budget.ts';
import { leased, pollAccount, type PolledAccount } from '../../../src/polling/poll.ts';
import { createBodyAllowance } from '../../../src/filings/body-allowance.ts';
import type { PollOutcome } from '../../../src/polling/poll-outcome.ts';
import { createLateSearch } from '../../../src/polling/schedule/late-filings.ts';
import { createPollingStore, type PollingStore } from '../../../src/polling/store/polling-store.ts';
import { createRedisClock, type Clock } from '../../../src/redis/clock.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import type { RedisClient } from '../../../src/redis/connection/connect.ts';
import type { HostilePartner } from './hostile-partner.ts';

/** The parts of an event's body that detection's tests look at. */
export interface SeenEvent {
  readonly id: string;
  readonly type: string;
  readonly filingId: string;
  readonly status: string;
  readonly previousStatus: string | null;
  readonly rejectionReason: string | null;
  readonly completedAt: string | null;
  readonly sequence: number;
  readonly changed: readonly string[];
  readonly inferred: boolean;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly filing: unknown;
  readonly omitted: unknown;
  readonly doubt: unknown;
  readonly stalled: unknown;
  readonly due: unknown;
  readonly dueAt: unknown;
  /** Milliseconds. */
  readonly timestamp: number;
}

/** One account of a partner service as a poller of its own sees it. */
export interface WatchedAccount {
  readonly account: string;
  readonly snapshot: SnapshotStore;
  readonly polling: PollingStore;
  readonly log: EventLog;
  readonly filings: FilingListStore;
  readonly triage: TriageStore;
  readonly readDueRules: ReadDueRules;
  readonly clock: Clock;
  /** One poll, which does not wait for a backoff unless `scheduled`. */
  poll(
    mode?: PollMode,
    options?: { readonly signal?: AbortSignal; readonly scheduled?: boolean; readonly newSettings?: boolean },
  ): Promise<PollOutcome>;
  /** `poll` in a millisecond of its own, followed by what it has appended to the log. */
  pollFor(mode?: PollMode): Promise<SeenEvent[]>;
  /** The whole log. */
  events(): Promise<SeenEvent[]>;
  /** Events handed to delivery so far. */
  readonly handed: RecordedEvent[];
  readonly quarantined: number[];
}

export interface WatchOptions {
  readonly account?: string;
  readonly pollIntervalMs?: number;
  readonly sweepIntervalMs?: number;
  /** Default 1, so that delta polls read less than everything as soon as anything is known. */
  readonly largeFrom?: number;
  readonly timeoutMs?: number;
  readonly maxRps?: number;
  readonly concurrency?: number;
  readonly random?: () => number;
  /** One to share with others; by default an own one, synchronised with Redis. */
  readonly clock?: Clock;
  /** Begins sweeps in jobs of their own; by default a poll makes the sweep that it finds due. */
  readonly beginSweep?: (asked: boolean) => Promise<void>;
  /** Gives places for large reads; by default there is always one. */
  readonly tryTakePlace?: () => (() => void) | null;
  /** Default 256 KiB. */
  readonly filingBytesMax?: number;
  /** False: failed and refused requests are not repeated within a poll. */
  readonly retries?: boolean;
  /** ISO 8601 durations by status; default none. */
  readonly stalledAfter?: Account['stalledAfter'];
  /** ISO 8601 durations by state; default none. */
  readonly due?: Readonly<Record<string, string>>;
  /** ISO 8601 durations; default those of the daemon. */
  readonly dueWarnings?: readonly string[];
}

/**
 * A poller of an account over stores with a prefix. Two of them with one name are two daemons on one account.
 */
export async function watchAccount(
  redis: RedisClient,
  prefix: string,
  partner: Pick<HostilePartner, 'baseUrl' | 'key'>,
  options: WatchOptions = {},
): Promise<WatchedAccount> {
  const name = options.account ?? 'acme';
  const account = {
    account: name,
    incarnation: '',
    pollIntervalMs: options.pollIntervalMs ?? 60_000,
    sweepIntervalMs: options.sweepIntervalMs ?? 3_600_000,
    createdAt: Date.now(),
    stalledAfter: options.stalledAfter ?? null,
    due: options.due ?? null,
    dueWarnings: options.dueWarnings ?? null,
  };
  const keys = createKeys(prefix);
  const clock = options.clock ?? createRedisClock(redis);
  if (options.clock === undefined) await clock.synchronise();
  const polling = createPollingStore(redis, keys);
  const readDueRules: ReadDueRules = async () => toDueRules(account);
  const snapshot = createSnapshotStore(redis, keys, {
    readDueRules,
    onRestored: ({ restated }, generation) =>
      readAgain({ polling, now: clock.now }, name, generation, restated),
  });
  const log = createEventLog(redis, keys);
  const random = options.random ?? Math.random;
  const handed: RecordedEvent[] = [];
  const quarantined: number[] = [];
  const budget = createRequestBudget({
    maxRps: options.maxRps ?? 100_000,
    concurrency: options.concurrency ?? 4,
  });
  const client = createPartnerClient({
    baseUrl: partner.baseUrl,
    partnerKey: partner.key,
    timeoutMs: options.timeoutMs ?? 2_000,
    budget: options.retries === false ? { ...budget, pace: () => ({ ...budget.pace(), share: 0 }) } : budget,
    clock,
    random: () => 0,
    onRequest: () => undefined,
  });
  const { beginSweep } = options;
  const filings = createFilingListStore(redis, keys);
  const triage = createTriageStore(redis, keys);
  const deps = {
    snapshot,
    polling,
    now: clock.now,
    clock,
    random,
    differences: new Map(),
    bodies: createBodyAllowance(),
    late: createLateSearch({ filings }),
    largeFrom: options.largeFrom ?? 1,
    filingBytesMax: options.filingBytesMax ?? 262_144,
    tryTakePlace: options.tryTakePlace ?? (() => () => undefined),
    ...(beginSweep === undefined
      ? {}
      : { beginSweep: (_account: string, asked: boolean) => beginSweep(asked) }),
    whileReading: <T>(_account: PolledAccount, read: () => Promise<T>) => read(),
    waitedForTurnMs: budget.waitedForTurnMs,
    handOn: async (_account: string, events: readonly RecordedEvent[]) => void handed.push(...events),
    onQuarantined: (_account: string, records: number) => void quarantined.push(records),
    unreadable: () => '',
  };

  const events = async (): Promise<SeenEvent[]> => {
    const entries = await log.load(name, await log.outlineAfter(name, 0, 1_000_000));
    return entries.flatMap((entry) => (entry === null ? [] : toSeenEvent(entry)));
  };
  const watched: WatchedAccount = {
    account: name,
    snapshot,
    polling,
    log,
    filings,
    triage,
    readDueRules,
    clock,
    async poll(mode = 'delta', { signal, scheduled = false, newSettings = false } = {}) {
      let sent = 0;
      const counting = client.counting(() => (sent += 1));
      const patient =
        options.retries === false
          ? counting
          : createPatientClient({ client: counting, budget, random, onRest: async () => undefined });
      const ended = await pollAccount(
        deps,
        account,
        { mode, asked: !scheduled, newSettings, client: patient, requestsSent: () => sent },
        signal ?? new AbortController().signal,
      );
      if (ended === leased) throw new Error('no lease is asked for');
      const { outcome, marks } = ended;
      const unsound = createUnsoundAccounts(redis, keys);
      await reportHealth({ polling, unsound, clock }, account, outcome, marks);
      return outcome;
    },
    async pollFor(mode) {
      // Polls are told apart by the millisecond in which they begin.
      const former = clock.now();
      while (clock.now() === former) await new Promise(setImmediate);
      const before = (await events()).length;
      await watched.poll(mode);
      return (await events()).slice(before);
    },
    events,
    handed,
    quarantined,
  };
  return watched;
}

function toSeenEvent({ id, body }: { id: string; body: Buffer }): SeenEvent {
  const { type, timestamp, data } = JSON.parse(body.toString()) as {
    type: string;
    timestamp: string;
    data: SeenEvent & { observed?: { notBefore: string; notAfter: string } };
  };
  return {
    ...data,
    id,
    type,
    timestamp: Date.parse(timestamp),
    notBefore: Date.parse(data.observed?.notBefore ?? ''),
    notAfter: Date.parse(data.observed?.notAfter ?? ''),
  };
}
