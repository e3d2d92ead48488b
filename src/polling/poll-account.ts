import type { RecordedEvent } from '../filings/observe-filings.ts';
import type { SnapshotStore } from '../filings/snapshot-store.ts';
import type { PartnerClient } from '../partner/partner-client.ts';
import { PartnerError, type PartnerErrorKind } from '../partner/partner-error.ts';
import { backoffMs } from './backoff-policy.ts';
import { planPoll, type PollMode } from './plan-poll.ts';
import { readDelta, type Mismatches } from './poll-delta.ts';
import { readEverything } from './poll-full.ts';
import { createPollRun } from './poll-run.ts';
import type { PollingMarks, PollingStore } from './polling-store.ts';

/** What one poll came to. */
export type PollOutcome =
  | { readonly kind: 'complete'; readonly mode: PollMode; readonly events: number }
  /** The partner service could not be read to the end; what was read is kept, the next poll waits for `retryInMs`. */
  | {
      readonly kind: 'failed';
      readonly reason: PartnerErrorKind;
      readonly message: string;
      readonly retryInMs: number;
    }
  /** The wait after a failure is not over. */
  | { readonly kind: 'backing_off' };

/** An account as polling needs it. */
export interface PolledAccount {
  readonly account: string;
  readonly pollIntervalMs: number;
  readonly sweepIntervalMs: number;
}

export interface PollAccountDeps {
  readonly client: PartnerClient;
  readonly snapshot: SnapshotStore;
  readonly polling: PollingStore;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  readonly random: () => number;
  readonly onEvents: (account: string, events: readonly RecordedEvent[]) => Promise<void>;
  readonly onQuarantined: (account: string, records: number) => void;
  /** What earlier delta polls of this account could not explain; kept in memory, losing it costs one poll's delay. */
  readonly mismatches: Mismatches;
  /** Requests sent by the account's client so far, retries included. */
  readonly requestsSent: () => number;
}

/**
 * One poll of an account: read what the plan says, compare each page with the snapshot as it comes, and keep the
 * marks. Safe to repeat, to overlap and to break off anywhere. Rejects only when Redis fails,
 * the snapshot is lost (SnapshotLostError) or the signal aborts.
 */
export async function pollAccount(
  deps: PollAccountDeps,
  account: PolledAccount,
  request: { mode: PollMode; ignoreBackoff: boolean },
  signal: AbortSignal,
): Promise<PollOutcome> {
  const startedAt = deps.now();
  const marks = await deps.polling.begin(account.account);
  if (startedAt < marks.backoffUntil && !request.ignoreBackoff) return { kind: 'backing_off' };

  const sentBefore = deps.requestsSent();
  const run = await createPollRun(deps, account.account, marks, startedAt, signal);
  try {
    const { mode, earned } = await read();
    await deps.polling.write(account.account, marks.generation, {
      ...earned,
      ...completed(startedAt),
      ...requests(),
    });
    return { kind: 'complete', mode, events: run.events() };
  } catch (error) {
    if (!(error instanceof PartnerError) || signal.aborted) throw error;
    const failures = marks.consecutiveFailures + 1;
    const retryInMs = backoffMs(failures, account.pollIntervalMs, error.retryAfterMs, deps.random);
    await deps.polling.write(account.account, marks.generation, {
      lastPollAt: startedAt,
      consecutiveFailures: failures,
      backoffUntil: deps.now() + retryInMs,
      lastError: `${error.kind}: ${error.message}`,
      ...requests(),
    });
    return { kind: 'failed', reason: error.kind, message: error.message, retryInMs };
  }

  async function read(): Promise<{ mode: PollMode; earned: Partial<PollingMarks> }> {
    const counts = await deps.snapshot.counts(account.account);
    const plan = planPoll(request.mode, marks, counts, startedAt, account.sweepIntervalMs);
    if (plan.kind === 'delta') {
      const earned = await readDelta(run, deps.snapshot, marks, plan.lists, deps.mismatches);
      if (earned !== 'sweep') return { mode: 'delta', earned };
    }
    return { mode: 'sweep', earned: await readEverything(run, deps.snapshot, marks) };
  }

  function requests(): Partial<PollingMarks> {
    const sent = deps.requestsSent() - sentBefore;
    return { requestsLastPoll: sent, requestsTotal: marks.requestsTotal + sent };
  }
}

function completed(startedAt: number): Partial<PollingMarks> {
  return {
    lastPollAt: startedAt,
    lastCompletePollAt: startedAt,
    consecutiveFailures: 0,
    backoffUntil: 0,
    lastError: '',
  };
}
