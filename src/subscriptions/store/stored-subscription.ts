import { decodeRecord, parseShaped, type UnreadableRecordError } from '../../redis/unreadable-record.ts';
import { SealError } from '../../secrets/seal.ts';
import type { Sealer } from '../../secrets/seal.ts';
import { privateSettingsPlace } from '../../secrets/seal-place.ts';
import type { Wishes } from '../matches-event.ts';
import type { DeliveryState, Subscription } from '../subscription.ts';

// Settings with secrets in them: header values are often credentials, too.
const privateNames = ['secrets', 'headers', 'auth', 'tls'] as const;
type PrivateSettings = Pick<Subscription, (typeof privateNames)[number]>;

/** A subscription as it is in Redis: its private settings are one sealed text. */
export type StoredSubscription = Omit<Subscription, 'account' | keyof PrivateSettings> & {
  /** JSON of the private settings, sealed for the origin of the endpoint. */
  readonly privateSettings: string;
};

/** A subscription as far as it can be read. */
export interface ReadSubscription {
  /** Without private settings if they cannot be opened. */
  readonly subscription: Subscription;
  /** Why the private settings or the whole record cannot be read, and what to do; null if all can be. */
  readonly unreadable: SealError | UnreadableRecordError | null;
}

/** Settings and delivery state of one subscription, read together. */
export interface SubscriptionRecord extends ReadSubscription {
  readonly delivery: DeliveryState;
}

/**
 * The stored form of a subscription. `former` is the one it was made from: its private settings stay sealed
 * as they were while they are unchanged, even those that could not be read. They are sealed again for another
 * origin.
 */
export function sealSubscription(
  sealer: Sealer,
  subscription: Subscription,
  former?: Pick<ReadSubscription, 'subscription' | 'unreadable'> & { readonly text: string },
): string {
  const { account, secrets, headers, auth = null, tls = null, ...rest } = subscription;
  const place = privateSettingsPlace(account, rest.id, rest.url);
  if (former !== undefined && keepsSeal(subscription, former, place.peer)) {
    const { privateSettings } = JSON.parse(former.text) as StoredSubscription;
    return JSON.stringify({ ...rest, privateSettings } satisfies StoredSubscription);
  }
  const settings = { secrets, headers, ...(auth === null ? {} : { auth }), ...(tls === null ? {} : { tls }) };
  const privateSettings = sealer.seal(JSON.stringify(settings), place);
  return JSON.stringify({ ...rest, privateSettings } satisfies StoredSubscription);
}

function keepsSeal(
  subscription: Subscription,
  { subscription: former, unreadable }: ReadSubscription,
  peer: string,
): boolean {
  if (privateNames.some((name) => subscription[name] !== former[name])) return false;
  const { account, id } = subscription;
  return unreadable !== null || privateSettingsPlace(account, id, former.url).peer === peer;
}

/** A stored subscription, unopened; `place` is its key and field. Throws UnreadableRecordError. */
export function parseStored(stored: string, place: StoredPlace): StoredSubscription {
  return decodeRecord(place.key, place.field, stored, toStored);
}

/** The URL of a subscription, and the fields that decide which events it wants. */
export type Wanted = Pick<Subscription, 'id' | 'url'> & Wishes;

/** The wishes of a stored subscription. Throws UnreadableRecordError. */
export function wantedOf(text: string, place: StoredPlace): Wanted {
  const { id, url, eventTypes, states, statuses = null, confined = false } = parseStored(text, place);
  return { id: place.field ?? id, url, eventTypes, states, statuses, confined };
}

/** The key and the field in which a subscription is stored. */
export interface StoredPlace {
  readonly key: string;
  readonly field: string | null;
}

function toStored(text: string): StoredSubscription | null {
  const stored = parseShaped<StoredSubscription>(text, storedShape);
  return Array.isArray(stored?.eventTypes) ? stored : null;
}

const storedShape = {
  id: 'string',
  url: 'string',
  eventTypes: 'object',
  privateSettings: 'string',
  createdAt: 'number',
  updatedAt: 'number',
} as const;

/**
 * A stored subscription, with its private settings if they can be opened. Throws UnreadableRecordError.
 */
export function readSubscription(
  sealer: Sealer,
  account: string,
  stored: string,
  place: StoredPlace = { key: 'subscription', field: null },
): ReadSubscription {
  const { privateSettings, ...rest } = parseStored(stored, place);
  // The field determines the id; the one in the text may be wrong.
  const plain = { ...rest, id: place.field ?? rest.id, account };
  try {
    const opened = sealer.open(privateSettings, privateSettingsPlace(account, plain.id, plain.url));
    return { subscription: { ...plain, ...(JSON.parse(opened) as PrivateSettings) }, unreadable: null };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return { subscription: { ...plain, secrets: [], headers: {} }, unreadable: error };
  }
}

/**
 * A stored subscription with its private settings. Throws SealError when they cannot be opened,
 * UnreadableRecordError.
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
