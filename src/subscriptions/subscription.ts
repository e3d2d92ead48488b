import { countDone } from './cursor.ts';
import type { Auth } from './options/auth.ts';
import type { Tls } from './options/tls.ts';
import type { DeliveryLimits } from './options/limits.ts';
import { placeOf } from './options/url.ts';
import { isUnverified, type VerificationSettings } from './options/verification.ts';
import type { Signatures, SigningSecret } from './signing-secret.ts';

/** Every format of a callback's body (docs/webhooks.md#formats). */
export const callbackFormats = ['standard', 'cloudevents', 'slack', 'teams', 'email'] as const;

/** The format of a callback's body. */
export type CallbackFormat = (typeof callbackFormats)[number];

/** Whether the body carries the filing itself. */
export type CallbackPayload = 'full' | 'thin';

/** Which events of an account go to which URL, and how. */
export interface Subscription extends DeliveryLimits, VerificationSettings {
  readonly id: string;
  readonly account: string;
  readonly url: string;
  /** Exact event types, `prefix.*` or `*`. */
  readonly eventTypes: readonly string[];
  /** State abbreviations; null means all. */
  readonly states: readonly string[] | null;
  /** Statuses that an event leads to; null or missing means all. */
  readonly statuses?: readonly string[] | null;
  /**
   * Expression that each event of a filing is judged by (docs/endpoints/filters.md); missing or null means
   * none.
   */
  readonly filter?: string | null;
  readonly description: string | null;
  /** Custom headers of every callback. */
  readonly headers: Readonly<Record<string, string>>;
  readonly format: CallbackFormat;
  readonly payload: CallbackPayload;
  /** How callbacks are signed; the secrets agree with it. Null or absent means `v1` alone. */
  readonly signatures?: Signatures;
  /** Credentials for tokens of the endpoint; none if absent or null. */
  readonly auth?: Auth | null;
  /** The identity and trust of its connections; the defaults if absent or null. */
  readonly tls?: Tls | null;
  /**
   * Start in the log: its head, its oldest event, or its head with a snapshot of each filing before; missing
   * = its head.
   */
  readonly from?: 'now' | 'earliest' | 'state';
  /** When it expires, in milliseconds since the epoch; null or missing = never. */
  readonly expiresAt?: number | null;
  /** Whether its endpoint is asked again after it was disabled for failing; missing = true. */
  readonly autoEnable?: boolean;
  /** Id of the token that made it; null = the operator. */
  readonly createdBy?: string | null;
  /**
   * True if that token manages only its own subscriptions: events about others are not for it. Missing
   * otherwise.
   */
  readonly confined?: boolean;
  readonly secrets: readonly SigningSecret[];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The reason of a subscription that a client has disabled. */
export const byRequest = 'by request';

/** The reason of a subscription whose time is over. */
export const expiredReason = 'expired';

/** The state of a subscription, as the API shows it. */
export type SubscriptionState = 'active' | 'failing' | 'unverified' | 'disabled';

/**
 * A reason on the daemon's side not to deliver to a subscription. Times are milliseconds on Redis's clock.
 */
export interface Block {
  /** Includes the remedy; contains no secret. */
  readonly reason: string;
  readonly since: number;
  /** Number of tries that failed for it so far. */
  readonly times: number;
  /** When the next try is due. */
  readonly nextAt: number;
  /** True if the endpoint has yet to be verified. */
  readonly unverified?: boolean;
}

/** The block with which a subscription begins that has yet to be verified; null for all others. */
export function firstBlock(subscription: Subscription): Block | null {
  if (!isUnverified(subscription)) return null;
  const { updatedAt: since } = subscription;
  const reason = 'The endpoint has not been verified yet; that is tried in a moment.';
  return { reason, since, times: 0, nextAt: since, unverified: true };
}

/**
 * The health of an endpoint that never failed: the part of a delivery state that outcomes change. Times are
 * milliseconds on Redis's clock; 0 means never or none.
 */
export const neverFailed = {
  /** Failed attempts in a row, over all filings. */
  failures: 0,
  /** The first few filings of those failures: several filings mean that the endpoint is down. */
  failedFilings: [] as readonly string[],
  /** Time of the first of those failures. */
  failingSince: 0,
  lastSuccessAt: 0,
  /** Time at which the newest acknowledged callback was sent; the endpoint worked then. */
  workedAt: 0,
  /** Nothing is sent before this time. */
  pausedUntil: 0,
  /** Failed probes since the pause began; 0 without a pause because of failures. */
  probes: 0,
  /** Why nothing was sent at the last attempt, for want of a token; empty otherwise. */
  obstacle: '',
};

/**
 * The delivery state of a subscription that was never called: each field, with what it is while its hash does
 * not have it. Times are milliseconds on Redis's clock; 0 means never or none.
 */
export const neverCalled = {
  /** Number of changes of the subscription. */
  version: 0,
  /**
   * Number of those changes after which the endpoint may answer otherwise. A deliverer does not write what it
   * learnt of the endpoint before such a change.
   */
  endpointVersion: 0,
  /** Every event up to this position is delivered, waiting in a lane, given up or not asked for. */
  cursor: 0,
  /** The log's timeline at the cursor; empty if it is no longer known. */
  timeline: '',
  /** Positions beyond the cursor that are done, too, as closed ranges such as `7-9,12`. */
  done: '',
  /** Whether the cursor counts although the account's level is beyond it. */
  lags: false,
  enabled: true,
  /** Why it is disabled; empty while enabled. */
  disabledReason: '',
  /** When it was disabled for failing; 0 while it is enabled, or disabled for another reason. */
  disabledAt: 0,
  /** Number of events that left the log since then before they were delivered. */
  lost: 0,
  ...neverFailed,
  /** Events waiting in lanes. */
  parked: 0,
  /** When the next retry or probe is due; 0 when there is none. */
  nextAttemptAt: 0,
  /** True when all lanes are due at once: the subscription was enabled or its endpoint changed. */
  release: false,
  /** When that last happened. Lanes decided before are due since then. */
  releasedAt: 0,
  /**
   * Time of the last settle; the other times were decided then or before. It lies in the future
   * after Redis's clock was ahead; see `correctedHealth`.
   */
  settledAt: 0,
  /** Number of unfinished replays, a snapshot included. */
  replaying: 0,
  /** Number of filings whose snapshot is still to be sent, while a snapshot is unfinished. */
  snapshots: 0,
  /** Number of events on which its filter could not decide (`undecidedText`); empty for none. */
  undecided: '',
  /** When the rate allows the next event that waits only for it; in the past if none does. */
  throttledUntil: 0,
  /** Null while only the endpoint can keep events from being delivered. */
  blocked: null as Block | null,
};

/** The progress of delivery to one subscription. */
export type DeliveryState = Readonly<typeof neverCalled>;

/**
 * The host and origin at which a subscription is called, without the path and query, in which receivers keep
 * credentials, and without the person of a mailbox.
 */
export function subscriptionHost({ url }: Pick<Subscription, 'url'>): { name: string; origin: string } {
  return placeOf(url);
}

/** A subscription's state word. */
export function subscriptionState(delivery: DeliveryState): SubscriptionState {
  if (!delivery.enabled) return 'disabled';
  if (delivery.blocked?.unverified === true) return 'unverified';
  return delivery.failures > 0 || delivery.blocked !== null ? 'failing' : 'active';
}

/**
 * Whether callbacks may be answered otherwise than with the former settings: another URL, other headers,
 * secrets or bodies, other credentials or another identity.
 */
export function isCalledOtherwise(former: Subscription, settings: Subscription): boolean {
  return callText(former) !== callText(settings);
}

function callText({ url, headers, secrets, format, payload, ...rest }: Subscription): string {
  const { auth = null, tls = null, verification = 'none' } = rest;
  const sorted = Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const texts = secrets.map(({ text }) => text);
  return JSON.stringify([url, sorted, texts, format, payload, auth, tls, verification]);
}

/**
 * Number of events that the subscription has not got yet, including events that it may turn out not to want.
 */
export function subscriptionLag(delivery: Delivered, head: number): number {
  const unread = Math.max(0, head - delivery.cursor - countDone(delivery.done));
  return unread + delivery.parked + (delivery.replaying > 0 ? delivery.snapshots : 0);
}

/** The progress of a subscription on which its lag depends. */
export type Delivered = Pick<DeliveryState, 'cursor' | 'done' | 'parked' | 'replaying' | 'snapshots'>;
