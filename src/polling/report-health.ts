import { buildOperationalEvent, type NewEvent } from '../events/event.ts';
import { toRecorded, type RecordedEvent } from '../filings/observe-filings.ts';
import { healthState } from './account-health.ts';
import type { PolledAccount, PollOutcome } from './poll-account.ts';
import type { PollingMarks, PollingStore } from './polling-store.ts';

/** What changed about an account's health with one poll; null when nothing that anybody is told. */
export type HealthChange = 'account.auth_failed' | 'account.stale' | 'account.recovered' | null;

/** Decides what to tell after a poll, or a tick that had to wait; pure. `marks` are those after it, with the flags from before. */
export function healthChange(
  marks: PollingMarks,
  outcome: PollOutcome,
  pollIntervalMs: number,
  createdAt: number,
  now: number,
): HealthChange {
  // An incomplete poll does not make an account well, but it shows that its key is good.
  if (outcome.kind === 'incomplete' && marks.authFailed) return 'account.recovered';
  if (outcome.kind === 'complete')
    return marks.authFailed || marks.staleReported ? 'account.recovered' : null;
  if (outcome.kind === 'failed' && outcome.reason === 'auth' && !marks.authFailed)
    return 'account.auth_failed';
  if (marks.authFailed || marks.staleReported) return null;
  return healthState(marks, pollIntervalMs, createdAt, now) === 'stale' ? 'account.stale' : null;
}

/** The operational event of a change in health (contract, Callbacks); pure. Told again from an older store it has the same id. */
export function buildHealthEvent(
  account: string,
  type: NonNullable<HealthChange>,
  marks: Pick<PollingMarks, 'generation' | 'lastCompletePollAt' | 'lastError' | 'toldAt'>,
  at: number,
): NewEvent {
  const since = type === 'account.recovered' ? marks.toldAt : marks.lastCompletePollAt;
  return buildOperationalEvent(account, type, since === 0 ? marks.generation : String(since), at, {
    lastCompletePollAt: isoOrNull(marks.lastCompletePollAt),
    lastError: marks.lastError || null,
  });
}

export interface ReportHealthDeps {
  readonly polling: Pick<PollingStore, 'begin' | 'tell'>;
  readonly now: () => number;
}

/**
 * Appends the operational event that a poll's outcome calls for, once: event and memory of it are one atomic step. Returns the
 * event, or null when there was nothing to tell or somebody else has told it. Rejects with SnapshotLostError when the account was removed or
 * created again.
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
  const event = buildHealthEvent(account, type, marks, at);
  const position = await polling.tell(account, marks.generation, {
    event,
    at,
    before: marks,
    after: { authFailed: type === 'account.auth_failed', staleReported: type === 'account.stale' },
  });
  return position === null ? null : toRecorded(event, position);
}

function isoOrNull(ms: number): string | null {
  return ms === 0 ? null : new Date(ms).toISOString();
}
