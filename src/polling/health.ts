import { isoOrNull } from '../json/iso-time.ts';
import { buildOperationalEvent, type NewEvent } from '../events/event.ts';
import { toRecorded, type RecordedEvent } from '../filings/observe-filings.ts';
import { encodeDoubt, isHeldBack, standingDoubt, type Doubt, type StandingDoubt } from './beliefs/doubt.ts';
import type { PolledAccount } from './poll.ts';
import type { PollReportsDeps } from './poll-reports.ts';
import type { PollOutcome } from './poll-outcome.ts';
import type { PollingMarks } from './store/marks.ts';

/** The state of an account's polling, as the API and the metrics show it (docs/failure-modes.md#polling). */
export type HealthState = 'baselining' | 'ok' | 'backing_off' | 'auth_failed' | 'doubtful' | 'stale';

// Number of poll intervals without a complete poll, and minimum milliseconds, that make an account stale.
const staleIntervals = 5;
const staleMsMin = 2_000;

/**
 * The health of an account; pure. An account that was never polled completely counts from `createdAt`; its
 * baseline may take as long as it needs while nothing fails.
 */
export function healthState(
  marks: PollingMarks,
  pollIntervalMs: number,
  createdAt: number,
  now: number,
): HealthState {
  if (marks.authFailed) return 'auth_failed';
  // Findings stay held back until the operator looks at them, even while polls succeed.
  if (isHeldBack(marks)) return 'doubtful';
  if (
    now > timelyUntil(marks, pollIntervalMs, createdAt) &&
    (marks.baselined || marks.consecutiveFailures > 0)
  )
    return 'stale';
  if (isFarBehind(marks, pollIntervalMs)) return 'stale';
  if (marks.backoffUntil > 0) return 'backing_off';
  return marks.baselined ? 'ok' : 'baselining';
}

/**
 * Time until which an account stays `ok` without another poll, milliseconds on Redis's clock; 0 if it is not
 * `ok`; pure.
 */
export function soundUntil(
  marks: PollingMarks,
  pollIntervalMs: number,
  createdAt: number,
  now: number,
): number {
  if (marks.lastCompletePollAt === 0 || healthState(marks, pollIntervalMs, createdAt, now) !== 'ok') return 0;
  return timelyUntil(marks, pollIntervalMs, createdAt);
}

// Until when the next complete poll has to end. It may take as long as the one before.
function timelyUntil(
  { lastCompletePollAt, lastCompleteEndAt }: PollingMarks,
  pollIntervalMs: number,
  createdAt: number,
): number {
  const lastComplete = Math.max(lastCompletePollAt, lastCompleteEndAt, createdAt);
  return lastComplete + staleAfterMs(pollIntervalMs) + Math.max(0, lastCompleteEndAt - lastCompletePollAt);
}

/**
 * Milliseconds without a complete poll after which an account is stale, in addition to the time that a poll
 * takes.
 */
export function staleAfterMs(pollIntervalMs: number): number {
  return Math.max(staleIntervals * pollIntervalMs, staleMsMin);
}

/** Whether complete polls come too seldom because they wait for their turns at the host for too long. */
function isFarBehind({ baselined, budgetWaitMs }: PollingMarks, pollIntervalMs: number): boolean {
  return baselined && budgetWaitMs > staleAfterMs(pollIntervalMs);
}

/**
 * Why polls are late although nothing fails: the last one waited longer than a poll interval for the host's
 * request budget, which all accounts share. Gives the cause and the remedy, for the operator, or null if it
 * did not wait that long. Pure.
 */
export function latePolls(
  { budgetWaitMs: waitedMs }: Pick<PollingMarks, 'budgetWaitMs'>,
  pollIntervalMs: number,
) {
  if (waitedMs <= pollIntervalMs) return null;
  const seconds = Math.max(1, Math.round(waitedMs / 1_000));
  const detail =
    `The last poll waited ${seconds} s for its turns, because PARTNER_TOTAL_RPS bounds the requests of all ` +
    'accounts to its host: raise it if the partner service allows more, or poll less often (pollIntervalMs).';
  return { reason: 'partner_budget' as const, waitedMs, detail };
}

/** The operational event for a change of an account's health; null for none. */
export type HealthChange =
  'account.auth_failed' | 'account.doubtful' | 'account.stale' | 'account.recovered' | null;

/** How a poll ended, or that it goes on and waits for its turns. */
export type PollNews = PollOutcome | { readonly kind: 'waiting' };

/**
 * Decides what to report after a poll, or a tick that had to wait; pure. `marks` are the ones after it, with
 * the flags from before.
 */
