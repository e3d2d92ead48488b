import type { Account, KeyedAccount } from '../accounts/account.ts';
import type { AccountStore } from '../accounts/account-store.ts';
import type { UnsoundAccounts } from '../accounts/unsound-accounts.ts';
import type { FilingListStore } from '../filings/lists/filing-list-store.ts';
import type { RecordedEvent } from '../filings/observe-filings.ts';
import { SnapshotLostError } from '../filings/commit/commit-writer.ts';
import type { SnapshotStore } from '../filings/snapshot-store.ts';
import { createPatientClient } from '../partner/patient-client.ts';
import type { Clock } from '../redis/clock.ts';
import { unlessUnreadable, type ReportStanding } from '../redis/unreadable-record.ts';
import type { DoubtLimits } from './beliefs/weigh.ts';
import { largeAccountFilings } from './schedule/plan.ts';
import { leased, pollAccount, type MeasuredPoll } from './poll.ts';
import type { Looks } from './looks.ts';
import { createPollNotes } from './poll-notes.ts';
import type { PollOutcome } from './poll-outcome.ts';
import type { PollJob } from './schedule/poll-queue.ts';
import type { Poll, PollEnd } from './schedule/poll-worker.ts';
import type { PollLease } from './store/lease-store.ts';
import type { PollingMarks } from './store/marks.ts';
import type { PollingStore } from './store/polling-store.ts';
import type { PartnerConnection, PartnerConnections } from './partner-connections.ts';
import { reportHealth, type PollNews } from './health.ts';
import { createStalledSearch, type StalledSearch } from './schedule/stalled-filings.ts';
import { isSealError } from './service-search.ts';
import { withUpkeep } from './upkeep.ts';

/** One poll with its measurements, for logs and metrics. */
export interface PollReport extends MeasuredPoll {
  readonly account: string;
}

export interface AccountPollerDeps {
  readonly accounts: AccountStore;
  readonly snapshot: SnapshotStore;
  readonly polling: PollingStore;
  readonly unsound: Pick<UnsoundAccounts, 'noteAgain'>;
  readonly filings: Pick<FilingListStore, 'walk'>;
  readonly clock: Clock;
  readonly random: () => number;
  /** The clients of the accounts; a search may share them. */
  readonly partners: PartnerConnections;
  /** Maximum bytes of a filing, as JSON, that its events carry. */
  readonly filingBytesMax: number;
  readonly doubtLimits: DoubtLimits;
  /** Called when events are in the log. */
  readonly onEvents: (account: string, events: readonly RecordedEvent[]) => void;
  /**
   * Wakes the subscriptions that want these events. A subscription's unreadable record does not keep a poll
   * from detecting changes.
   */
  readonly wakeMatching: (account: string, events: readonly RecordedEvent[]) => Promise<void>;
  /**
   * Called after every poll, however it ended, and every `upkeepMs` during a poll, because a sweep may take
   * many minutes.
   */
  readonly upkeep: (account: string) => Promise<void>;
  readonly upkeepMs: number;
  /** An upkeep that failed while a poll goes on. */
  readonly onError: (error: Error) => void;
  /** Records left out of a list, as no filings or unreadable: their number, and the names of a few. */
  readonly onQuarantined: (account: string, records: number, examples: readonly string[]) => void;
  readonly onPoll: (report: PollReport) => void;
  /** Called when a record cannot be read without which the account is not polled. */
  readonly reportStanding: ReportStanding;
  /** The account's records that could not be read since the last call, in words; empty without any. */
  readonly unreadable: (account: string) => string;
  /**
   * Begins a sweep of an account in a job of its own, unless one is under way or waits. `asked` as in
   * `PollJob`.
   */
  readonly beginSweep: (account: string, asked: boolean) => Promise<void>;
  /** Looks at accounts between their polls; null where that is switched off. */
  readonly looks: Looks | null;
  /** Called when the account of a job is gone; nothing more is to be scheduled for it. */
  readonly onUnknownAccount: (account: string) => Promise<void>;
}

// Maximum number of large reads at once; a process keeps its other polls for short ones.
const largeReadsMax = 100;

// Milliseconds within which the polls of a process ask only once for Redis's time. A commit asks again.
const clockAgeMs = 250;

