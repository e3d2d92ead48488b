import { buildOperationalEvent } from '../events/event.ts';
import type { EventLog } from '../events/event-log.ts';
import type { RecordedEvent } from '../filings/observe-filings.ts';
import { healthState } from './account-health.ts';
import type { PollOutcome } from './poll-account.ts';
import type { PollingMarks, PollingStore } from './polling-store.ts';

/** What changed about an account's health with one poll; null when nothing that anybody is told. */
export type HealthChange = 'account.auth_failed' | 'account.stale' | 'account.recovered' | null;

/** Decides what to tell after a poll; pure. `marks` are those after the poll, with the flags from before it. */
export function healthChange(
  marks: PollingMarks,
  outcome: PollOutcome,
  pollIntervalMs: number,
  createdAt: number,
  now: number,
): HealthChange {
  if (outcome.kind === 'backing_off') return null;
  if (outcome.kind === 'complete')
    return marks.authFailed || marks.staleReported ? 'account.recovered' : null;
  if (outcome.reason === 'auth') return marks.authFailed ? null : 'account.auth_failed';
  const stale = healthState({ ...marks, authFailed: false }, pollIntervalMs, createdAt, now) === 'stale';
  return stale && !marks.staleReported ? 'account.stale' : null;
}

export interface ReportHealthDeps {
  readonly polling: PollingStore;
  readonly log: EventLog;
  readonly now: () => number;
}

/**
 * Appends the operational event that a poll's outcome calls for and remembers that it was told. A crash in between
 * tells it again, under the same id. Returns the event, or null when there was nothing to tell.
 */
export async function reportHealth(
  deps: ReportHealthDeps,
  account: { account: string; pollIntervalMs: number; createdAt: number },
  outcome: PollOutcome,
): Promise<RecordedEvent | null> {
  const marks = await deps.polling.read(account.account);
  const now = deps.now();
  const type = healthChange(marks, outcome, account.pollIntervalMs, account.createdAt, now);
  if (type === null) return null;
  const occasion = String(type === 'account.recovered' ? marks.toldAt : marks.lastCompletePollAt);
  const details = {
    lastCompletePollAt: isoOrNull(marks.lastCompletePollAt),
    lastError: marks.lastError || null,
  };
  const event = buildOperationalEvent(account.account, type, occasion, now, details);
  const position = await deps.log.append(account.account, event, now);
  await deps.polling.write(account.account, marks.generation, {
    toldAt: now,
    authFailed: type === 'account.auth_failed' || (type === 'account.stale' && marks.authFailed),
    staleReported: type === 'account.stale',
  });
  return { position, type, filingId: '', state: '' };
}

function isoOrNull(ms: number): string | null {
  return ms === 0 ? null : new Date(ms).toISOString();
}
