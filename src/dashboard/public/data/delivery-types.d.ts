/** A time of the API: ISO 8601 in UTC. */
type Time = string;

/** Who has an event, or who has not. */
export interface EventDelivery {
  subscription: string;
  description: string | null;
  url: string;
  state: 'delivered' | 'waiting' | 'given_up' | 'not_selected';
  attempts: number;
  lastOutcome: string | null;
  lastStatusCode: number | null;
  deliveredAt: Time | null;
  nextAttemptAt: Time | null;
  /** Id of the latest attempt that is still kept. */
  lastAttempt: string | null;
}

/** One attempt with what was sent and what came back. */
export interface AttemptDetails {
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
  at: Time;
  /** Null when it is no longer kept, or hidden from a read-only token. */
  request: { url: string; headers: Record<string, string>; body: string | null } | null;
  responseHeaders: Record<string, string> | null;
  /** Id of the replay that it belongs to. */
  replay: string | null;
}

export interface Token {
  id: string;
  name: string;
  readOnly: boolean;
  parent: string | null;
  createdAt: Time;
  expiresAt: Time | null;
  lastUsedAt: Time | null;
}

/** The settings of an account, and what one request with its key came to. */
export interface AccountAnswer {
  account: string;
  baseUrl: string;
  pollIntervalMs: number;
  sweepIntervalMs: number;
  stalledAfter?: Record<string, string> | null;
  check?: { ok: boolean; detail: string };
}