/** Polls accounts by name, with one client and request budget per account. */
export function createAccountPoller(deps: AccountPollerDeps): Poll {
  const { partners } = deps;
  // For each that has been polled with since it was made: which filings that stay were looked at.
  const polled = new WeakMap<PartnerConnection, StalledSearch>();
  const tryTakePlace = createPlaces(largeReadsMax);
  const notes = createPollNotes({ ...deps, reportHealth: tellHealth });

  return async (job, signal, lease) => {
    const [account] = await Promise.all([findAccount(job.account), deps.clock.synchronise(clockAgeMs)]);
    if (account instanceof Error) return 'polled';
    if (account === null) {
      await forget(job.account);
      return 'polled';
    }
    const { upkeepMs, onError } = deps;
    return withUpkeep(
      () => deps.upkeep(job.account),
      { everyMs: upkeepMs, onError },
      async () => {
        try {
          return await pollKnown(account, job, signal, lease);
        } catch (error) {
          const unreadable = await deps.reportStanding(job.account, error);
          if (unreadable === null) throw error;
          // The marks may be what cannot be read: the API names them then.
          await unlessUnreadable(() => notes.unpolled(account, unreadable));
          return 'polled';
        }
      },
    );
  };

  async function findAccount(name: string): Promise<KeyedAccount | Error | null> {
    try {
      return await deps.accounts.getKeyed(name);
    } catch (error) {
      if (isSealError(error)) await noteSealed(name, error);
      const unreadable = await deps.reportStanding(name, error);
      if (unreadable === null) throw error;
      return unreadable;
    }
  }

  async function noteSealed(name: string, error: Error): Promise<void> {
    const account = await deps.accounts.get(name);
    if (account !== null) await notes.unpolled(account, error);
  }

  async function pollKnown(account: KeyedAccount, job: PollJob, ...rest: Rest): Promise<PollEnd> {
    try {
      return await pollAndReport(account, job, ...rest);
    } catch (error) {
      if (!(error instanceof SnapshotLostError)) throw error;
      // The account was removed, or emptied and begun anew, while it was polled: the reads are void.
      if (!(await deps.accounts.exists(job.account))) await forget(job.account);
      return 'polled';
    }
  }

  async function forget(account: string): Promise<void> {
    partners.forget(account);
    deps.looks?.stop(account);
    await deps.polling.forgetPolled(account);
    await deps.onUnknownAccount(account);
  }

  async function pollAndReport(
    account: KeyedAccount,
    job: PollJob,
    ...[signal, lease]: Rest
  ): Promise<PollEnd> {
    const connection = partners.of(account);
    const isNew = !polled.has(connection);
    const stalled = polled.get(connection) ?? createStalledSearch(deps);
    polled.set(connection, stalled);
    if (isNew) await deps.polling.noteUnpolled({ account: account.account, at: account.createdAt });
    const startedAt = performance.now();
    let requests = 0;
    const client = connection.client.counting(() => (requests += 1));
    // A sweep goes on beside the polls by delta, and the looks between them.
    const watched = job.mode === 'delta' ? deps.looks?.poll(account, connection) : undefined;
    const now = deps.clock.now;
    const request = { mode: job.mode, asked: job.asked, newSettings: isNew };
    const ended = await pollAccount(
      {
        ...deps,
        ...connection,
        stalled,
        requestsSent: () => requests,
        waitedForTurnMs: connection.budget.waitedForTurnMs,
        handOn,
        client: createPatientClient({
          ...deps,
          ...connection,
          client: watched?.watching(client) ?? client,
          onRest: (refusal, ms) => notes.rest(account, refusal, ms),
        }),
        now,
        tryTakePlace,
        largeFrom: largeAccountFilings,
        whileReading: (read) => notes.whileReading(account, connection, read),
        beginSweep: (asked) => deps.beginSweep(account.account, asked),
      },
      account,
      lease === undefined ? request : { ...request, lease },
      signal,
    );
    if (ended === leased) return leased;
    const { outcome, marks } = ended;
    const durationMs = performance.now() - startedAt;
    await report(account, { outcome, durationMs, requests }, marks);
    watched?.ended(ended, job.asked);
    return outcome.kind === 'no_place' ? 'no_place' : 'polled';
  }

  async function handOn(account: string, events: readonly RecordedEvent[]): Promise<void> {
    deps.onEvents(account, events);
    await unlessUnreadable(() => deps.wakeMatching(account, events));
  }

  // The wait that a failure asks for is not age.
  function timeOf({ outcome, durationMs }: MeasuredPoll): number {
    const now = deps.clock.now();
    return Math.round(outcome.kind === 'failed' ? now + outcome.retryInMs : now - durationMs);
  }

  async function tellHealth(account: Account, news: PollNews, marks: PollingMarks): Promise<void> {
    const reported = await reportHealth({ ...deps, now: deps.clock.now }, account, news, marks);
    if (reported !== null) await handOn(account.account, [reported]);
  }

  async function report(account: KeyedAccount, poll: MeasuredPoll, marks: PollingMarks): Promise<void> {
    const { outcome } = poll;
    await tellHealth(account, outcome, marks);
    if (isNothingRead(outcome)) return;
    deps.polling.notePolled({ account: account.account, at: timeOf(poll) });
    deps.onPoll({ ...poll, account: account.account });
  }
}

type Rest = readonly [signal: AbortSignal, lease?: PollLease];

function isNothingRead({ kind }: PollOutcome): boolean {
  return kind === 'backing_off' || kind === 'early' || kind === 'no_place' || kind === 'left_to_sweep';
}

function createPlaces(max: number): () => (() => void) | null {
  let taken = 0;
  return () => {
    if (taken >= max) return null;
    taken += 1;
    return () => {
      taken -= 1;
    };
  };
}