export function healthChange(
  marks: PollingMarks,
  outcome: PollNews,
  pollIntervalMs: number,
  createdAt: number,
  now: number,
): HealthChange {
  const standing = standingDoubt(marks);
  if (outcome.kind === 'doubtful')
    return isReported(standing, outcome.doubt) && !marks.authFailed ? null : 'account.doubtful';
  // An incomplete poll does not make an account healthy, but it proves that the key is accepted.
  if (outcome.kind === 'incomplete' && marks.authFailed && standing?.accepted !== false)
    return 'account.recovered';
  if (outcome.kind === 'complete') {
    const isOver = standing !== null && outcome.accepted !== true;
    if (marks.authFailed || isOver) return 'account.recovered';
    if (isFarBehind(marks, pollIntervalMs)) return marks.staleReported ? null : 'account.stale';
    return marks.staleReported ? 'account.recovered' : null;
  }
  if (outcome.kind === 'failed' && outcome.reason === 'auth' && !marks.authFailed)
    return 'account.auth_failed';
  if (marks.authFailed || marks.staleReported || standing?.accepted === false) return null;
  return healthState(marks, pollIntervalMs, createdAt, now) === 'stale' ? 'account.stale' : null;
}

function isReported(standing: StandingDoubt | null, { reason }: Doubt): boolean {
  if (standing === null || standing.accepted) return false;
  // Accepting another account means more than accepting the other reasons.
  return reason !== 'other_account' || standing.reason === reason;
}

/**
 * The operational event of a change in health (docs/webhooks.md); pure. Appended again from an older store,
 * it has the same id.
 */
export function buildHealthEvent(
  account: string,
  type: NonNullable<HealthChange>,
  marks: Pick<PollingMarks, 'generation' | 'lastCompletePollAt' | 'lastError' | 'toldAt'>,
  at: number,
  details: { readonly doubt?: Doubt | null; readonly late?: ReturnType<typeof latePolls> } = {},
): NewEvent {
  const { doubt = null, late = null } = details;
  // A key may be refused again, or an account be stale again, without a complete poll since the last event.
  const isByLastEvent = type === 'account.recovered' || type === 'account.doubtful';
  const since = isByLastEvent ? marks.toldAt : Math.max(marks.lastCompletePollAt, marks.toldAt);
  return buildOperationalEvent(account, type, since === 0 ? marks.generation : String(since), at, {
    lastCompletePollAt: isoOrNull(marks.lastCompletePollAt),
    lastError: marks.lastError || null,
    ...(doubt === null ? {} : { doubt: shownOf(doubt) }),
    ...(late === null ? {} : { late }),
  });
}

function shownOf({ identity: _identity, ...shown }: Doubt) {
  return shown;
}

/**
 * Appends the operational event for a poll's outcome, once, and notes the account's health; `marks` are the
 * marks after the poll. The event and its flags are written in one atomic step. Returns the event, or null if
 * there is none to append, another process has appended it, or the account was removed or created again.
 */
export async function reportHealth(
  { polling, unsound, clock: { now } }: Pick<PollReportsDeps, 'polling' | 'unsound' | 'clock'>,
  polled: PolledAccount,
  outcome: PollNews,
  marks: PollingMarks,
): Promise<RecordedEvent | null> {
  const { account, pollIntervalMs, createdAt } = polled;
  const at = now();
  const type = healthChange(marks, outcome, pollIntervalMs, createdAt, at);
  // A change makes it unsound, or the next look at it finds that it no longer is.
  const until = type === null ? soundUntil(marks, pollIntervalMs, createdAt, at) : 0;
  await unsound.noteAgain(polled, until, staleAfterMs(pollIntervalMs) / 2);
  if (type === null) return null;
  const doubt = outcome.kind === 'doubtful' ? outcome.doubt : null;
  const late = type === 'account.stale' ? latePolls(marks, pollIntervalMs) : null;
  const event = buildHealthEvent(account, type, marks, at, { doubt, late });
  const { generation, authFailed, staleReported } = marks;
  const before = { generation, authFailed, staleReported, doubt: marks.doubt };
  const after = {
    authFailed: type === 'account.auth_failed',
    staleReported: type === 'account.stale',
    doubt: doubtAfter(marks, outcome, at),
    toldAt: at,
  };
  const position = await polling.replace(account, before, after, { event, at });
  return position === null ? null : toRecorded(event, position);
}

function doubtAfter({ doubt }: Pick<PollingMarks, 'doubt'>, outcome: PollNews, at: number): string {
  if (outcome.kind === 'doubtful') return encodeDoubt({ ...outcome.doubt, since: at, accepted: false });
  return outcome.kind === 'complete' && outcome.accepted !== true ? '' : doubt;
}
