import type { Account, KeyedAccount } from '../accounts/account.ts';
import type { AccountStore } from '../accounts/account-store.ts';
import type { UnsoundAccounts } from '../accounts/lists/unsound-accounts.ts';
import type { StayReads } from '../filings/stay-reads.ts';
import type { RecordedEvent } from '../filings/observe-filings.ts';
import { SnapshotLostError } from '../filings/commit/commit-writer.ts';
import type { SnapshotStore } from '../filings/snapshot-store.ts';
import type { PartnerError } from '../partner/partner-error.ts';
import { createPatientClient } from '../partner/patient-client.ts';
import type { Clock } from '../redis/clock.ts';
import {
  failureOf,
  toUnreadable,
  type OnUnreadable,
  type UnreadableError,
} from '../redis/unreadable-record.ts';
import type { DoubtLimits } from './doubt/doubt-policy.ts';
import { largeAccountFilings } from './schedule/plan.ts';
import { pollAccount, type MeasuredPoll } from './poll.ts';
import { describeError, type PollOutcome } from './poll-outcome.ts';
import type { PollJob } from './schedule/poll-queue.ts';
import type { MarksUpdate } from './store/marks.ts';
import type { PollingStore } from './store/polling-store.ts';
import type { PartnerConnection, PartnerConnections } from './partner-connections.ts';
import { healthState, reportHealth, staleAfterMs, type PollNews } from './health.ts';
import { createStalledSearch, type StalledSearch } from './schedule/stalled-filings.ts';
import { isSealError } from './service-search.ts';
import { meanwhile, withUpkeep } from './upkeep.ts';

/** One poll with its measurements, for logs and metrics. */
export interface PollReport extends MeasuredPoll {
  readonly account: string;
}

export interface AccountPollerDeps {
  readonly accounts: AccountStore;
  readonly snapshot: SnapshotStore;
  readonly polling: PollingStore;
  readonly unsound: Pick<UnsoundAccounts, 'note'>;
  readonly stays: StayReads;
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
   * many minutes. `failure` is the unreadable record that ended the poll, to be mended or reported.
   */
  readonly upkeep: (account: string, failure: UnreadableError | null) => Promise<void>;
  readonly upkeepMs: number;
  /** An upkeep that failed while a poll goes on. */
  readonly onError: (error: Error) => void;
  /** Records of a list that are no filings: their number, and the names of a few. */
  readonly onQuarantined: (account: string, records: number, examples: readonly string[]) => void;
  readonly onPoll: (report: PollReport) => void;
  /** Called when the account's own record cannot be read; the account is not polled. */
  readonly onUnreadable: OnUnreadable;
  /** Called when the account of a job is gone; nothing more is to be scheduled for it. */
  readonly onUnknownAccount: (account: string) => Promise<void>;
}

// Milliseconds of a rest from which on it is noted; shorter ones belong to finding the pace.
const notedRestMs = 5_000;
// Maximum number of large reads at once; a process keeps its other polls for short ones.
const largeReadsMax = 100;

/**
 * Polls accounts by name, with one client and request budget per account. Resolves to false when no place for
 * the poll was free and nothing was read.
 */
