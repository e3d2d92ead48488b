import type { LogEntry } from '../events/event-log.ts';
import type { Attempt, DeadLetter } from './delivery-store.ts';
import type { Turn } from './delivery-track.ts';
import type { Sent } from './send-callback.ts';

/** The attempt as it is listed; pure. `replay` is the replay it was made for. */
export function toAttempt(
  { attempt }: Turn,
  entry: LogEntry,
  sent: Sent,
  now: number,
  replay: string | null,
): Attempt {
  return {
    eventId: entry.id,
    eventType: entry.type,
    filingId: entry.filingId,
    attempt,
    outcome: sent.outcome.code,
    statusCode: sent.statusCode,
    durationMs: sent.durationMs,
    response: sent.response,
    at: now,
    replay,
  };
}

/** The event as it is given up after its last attempt; pure. */
export function toDeadLetter({ attempt }: Turn, entry: LogEntry, sent: Sent, now: number): DeadLetter {
  return {
    eventId: entry.id,
    eventType: entry.type,
    filingId: entry.filingId,
    position: entry.position,
    attempts: attempt,
    lastOutcome: sent.outcome.code,
    events: 1,
    at: now,
  };
}

/**
 * What is left of events that retention took before they were delivered, the last of them at `position`; pure. They
 * are told as given up, not skipped in silence.
 */
export function toExpiredLetter(
  lost: { readonly position: number; readonly filingId: string; readonly attempts: number },
  events: number,
  now: number,
): DeadLetter {
  return { eventId: '', eventType: '', ...lost, lastOutcome: 'expired', events, at: now };
}
