import { NewerFormatError } from '../../redis/newer-format-error.ts';
import {
  decodeRecord,
  isShaped,
  parseShaped,
  type UnreadableRecordError,
} from '../../redis/unreadable-record.ts';
import { SealError } from '../../secrets/seal.ts';
import type { Sealer } from '../../secrets/seal.ts';
import type { DeliveryState, Subscription } from '../subscription.ts';

/**
 * As it is in Redis: headers are one sealed text, for their values are often credentials. Format 1 has them
 * in clear.
 */
export type StoredSubscription = Omit<Subscription, 'account' | 'headers'> & {
  readonly v: number;
  readonly headers: string | Subscription['headers'];
};

/** A subscription as far as it can be read. */
export interface ReadSubscription {
  /** Without the secrets and headers that do not open. */
  readonly subscription: Subscription;
  /** Why some do not, and what to do; null where all do. */
  readonly unreadable: SealError | UnreadableRecordError | NewerFormatError | null;
}

/** Settings and delivery state of one subscription, read together. */
export interface SubscriptionRecord extends ReadSubscription {
  readonly delivery: DeliveryState;
}

/** What the sealed texts of an account's subscriptions open under. */
export function subscriptionSealContext(account: string): string {
  return `subscription:${account}`;
}

/**
 * The stored form of a subscription. `former` is what it was made from: headers and secrets that are still
 * the same there stay sealed as they were, those that could not be read included.
 */
export function sealSubscription(
  sealer: Sealer,
  subscription: Subscription,
  former?: { readonly text: string; readonly subscription: Subscription },
): string {
  const { account, secrets, headers, ...rest } = subscription;
  const before = former === undefined ? null : (JSON.parse(former.text) as StoredSubscription);
  const keepsHeaders = typeof before?.headers === 'string' && headers === former?.subscription.headers;
  const keepsSecrets = before !== null && secrets === former?.subscription.secrets;
  const seal = (text: string) => sealer.seal(text, subscriptionSealContext(account));
  const sealedHeaders = () => (Object.keys(headers).length === 0 ? {} : seal(JSON.stringify(headers)));
  const stored: StoredSubscription = {
    v: 2,
    ...rest,
    headers: keepsHeaders ? before.headers : sealedHeaders(),
    secrets: keepsSecrets
      ? before.secrets
      : secrets.map(({ text, expiresAt }) => ({ text: seal(text), expiresAt })),
  };
  return JSON.stringify(stored);
}

/**
 * What a stored subscription asks for, without opening anything. Throws NewerFormatError and
 * UnreadableRecordError; `place` is where it is stored.
 */
export function parseStored(stored: string, place: StoredPlace): StoredSubscription {
  return decodeRecord(place.key, place.field, stored, toStored);
}

/** The key and the field in which a subscription is stored. */
export interface StoredPlace {
  readonly key: string;
  readonly field: string | null;
}

function toStored(text: string): StoredSubscription | null {
  const stored = parseShaped<StoredSubscription>(text, { v: 'number' });
  if (stored === null) return null;
  if (stored.v > 2) throw new NewerFormatError('subscription', stored.v, 'formats 1 and 2');
  return isShaped(stored, storedShape) && Array.isArray(stored.eventTypes) && Array.isArray(stored.secrets)
    ? stored
    : null;
}

const storedShape = {
  id: 'string',
  url: 'string',
  eventTypes: 'object',
  secrets: 'object',
  createdAt: 'number',
  updatedAt: 'number',
} as const;

/**
 * The subscription in its stored form, secrets and headers opened as far as they open. Throws
 * NewerFormatError and UnreadableRecordError.
 */
export function readSubscription(
  sealer: Sealer,
  account: string,
  stored: string,
  place: StoredPlace = { key: 'subscription', field: null },
): ReadSubscription {
  const { v: _, secrets, headers, ...rest } = parseStored(stored, place);
  let unreadable: SealError | null = null;
  function open(text: string): string | null {
    try {
      return sealer.open(text, subscriptionSealContext(account));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      unreadable ??= error;
      return null;
    }
  }
  const opened = secrets.map(({ text, expiresAt }) => ({ text: open(text), expiresAt }));
  const subscription: Subscription = {
    ...rest,
    account,
    headers:
      typeof headers === 'string' ? (JSON.parse(open(headers) ?? '{}') as Subscription['headers']) : headers,
    secrets: opened.flatMap(({ text, expiresAt }) => (text === null ? [] : [{ text, expiresAt }])),
  };
  return { subscription, unreadable };
}

/**
 * The subscription in its stored form, secrets and headers opened. Throws SealError when they cannot be,
 * NewerFormatError and UnreadableRecordError.
 */
export function openSubscription(
  sealer: Sealer,
  account: string,
  stored: string,
  place?: StoredPlace,
): Subscription {
  const { subscription, unreadable } = readSubscription(sealer, account, stored, place);
  if (unreadable !== null) throw unreadable;
  return subscription;
}