export function createAccountPoller(
  deps: AccountPollerDeps,
): (job: PollJob, signal: AbortSignal) => Promise<boolean> {
  const { partners } = deps;
  // For each that has been polled with since it was made: which filings that stay were looked at.
  const polled = new WeakMap<PartnerConnection, StalledSearch>();
  const tryTakePlace = createPlaces(largeReadsMax);

  return async (job, signal) => {
    const [account] = await Promise.all([findAccount(job.account), deps.clock.synchronise()]);
    if (account instanceof Error) return true;
    if (account === null) {
      await forget(job.account);
      return true;
    }
    const { upkeepMs, onError } = deps;
    let failure: UnreadableError | null = null;
    return withUpkeep(
      () => deps.upkeep(job.account, failure),
      { everyMs: upkeepMs, onError },
      async () => {
        try {
          return await pollKnown(account, job, signal);
        } catch (error) {
          failure = toUnreadable(error);
          if (failure === null) throw error;
          return true;
        }
      },
    );
  };

  async function findAccount(name: string): Promise<KeyedAccount | Error | null> {
    try {
      return await deps.accounts.getKeyed(name);
    } catch (error) {
      if (isSealError(error)) await noteSealed(name, error);
      const unreadable = toUnreadable(error);
      if (unreadable === null) throw error;
      const { key, field } = 'key' in unreadable ? unreadable : { key: 'accounts', field: name };
      const reason = unreadable.message;
      deps.onUnreadable({ account: name, kind: 'accounts', key, field, reason, remedy: 'stands' });
      return unreadable;
    }
  }

  // Without its key an account is not polled. Its health says why, and it becomes stale as any other.
  async function noteSealed(name: string, { message }: Error): Promise<void> {
    const account = await deps.accounts.get(name);
    if (account === null) return;
    await note(account, { lastError: message });
    await tellHealth(account, { kind: 'waiting' }).catch(unlessLost);
  }

  async function pollKnown(account: KeyedAccount, job: PollJob, signal: AbortSignal): Promise<boolean> {
    try {
      const { kind } = await pollAndReport(account, job, signal);
      return kind !== 'no_place';
    } catch (error) {
      if (!(error instanceof SnapshotLostError)) throw error;
      // The account was removed, or emptied and begun anew, while it was polled: the reads are void.
      if (!(await deps.accounts.exists(job.account))) await forget(job.account);
      return true;
    }
  }

  async function forget(account: string): Promise<void> {
    partners.forget(account);
    await deps.polling.forgetPolled(account);
    await deps.onUnknownAccount(account);
  }

  async function pollAndReport(
    account: KeyedAccount,
    job: PollJob,
    signal: AbortSignal,
  ): Promise<PollOutcome> {
    const connection = partners.of(account);
    const isNew = !polled.has(connection);
    const stalled = polled.get(connection) ?? createStalledSearch(deps);
    polled.set(connection, stalled);
    if (isNew) await deps.polling.notePolled({ ...account, at: account.createdAt }, { onlyFirst: true });
    const startedAt = performance.now();
    const sentBefore = connection.requestsSent();
    const now = deps.clock.now;
    const request = { mode: job.mode, asked: job.asked, newSettings: isNew };
    const outcome = await pollAccount(
      {
        ...deps,
        ...connection,
        stalled,
        waitedForTurnMs: connection.budget.waitedForTurnMs,
        handOn,
        client: createPatientClient({
          ...deps,
          ...connection,
          onRest: (refusal, ms) => noteRest(account, refusal, ms),
        }),
        now,
        tryTakePlace,
        largeFrom: largeAccountFilings,
        whileReading: (read) => notingLate(account, connection, read),
        onPollInBetween: (poll) => report(account, poll),
      },
      account,
      request,
      signal,
    );
    const durationMs = performance.now() - startedAt;
    await report(account, { outcome, durationMs, requests: connection.requestsSent() - sentBefore });
    return outcome;
  }

  async function handOn(account: string, events: readonly RecordedEvent[]): Promise<void> {
    deps.onEvents(account, events);
    await failureOf(() => deps.wakeMatching(account, events));
  }

  // The wait that a failure asks for is not age.
  function timeOf({ outcome, durationMs }: MeasuredPoll): number {
    const now = deps.clock.now();
    return Math.round(outcome.kind === 'failed' ? now + outcome.retryInMs : now - durationMs);
  }

  // A poll that goes on is late as well: its account is not to look healthy until it ends.
  function notingLate<T>(
    account: KeyedAccount,
    { budget: { waitedForTurnMs } }: PartnerConnection,
    read: () => Promise<T>,
  ): Promise<T> {
    const { upkeepMs, onError } = deps;
    const waitedBefore = waitedForTurnMs();
    const begunAt = performance.now();
    const everyMs = Math.min(upkeepMs, staleAfterMs(account.pollIntervalMs));
    const upkeep = () => noteLate(account, waitedForTurnMs() - waitedBefore, performance.now() - begunAt);
    return meanwhile(upkeep, { everyMs, onError }, read);
  }

  async function noteLate(account: KeyedAccount, waitedMs: number, takenMs: number): Promise<void> {
    const isOverBudget = waitedMs > account.pollIntervalMs;
    if (isOverBudget) await note(account, { budgetWaitMs: Math.round(waitedMs) });
    else await noteLongPoll(account, takenMs);
    await tellHealth(account, { kind: 'waiting' }).catch(unlessLost);
  }

  async function noteLongPoll(account: KeyedAccount, takenMs: number): Promise<void> {
    const { pollIntervalMs, createdAt } = account;
    const marks = await deps.polling.read(account.account);
    const state = healthState(marks, pollIntervalMs, createdAt, deps.clock.now());
    if (state !== 'stale' || marks.lastError !== '') return;
    const seconds = Math.round(takenMs / 1_000);
    await note(account, { lastError: `the poll under way has taken ${seconds} s and has not ended` });
  }

  // The operator sees why the poll rests for long. The marks at its end overwrite it.
  async function noteRest(account: KeyedAccount, refusal: PartnerError, waitMs: number): Promise<void> {
    if (waitMs < notedRestMs) return;
    const lastError = `${describeError(refusal)}; the poll goes on after ${Math.round(waitMs / 1_000)} s`;
    await note(account, { lastError });
  }

  async function note({ account }: Account, marks: MarksUpdate): Promise<void> {
    const { generation } = await deps.polling.read(account);
    await deps.polling.write(account, generation, marks, 0).catch(unlessLost);
  }

  async function tellHealth(account: Account, news: PollNews): Promise<void> {
    const reported = await reportHealth({ ...deps, now: deps.clock.now }, account, news);
    if (reported !== null) await handOn(account.account, [reported]);
  }

  async function report(account: KeyedAccount, poll: MeasuredPoll): Promise<void> {
    const { outcome } = poll;
    await tellHealth(account, outcome);
    if (isNothingRead(outcome)) return;
    await deps.polling.notePolled({ ...account, at: timeOf(poll) });
    deps.onPoll({ ...poll, account: account.account });
  }
}

// The poll finds it too.
function unlessLost(error: unknown): void {
  if (!(error instanceof SnapshotLostError)) throw error;
}

function isNothingRead({ kind }: PollOutcome): boolean {
  return kind === 'backing_off' || kind === 'early' || kind === 'no_place';
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
