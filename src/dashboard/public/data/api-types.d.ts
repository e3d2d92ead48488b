import type { Seen } from './rejection-types.d.ts';

/** A time of the API: ISO 8601 in UTC. */
type Time = string;

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

export interface Account {
  account: string;
  baseUrl: string;
  pollIntervalMs: number;
  sweepIntervalMs: number;
  /** Null until the first complete poll. */
  counts: Record<string, number | null>;
  health: {
    state: string;
    lastPollAt: Time | null;
    lastCompletePollAt: Time | null;
    lastSweepAt: Time | null;
    consecutiveFailures: number;
    backoffUntil: Time | null;
    lastError: string | null;
    late?: { reason: string; waitedMs: number; detail: string } | null;
    doubt: {
      reason: string;
      since: Time;
      accepted: boolean;
      known: number;
      shown: number;
      unknown: number;
      gone: number;
      moved: number;
    } | null;
  };
  requests: { total: number; lastPoll: number; budget: number };
}

export interface Filing {
  filingId: string;
  status: string;
  since: Time;
  completedAt: string | null;
  rejectionReason: string | null;
  sequence: number;
  removed: boolean;
  policyNumber: string | null;
  insuredsName: string | null;
  stateAbbr: string | null;
  filingType: string | null;
  premium: number | null;
  /** Of a rejection: the person who took note of it. */
  seen?: Seen | null;
}

export interface FilingEvent {
  id: string;
  type: string;
  timestamp: Time;
  /** Of a filing's event or of an operational one: read every field with care. */
  data: Record<string, unknown>;
}

export interface EventPage extends Page<FilingEvent> {
  resumeCursor: string;
}

export interface FilingWithEvents extends Filing {
  events: FilingEvent[];
}

export interface Subscription {
  id: string;
  account: string;
  url: string;
  eventTypes: string[];
  states: string[] | null;
  statuses: string[] | null;
  description: string | null;
  /** Every value is `***`. */
  headers: Record<string, string>;
  from: string;
  format: string;
  payload: string;
  filter: string | null;
  /** Events that were delivered because the filter could not decide. */
  undecided: number;
  enabled: boolean;
  state: string;
  disabledReason: string | null;
  lag: number;
  /** True while its events wait only because of its rate. */
  throttled: boolean;
  consecutiveFailures: number;
  nextAttemptAt: Time | null;
  lastSuccessAt: Time | null;
  lastError: string | null;
  unreadable: string | null;
  previousSecretExpiresAt: Time | null;
  /** Nothing is sent from then on; null: never. */
  expiresAt: Time | null;
  createdAt: Time;
}

export interface Attempt {
  id: string;
  subscription: string;
  eventId: string;
  eventType: string;
  filingId: string | null;
  attempt: number;
  outcome: string;
  statusCode: number | null;
  durationMs: number;
  response: string | null;
  /** Why it failed, where outcome and status do not say it. */
  reason: string | null;
  at: Time;
  /** Id of the replay that it belongs to. */
  replay?: string | null;
}

export interface DeadLetter {
  eventId: string;
  eventType: string;
  filingId: string | null;
  attempts: number;
  lastOutcome: string;
  events: number;
  at: Time;
}

export interface PingAnswer {
  outcome: string;
  reason: string | null;
  statusCode: number | null;
  durationMs: number;
  response: string | null;
}

export interface Replay {
  id: string;
  matched: number;
  state: 'running' | 'finished' | 'cancelled';
  delivered: number;
  failed: number;
  createdAt: Time;
  conditions: {
    after: Time | null;
    before: Time | null;
    eventTypes: string[] | null;
    filingId: string | null;
    deadLettersOnly: boolean;
    eventIds: string[] | null;
    fromState: boolean;
  };
}

export interface RegisteredSubscription extends Subscription {
  secret: string;
  /** Settings that were accepted although they are likely mistakes. */
  warnings?: string[];
}

export interface ChangedSubscription extends Subscription {
  dropped?: ('headers' | 'secret')[];
  secret?: string | null;
  warnings?: string[];
}

export interface Rotation {
  /** Null with public keys alone. */
  secret: string | null;
  /** The new one first; none without `v1a`. */
  publicKeys: { key: string }[];
  previousExpiresAt: Time | null;
}

export interface QueueState {
  name: string;
  paused: boolean;
  jobs: { waiting: number; active: number; delayed: number; failed: number };
  schedulers: { count: number; late: number };
  workers: number | null;
  oldestWaitingAt: Time | null;
}
