import { isoOrNull } from '../json/iso-time.ts';
import { buildOperationalEvent, type NewEvent } from '../events/event.ts';
import { toRecorded, type RecordedEvent } from '../filings/observe-filings.ts';
import { encodeDoubt, isHeldBack, standingDoubt, type Doubt, type StandingDoubt } from './doubt/doubt.ts';
import type { PolledAccount } from './poll.ts';
import type { PollOutcome } from './poll-outcome.ts';
import type { PollingMarks } from './store/marks.ts';
import type { PollingStore } from './store/polling-store.ts';

/** How polling of an account stands (contract, Account health). */
export type HealthState = 'baselining' | 'ok' | 'backing_off' | 'auth_failed' | 'doubtful' | 'stale';

// So many poll intervals without a complete poll, and at least so long, make an account stale.
const staleIntervals = 5;
const staleMsMin = 2_000;

/**
 * The health of an account; pure. An account that has never been polled completely counts from `createdAt`;
 * its baseline may take as long as it needs while nothing fails.
 */
export function healthState(
  marks: PollingMarks,
  pollIntervalMs: number,
  createdAt: number,
  now: number,
): HealthState {
  if (marks.authFailed) return 'auth_failed';
  // Nothing is told until somebody looks at it, whether polls get through meanwhile or not.
  if (isHeldBack(marks)) return 'doubtful';
  const { lastCompletePollAt, lastCompleteEndAt } = marks;
  const lastComplete = Math.max(lastCompletePollAt, lastCompleteEndAt, createdAt);
  // Where polls take long, the next one may too.
  const tookMs = Math.max(0, lastCompleteEndAt - lastCompletePollAt);
  const isLate = now - lastComplete > staleAfterMs(pollIntervalMs) + tookMs;
  if (isLate && (marks.baselined || marks.consecutiveFailures > 0)) return 'stale';
  if (marks.backoffUntil > 0) return 'backing_off';
  return marks.baselined ? 'ok' : 'baselining';
}

/**
 * After how many milliseconds without a complete poll an account counts as stale, beside the time that a poll
 * takes.
 */
export function staleAfterMs(pollIntervalMs: number): number {
  return Math.max(staleIntervals * pollIntervalMs, staleMsMin);
}

/** What changed about an account's health with one poll; null when nothing that anybody is told. */
export type HealthChange =
  'account.auth_failed' | 'account.doubtful' | 'account.stale' | 'account.recovered' | null;

/**
 * Decides what to tell after a poll, or a tick that had to wait; pure. `marks` are those after it, with the
 * flags from before.
 */
export function healthChange(
  marks: PollingMarks,
  outcome: PollOutcome,
  pollIntervalMs: number,
  createdAt: number,
  now: number,
): HealthChange {
  const standing = standingDoubt(marks);
  if (outcome.kind === 'doubtful')
    return isTold(standing, outcome.doubt) && !marks.authFailed ? null : 'account.doubtful';
  // An incomplete poll does not make an account well, but it shows that its key is good.
  if (outcome.kind === 'incomplete' && marks.authFailed && standing?.accepted !== false)
    return 'account.recovered';
  if (outcome.kind === 'complete') {
    const isOver = standing !== null && outcome.accepted !== true;
    return marks.authFailed || marks.staleReported || isOver ? 'account.recovered' : null;
  }
  if (outcome.kind === 'failed' && outcome.reason === 'auth' && !marks.authFailed)
    return 'account.auth_failed';
  if (marks.authFailed || marks.staleReported || standing?.accepted === false) return null;
  return healthState(marks, pollIntervalMs, createdAt, now) === 'stale' ? 'account.stale' : null;
}

function isTold(standing: StandingDoubt | null, { reason }: Doubt): boolean {
  if (standing === null || standing.accepted) return false;
  // Accepting it means more than accepting the others.
  return reason !== 'other_account' || standing.reason === reason;
}

/**
 * The operational event of a change in health (contract, Callbacks); pure. Told again from an older store it
 * has the same id.
 */
export function buildHealthEvent(
  account: string,
  type: NonNullable<HealthChange>,
  marks: Pick<PollingMarks, 'generation' | 'lastCompletePollAt' | 'lastError' | 'toldAt'>,
  at: number,
  doubt: Doubt | null = null,
): NewEvent {
  const isByLastTold = type === 'account.recovered' || type === 'account.doubtful';
  const since = isByLastTold ? marks.toldAt : marks.lastCompletePollAt;
  return buildOperationalEvent(account, type, since === 0 ? marks.generation : String(since), at, {
    lastCompletePollAt: isoOrNull(marks.lastCompletePollAt),
    lastError: marks.lastError || null,
    ...(doubt === null ? {} : { doubt: toldOf(doubt) }),
  });
}

function toldOf({ reason, known, shown, unknown, gone }: Doubt) {
  return { reason, known, shown, unknown, gone };
}

export interface ReportHealthDeps {
  readonly polling: Pick<PollingStore, 'begin' | 'appendEvent'>;
  readonly now: () => number;
}

/**
 * Appends the operational event that a poll's outcome calls for, once: event and memory of it are one atomic
 * step. Returns the event, or null when there was nothing to tell or somebody else has told it. Rejects with
 * SnapshotLostError when the account was removed or created again.
 */
export async function reportHealth(
  { polling, now }: ReportHealthDeps,
  { account, incarnation, pollIntervalMs, createdAt }: PolledAccount & { readonly createdAt: number },
  outcome: PollOutcome,
): Promise<RecordedEvent | null> {
  const marks = await polling.begin(account, incarnation);
  const at = now();
  const type = healthChange(marks, outcome, pollIntervalMs, createdAt, at);
  if (type === null) return null;
  const doubt = outcome.kind === 'doubtful' ? outcome.doubt : null;
  const event = buildHealthEvent(account, type, marks, at, doubt);
  const position = await polling.appendEvent(account, marks.generation, {
    event,
    at,
    before: marks,
    after: {
      authFailed: type === 'account.auth_failed',
      staleReported: type === 'account.stale',
      doubt: doubtAfter(marks, outcome, at),
    },
  });
  return position === null ? null : toRecorded(event, position);
}

function doubtAfter({ doubt }: Pick<PollingMarks, 'doubt'>, outcome: PollOutcome, at: number): string {
  if (outcome.kind === 'doubtful') return encodeDoubt({ ...outcome.doubt, since: at, accepted: false });
  return outcome.kind === 'complete' && outcome.accepted !== true ? '' : doubt;
}
