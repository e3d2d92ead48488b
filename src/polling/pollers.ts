import type { KeyedAccount } from '../accounts/account.ts';
import type { AccountStore } from '../accounts/account-store.ts';
import type { FilingListStore } from '../filings/lists/filing-list-store.ts';
import { SnapshotLostError } from '../filings/commit/commit-writer.ts';
import { createPatientClient } from '../partner/patient-client.ts';
import type { Clock } from '../redis/clock.ts';
import { unlessUnreadable, type ReportStanding } from '../redis/unreadable-record.ts';
import { largeAccountFilings } from './schedule/plan.ts';
import { leased, pollAccount, type PollAccountDeps } from './poll.ts';
import type { Looks } from './looks.ts';
import { createPollNotes, type PollNotesDeps } from './poll-notes.ts';
import { createPollReports, type PollReportsDeps } from './poll-reports.ts';
import type { ReadDeps } from './reads/poll-input.ts';
import type { PollJob } from './schedule/poll-queue.ts';
import type { Poll, PollEnd } from './schedule/poll-worker.ts';
import type { PollLease } from './store/lease-store.ts';
import type { PollingStore } from './store/polling-store.ts';
import type { PartnerConnection, PartnerConnections } from './partner-connections.ts';
import { createLateSearch } from './schedule/late-filings.ts';
import { isSealError } from './ask-service.ts';
import { meanwhile } from './upkeep.ts';

export interface AccountPollerDeps
  extends
    PollReportsDeps,
    Omit<PollNotesDeps, 'reportHealth'>,
    Pick<ReadDeps, 'snapshot' | 'polling' | 'clock' | 'random' | 'filingBytesMax' | 'onQuarantined'>,
    Pick<PollAccountDeps, 'unreadable' | 'beginSweep'> {
  readonly polling: PollingStore;
  readonly clock: Clock;
  readonly accounts: AccountStore;
  readonly filings: Pick<FilingListStore, 'walk' | 'getAll'>;
  /** The clients of the accounts; a search may share them. */
  readonly partners: PartnerConnections;
  /**
   * Called after every poll, however it ended, and every `upkeepMs` during a poll, because a sweep may take
   * many minutes.
   */
  readonly upkeep: (account: string) => Promise<void>;
  /** Called when a record cannot be read without which the account is not polled. */
  readonly reportStanding: ReportStanding;
  /** Looks at accounts between their polls; null if that is switched off. */
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
  const { clock, looks, partners, polling, upkeepMs, onError } = deps;
  const reports = createPollReports(deps);
  const notes = createPollNotes({ ...deps, reportHealth: reports.health });
  // The dependencies that all polls of an account share, from its first poll over this connection on.
  const shared = new WeakMap<PartnerConnection, PollAccountDeps>();
  const tryTakePlace = createPlaces(largeReadsMax);

  return async (job, signal, lease) => {
    const [account] = await Promise.all([find(job.account), clock.synchronise(clockAgeMs)]);
    if (account instanceof Error) return 'polled';
    if (account === null) {
      await forget(job.account);
      return 'gone';
    }
    const upkeep = () => deps.upkeep(job.account);
    try {
      return await meanwhile(upkeep, { everyMs: upkeepMs, onError }, () =>
        pollKnown(account, job, signal, lease),
      );
    } catch (error) {
      const unreadable = await deps.reportStanding(job.account, error);
      if (unreadable === null) throw error;
      // The marks may be what cannot be read: the API names them then.
      await unlessUnreadable(() => notes.unpolled(account, unreadable));
      return 'polled';
    } finally {
      await upkeep();
    }
  };

  // Null: the account is gone. An error, which was reported: its record cannot be read.
  async function find(name: string): Promise<KeyedAccount | Error | null> {
    try {
      return await deps.accounts.getKeyed(name);
    } catch (error) {
      const sealed = isSealError(error) ? await deps.accounts.get(name) : null;
      if (sealed !== null) await notes.unpolled(sealed, error as Error);
      const unreadable = await deps.reportStanding(name, error);
      if (unreadable === null) throw error;
      return unreadable;
    }
  }

  async function forget(account: string): Promise<void> {
    partners.forget(account);
    looks?.stop(account);
    await polling.forgetPolled(account);
    await deps.onUnknownAccount(account);
  }

  async function pollKnown(account: KeyedAccount, job: PollJob, ...rest: Rest): Promise<PollEnd> {
    try {
      return await pollAndReport(account, job, ...rest);
    } catch (error) {
      if (!(error instanceof SnapshotLostError)) throw error;
      // The account was removed, or emptied and begun anew, while it was polled: the reads are void.
      if (await deps.accounts.exists(job.account)) return 'polled';
      await forget(job.account);
      return 'gone';
    }
  }

  async function pollAndReport(
    account: KeyedAccount,
    { mode, asked }: PollJob,
    ...[signal, lease]: Rest
  ): Promise<PollEnd> {
    const connection = partners.of(account);
    const former = shared.get(connection);
    const pollDeps = former ?? share(connection);
    if (former === undefined) await polling.noteUnpolled({ account: account.account, at: account.createdAt });
    const startedAt = performance.now();
    let requests = 0;
    const counting = connection.client.counting(() => (requests += 1));
    // A sweep goes on beside the polls by delta, and the looks between them.
    const watched = mode === 'delta' ? looks?.poll(account, connection) : undefined;
    const client = createPatientClient({
      client: watched?.watching(counting) ?? counting,
      budget: connection.budget,
      random: deps.random,
      onRest: (refusal, ms) => notes.rest(account, refusal, ms),
    });
    const request = { mode, asked, newSettings: former === undefined, client, requestsSent: () => requests };
    const leasing = lease === undefined ? request : { ...request, lease };
    const ended = await pollAccount(pollDeps, account, leasing, signal);
    if (ended === leased) return leased;
    const { outcome, marks } = ended;
    await reports.ended(account, { outcome, durationMs: performance.now() - startedAt, requests }, marks);
    watched?.ended(ended, asked);
    return outcome.kind === 'no_place' ? 'no_place' : 'polled';
  }

  function share(connection: PartnerConnection): PollAccountDeps {
    const { waitedForTurnMs } = connection.budget;
    const made: PollAccountDeps = {
      ...deps,
      ...connection,
      waitedForTurnMs,
      late: createLateSearch(deps),
      handOn: reports.handOn,
      now: clock.now,
      tryTakePlace,
      largeFrom: largeAccountFilings,
      whileReading: (account, read) => notes.whileReading(account, waitedForTurnMs, read),
    };
    shared.set(connection, made);
    return made;
  }
}

type Rest = readonly [signal: AbortSignal, lease?: PollLease];

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
