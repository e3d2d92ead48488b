import type { Account, AccountStore } from '../accounts/account-store.ts';
import type { EventLog } from '../events/event-log.ts';
import { SnapshotLostError, type SnapshotStore } from '../filings/snapshot-store.ts';
import type { RecordedEvent } from '../filings/observe-filings.ts';
import { createPartnerClient, type Endpoint, type PartnerClient } from '../partner/partner-client.ts';
import { createRequestBudget } from '../partner/request-budget.ts';
import type { Clock } from '../redis/clock.ts';
import { pollAccount, type PollOutcome } from './poll-account.ts';
import type { Mismatches } from './poll-delta.ts';
import type { PollJob } from './poll-queue.ts';
import type { PollingStore } from './polling-store.ts';
import { reportHealth } from './report-health.ts';

/** One poll with its measurements, for logs and metrics. */
export interface PollReport {
  readonly account: string;
  readonly outcome: PollOutcome;
  readonly durationMs: number;
  readonly requests: number;
  /** Known filings per status after the poll. */
  readonly counts: Readonly<Record<string, number>>;
}

export interface AccountPollerDeps {
  readonly accounts: AccountStore;
  readonly snapshot: SnapshotStore;
  readonly polling: PollingStore;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly random: () => number;
  readonly partner: { readonly timeoutMs: number; readonly maxRps: number; readonly concurrency: number };
  /** Called when events are in the log. */
  readonly onEvents: (account: string, events: readonly RecordedEvent[]) => Promise<void>;
  /** Called after every poll, however it ended. */
  readonly afterPoll: (account: string) => Promise<void>;
  readonly onRequest: (endpoint: Endpoint, code: string) => void;
  readonly onQuarantined: (account: string, records: number) => void;
  readonly onPoll: (report: PollReport) => void;
  /** The account of a job is gone: nothing is to be scheduled for it any more. */
  readonly onUnknownAccount: (account: string) => Promise<void>;
}

/** What the polls of one account share as long as its settings stay. */
interface Connection {
  readonly updatedAt: number;
  readonly client: PartnerClient;
  readonly requestsSent: () => number;
  readonly mismatches: Mismatches;
}

/** Polls accounts by name; keeps one client and request budget per account. */
export function createAccountPoller(
  deps: AccountPollerDeps,
): (job: PollJob, signal: AbortSignal) => Promise<void> {
  const connections = new Map<string, Connection>();

  return async (job, signal) => {
    const account = await deps.accounts.get(job.account);
    if (account === null) {
      connections.delete(job.account);
      return deps.onUnknownAccount(job.account);
    }
    await deps.clock.synchronise();
    const connection = connectionOf(account);
    try {
      await pollAndReport(account, connection, job, signal);
    } catch (error) {
      // Removed while it was polled: what was read of it is void.
      if (!(error instanceof SnapshotLostError) || (await deps.accounts.exists(job.account))) throw error;
    } finally {
      await deps.afterPoll(job.account);
    }
  };

  async function pollAndReport(
    account: Account,
    connection: Connection,
    job: PollJob,
    signal: AbortSignal,
  ): Promise<void> {
    const startedAt = performance.now();
    const sentBefore = connection.requestsSent();
    const request = { mode: job.mode, ignoreBackoff: job.asked };
    const outcome = await pollAccount(
      { ...deps, now: deps.clock.now, ...connection },
      account,
      request,
      signal,
    );
    if (outcome.kind === 'backing_off') return;
    const told = await reportHealth({ ...deps, now: deps.clock.now }, account, outcome);
    if (told !== null) await deps.onEvents(account.account, [told]);
    deps.onPoll({
      account: account.account,
      outcome,
      durationMs: performance.now() - startedAt,
      requests: connection.requestsSent() - sentBefore,
      counts: await deps.snapshot.counts(account.account),
    });
  }

  function connectionOf(account: Account): Connection {
    const known = connections.get(account.account);
    if (known?.updatedAt === account.updatedAt) return known;
    const made = connect(account);
    connections.set(account.account, made);
    return made;
  }

  function connect({ baseUrl, partnerKey, updatedAt }: Account): Connection {
    let sent = 0;
    const client = createPartnerClient({
      baseUrl,
      partnerKey,
      timeoutMs: deps.partner.timeoutMs,
      budget: createRequestBudget(deps.partner),
      clock: deps.clock,
      onRequest(endpoint, code) {
        sent += 1;
        deps.onRequest(endpoint, code);
      },
    });
    return { updatedAt, client, requestsSent: () => sent, mismatches: new Map() };
  }
}
