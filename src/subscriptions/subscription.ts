import { countDone } from './cursor.ts';
import type { SigningSecret } from './signing-secret.ts';

/** How a callback's body is written (contract, HTTP API). */
export type CallbackFormat = 'standard' | 'cloudevents' | 'slack';

/** Whether the body carries the filing itself. */
export type CallbackPayload = 'full' | 'thin';

/** Who is told of what, where and how. */
export interface Subscription {
  readonly id: string;
  readonly account: string;
  readonly url: string;
  /** Exact event types or `prefix.*`. */
  readonly eventTypes: readonly string[];
  /** State abbreviations; null = all. */
  readonly states: readonly string[] | null;
  readonly description: string | null;
  /** Sent along with every callback. */
  readonly headers: Readonly<Record<string, string>>;
  readonly format: CallbackFormat;
  readonly payload: CallbackPayload;
  /** Where it began in the log, at its head or at its oldest event; absent in what older versions stored. */
  readonly from?: 'now' | 'earliest';
  readonly secrets: readonly SigningSecret[];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Whether a subscription is called, as its users see it. */
export type SubscriptionState = 'active' | 'failing' | 'disabled';

/**
 * What keeps the daemon itself from delivering to a subscription. Times are milliseconds on Redis's clock.
 */
export interface Block {
  /** Says what to do as well; no secret in it. */
  readonly reason: string;
  readonly since: number;
  /** Drains in vain so far. */
  readonly times: number;
  /** When the next drain is due. */
  readonly nextAt: number;
}

/**
 * How far the delivery to one subscription has got. Times are milliseconds on Redis's clock, 0 = never or
 * none.
 */
export interface DeliveryState {
  /** Drawn by the latest drain; a write of any other one is refused. */
  readonly epoch: string;
  /** Counts what that drain has written: a drain that finds fewer knows that Redis was set back. */
  readonly settles: number;
  /** Counts the changes of the subscription, so that a running drain notices one. */
  readonly version: number;
  /**
   * Counts those changes after which the endpoint may answer otherwise: what a drain learnt of it before one
   * is not written.
   */
  readonly endpointVersion: number;
  /** Every event up to this position is acknowledged, waiting in a lane, given up or not asked for. */
  readonly cursor: number;
  /** The log's timeline at the cursor; empty where it is not known any more. */
  readonly timeline: string;
  /** The same of positions beyond the cursor: closed ranges such as `7-9,12`. */
  readonly done: string;
  readonly enabled: boolean;
  /** Why it is disabled; empty while enabled. */
  readonly disabledReason: string;
  /** Failed attempts in a row, over all filings. */
  readonly failures: number;
  /** Filings that those failures were about, the first few: several mean that the endpoint is down. */
  readonly failedFilings: readonly string[];
  /** When the first of those failures was. */
  readonly failingSince: number;
  readonly lastSuccessAt: number;
  /** When the newest acknowledged callback was sent. */
  readonly workedAt: number;
  /** Nothing is sent before this time. */
  readonly pausedUntil: number;
  /** Probes sent in vain since the pause began; 0 when there is no pause because of failures. */
  readonly probes: number;
  /** Events waiting in lanes. */
  readonly parked: number;
  /** When a retry or a probe is due; 0 when none is waited for. */
  readonly nextAttemptAt: number;
  /** True when all lanes are to be tried at once: the subscription was enabled or its endpoint changed. */
  readonly release: boolean;
  /** When that was done for the last time: lanes decided on before are due since then. */
  readonly releasedAt: number;
  /**
   * When a drain last wrote: the other times were decided then or before. In the future, Redis's clock was
   * ahead; see `correctedHealth`.
   */
  readonly settledAt: number;
  /** Replays that are not finished. */
  readonly replaying: number;
  /** Null while nothing but the endpoint can keep events from being delivered. */
  readonly blocked: Block | null;
}

/** Where a subscription is called, without the path and query, in which receivers keep credentials. */
export function subscriptionHost({ url }: Pick<Subscription, 'url'>): { name: string; origin: string } {
  const { hostname, origin } = new URL(url);
  return { name: hostname, origin };
}

/** A subscription's state word; pure. */
export function subscriptionState(delivery: DeliveryState): SubscriptionState {
  if (!delivery.enabled) return 'disabled';
  return delivery.failures > 0 || delivery.blocked !== null ? 'failing' : 'active';
}

/**
 * Whether callbacks may be answered otherwise than with the former settings: another URL, other headers,
 * secrets or bodies; pure.
 */
export function isCalledOtherwise(former: Subscription, settings: Subscription): boolean {
  return callText(former) !== callText(settings);
}

function callText({ url, headers, secrets, format, payload }: Subscription): string {
  const sorted = Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([url, sorted, secrets.map(({ text }) => text), format, payload]);
}

/**
 * Events in the log that the subscription has not got yet; pure. Counts those it may turn out not to want.
 */
export function subscriptionLag(delivery: DeliveryState, head: number): number {
  return Math.max(0, head - delivery.cursor - countDone(delivery.done)) + delivery.parked;
}
