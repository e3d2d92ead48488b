import type { LogEntry } from '../../events/event-log.ts';
import { keptReason } from '../../callbacks/outcome.ts';
import type { Sent, SentRequest } from '../../callbacks/send-callback.ts';
import { decodeRecord, parseShaped } from '../../redis/unreadable-record.ts';
import type { CallbackFormat, CallbackPayload, Subscription } from '../../subscriptions/subscription.ts';
import type { Lane } from '../schedule/lanes.ts';
import type { Turn } from '../schedule/track.ts';

/** One attempt to deliver an event, as the attempts list shows it. */
export interface Attempt {
  readonly eventId: string;
  readonly eventType: string;
  readonly filingId: string;
  /** 1 for the first try of the event. */
  readonly attempt: number;
  /** An outcome code of `docs/callback-outcomes.md`. */
  readonly outcome: string;
  readonly statusCode: number | null;
  readonly durationMs: number;
  /** The first 1 KiB of the response, as text. Null if there was none. */
  readonly response: string | null;
  /** When it ended, milliseconds on Redis's clock. */
  readonly at: number;
  /** The replay that the attempt belongs to; null outside replays. */
  readonly replay: string | null;
  /** Missing if no details are kept, or nothing could be written. */
  readonly request?: KeptRequest | undefined;
  /** Why it failed, if code and status do not show it (`keptReason`); missing otherwise. */
  readonly reason?: string | undefined;
  /** The first headers of the response; missing if they are not kept. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What is kept of the request of an attempt: with the event, enough to write it once more. */
export interface KeptRequest extends SentRequest {
  /** Position of the event in the log; 0 for a `ping`, which is not in it. */
  readonly position: number;
  /** The body of a `ping`; missing for events of the log. */
  readonly body?: string | undefined;
  readonly url: string;
  /** Missing for `standard`. */
  readonly format?: CallbackFormat | undefined;
  /** Missing for `full`. */
  readonly payload?: CallbackPayload | undefined;
  /** Names of the custom headers; missing without any. */
  readonly names?: readonly string[] | undefined;
  /** Missing without one. */
  readonly traceparent?: string | undefined;
}

/** An attempt as it is listed. */
export interface ListedAttempt extends Attempt {
  /** Unique within its subscription: the time at which it was written (ms), and a number after `-`. */
  readonly id: string;
}

/** An event that was given up for a subscription. */
export interface DeadLetter {
  /** Empty if retention removed the event before it could be read. */
  readonly eventId: string;
  readonly eventType: string;
  readonly filingId: string;
  /** Position in the log. */
  readonly position: number;
  readonly attempts: number;
  /**
   * Outcome code of the last attempt; `expired` if retention removed the event before it was delivered,
   * `unreadable` if its body can no longer be read.
   */
  readonly lastOutcome: string;
  /**
   * Number of events that it represents, the last of them at `position`. More than one if retention removed
   * a stretch of the log.
   */
  readonly events: number;
  /** When it was given up, milliseconds on Redis's clock. */
  readonly at: number;
}

/** A dead letter as it is listed. */
export interface ListedDeadLetter extends DeadLetter {
  /** Unique within its subscription. */
  readonly id: string;
}

/**
 * The attempt as it is listed; pure. `called` is the subscription as it was then, `replay` the replay that
 * the attempt was made for.
 */
export function toAttempt(
  { attempt }: Pick<Turn, 'attempt'>,
  entry: Pick<LogEntry, 'id' | 'type' | 'filingId' | 'position' | 'body'>,
  { sent, called }: { readonly sent: Sent; readonly called: Subscription },
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
    request: sent.request === null ? undefined : toKeptRequest(sent.request, sent.traceparent, entry, called),
    reason: keptReason(sent.outcome) ?? undefined,
    headers: sent.responseHeaders ?? undefined,
  };
}

function toKeptRequest(
  { timestamp, signature }: SentRequest,
  traceparent: string | null,
  { position, body }: Pick<LogEntry, 'position' | 'body'>,
  { url, format, payload, headers, auth = null }: Subscription,
): KeptRequest {
  const names = Object.keys(headers);
  if (auth !== null) names.push('authorization');
  return {
    position,
    timestamp,
    signature,
    url,
    body: position === 0 ? body.toString() : undefined,
    format: format === 'standard' ? undefined : format,
    payload: payload === 'full' ? undefined : payload,
    names: names.length === 0 ? undefined : names,
    traceparent: traceparent ?? undefined,
  };
}

/** The dead letter of an event that is given up; pure. */
export function toDeadLetter(
  { id, type, filingId, position }: Pick<LogEntry, 'id' | 'type' | 'filingId' | 'position'>,
  attempts: number,
  lastOutcome: string,
  now: number,
): DeadLetter {
  return { eventId: id, eventType: type, filingId, position, attempts, lastOutcome, events: 1, at: now };
}

/**
 * The dead letter of events that retention removed before they were delivered, the last of them at
 * `position`; pure. They are reported as given up, not skipped in silence.
 */
export function toExpiredLetter(
  lost: { readonly position: number; readonly filingId: string; readonly attempts: number },
  events: number,
  now: number,
): DeadLetter {
  return { eventId: '', eventType: '', ...lost, lastOutcome: 'expired', events, at: now };
}

/** An attempt or a dead letter from its JSON; null if it is neither. Throws if the text is not JSON; pure. */
export function parseListed(text: string): object | null {
  return parseShaped<{ eventId: string; at: number }>(text, { eventId: 'string', at: 'number' });
}

/** Lanes by their filings from the fields of that hash; pure. Throws UnreadableRecordError. */
export function parseLanes(key: string, fields: Readonly<Record<string, string>>): Map<string, Lane> {
  const lanes = new Map<string, Lane>();
  for (const [filingId, text] of Object.entries(fields))
    lanes.set(filingId, decodeRecord(key, filingId, text, parseLane));
  return lanes;
}

/** A lane from its JSON; null if it is none; pure. */
export function readLane(text: string | null): Lane | null {
  try {
    return text === null ? null : parseLane(text);
  } catch {
    return null;
  }
}

// Throws if the text is not JSON.
function parseLane(text: string): Lane | null {
  const lane = parseShaped<Lane>(text, {
    positions: 'object',
    spent: 'number',
    tried: 'number',
    dueAt: 'number',
    decidedAt: 'number',
  });
  const isLane = lane !== null && Array.isArray(lane.positions) && lane.positions.every(Number.isSafeInteger);
  return isLane && lane.positions.length > 0 ? lane : null;
}
