import type { Attempt } from './api-types.d.ts';

/** A time of the API: ISO 8601 in UTC. */
type Time = string;

/** The delivery of an event to one subscription. */
export interface EventDelivery {
  subscription: string;
  description: string | null;
  url: string;
  /** Whether the subscription is enabled now. */
  enabled: boolean;
  state: 'delivered' | 'waiting' | 'given_up' | 'not_selected';
  /** Null when they are no longer kept. */
  attempts: number | null;
  lastOutcome: string | null;
  lastStatusCode: number | null;
  /** Why it failed, where the outcome does not say it. */
  lastReason: string | null;
  deliveredAt: Time | null;
  nextAttemptAt: Time | null;
  /** Id of the latest attempt that is still kept. */
  lastAttempt: string | null;
}

/** One attempt with what was sent and what came back. */
export interface AttemptDetails extends Attempt {
  request: { url: string; headers: Record<string, string>; body: string } | null;
  /** Why `request` is null. */
  requestMissing: string | null;
  responseHeaders: Record<string, string> | null;
  /** The nearest attempts of the same event for the same subscription, newest first. */
  earlier: Attempt[];
  later: Attempt[];
}

export interface Token {
  id: string;
  name: string;
  readOnly: boolean;
  subscriptions?: 'all' | 'own';
  /** Whether it is a link to the page. */
  link?: boolean;
  parent: string | null;
  createdAt: Time;
  expiresAt: Time | null;
  lastUsedAt: Time | null;
}

/** The settings of an account, and the outcome of one request with its key. */
export interface AccountAnswer {
  account: string;
  baseUrl: string;
  pollIntervalMs: number;
  sweepIntervalMs: number;
  stalledAfter?: Record<string, string> | null;
  check?: { ok: boolean; detail: string };
}
