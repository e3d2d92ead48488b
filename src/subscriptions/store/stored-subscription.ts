import { decodeRecord, parseShaped, type UnreadableRecordError } from '../../redis/unreadable-record.ts';
import { SealError } from '../../secrets/seal.ts';
import type { Sealer } from '../../secrets/seal.ts';
import { headersPlace, privateSettingsPlace, secretsPlace } from '../../secrets/seal-place.ts';
import type { SealPlace } from '../../secrets/seal-place.ts';
import type { DeliveryState, Subscription } from '../subscription.ts';
import {
  hasPrivateSettings,
  moveSeal,
  openPrivateSettings,
  sealPrivateSettings,
  type PrivateSettings,
  type StoredPrivateSettings,
} from './private-settings.ts';

/**
 * A subscription as it is in Redis. Headers are one sealed text, because their values are often credentials.
 */
export type StoredSubscription = Omit<Subscription, 'account' | 'headers' | keyof PrivateSettings> &
  StoredPrivateSettings & {
    /** Empty without headers. */
    readonly headers: string;
  };

/** A subscription as far as it can be read. */
export interface ReadSubscription {
  /** Without the secrets and headers that cannot be opened. */
  readonly subscription: Subscription;
  /** Why some cannot, and what to do; null where all can. */
  readonly unreadable: SealError | UnreadableRecordError | null;
  /** True where it has private settings that cannot be opened: `auth`, `tls` or both. */
  readonly hasUnreadableSettings?: boolean;
}

/** Settings and delivery state of one subscription, read together. */
export interface SubscriptionRecord extends ReadSubscription {
  readonly delivery: DeliveryState;
}

/**
 * The stored form of a subscription. `former` is the one it was made from: its headers, secrets
 * and private settings stay sealed as they were when they are unchanged, even those that could not be read.
 * They are sealed anew for another origin.
 */
export function sealSubscription(
  sealer: Sealer,
  subscription: Subscription,
  former?: { readonly text: string; readonly subscription: Subscription },
): string {
  const { account, secrets, headers, auth: _auth, tls: _tls, ...rest } = subscription;
  const { id, url } = rest;
  const place = headersPlace(account, id, url);
  const before = former === undefined ? null : (JSON.parse(former.text) as StoredSubscription);
  const keepsHeaders = before !== null && headers === former?.subscription.headers;
  const keepsSecrets = before !== null && secrets === former?.subscription.secrets;
  const seal = (text: string) => sealer.seal(text, place);
  const sealedHeaders = () => (Object.keys(headers).length === 0 ? '' : seal(JSON.stringify(headers)));
  const stored: StoredSubscription = {
    ...rest,
    ...sealPrivateSettings(
      sealer,
      subscription,
      before === null || former === undefined ? null : { stored: before, settings: former.subscription },
    ),
    headers: keepsHeaders
      ? moveSeal(sealer, before.headers, headersPlace(account, id, before.url), place)
      : sealedHeaders(),
    secrets: keepsSecrets
      ? before.secrets
      : secrets.map((secret) => ({
          ...secret,
          text: sealer.seal(secret.text, secretsPlace(account, id)),
        })),
  };
  return JSON.stringify(stored);
}

/**
 * A stored subscription, unopened; `place` is where it is stored. Throws UnreadableRecordError.
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
  const stored = parseShaped<StoredSubscription>(text, storedShape);
  return Array.isArray(stored?.eventTypes) && Array.isArray(stored.secrets) ? stored : null;
}

const storedShape = {
  id: 'string',
  url: 'string',
  eventTypes: 'object',
  headers: 'string',
  secrets: 'object',
  createdAt: 'number',
  updatedAt: 'number',
} as const;

/**
 * A stored subscription with all secrets and headers that can be opened. Throws UnreadableRecordError.
 */
export function readSubscription(
  sealer: Sealer,
  account: string,
  stored: string,
  place: StoredPlace = { key: 'subscription', field: null },
): ReadSubscription {
  const { secrets, headers, privateSettings, ...rest } = parseStored(stored, place);
  let unreadable: SealError | null = null;
  function open(text: string, sealPlace: SealPlace): string | null {
    try {
      return sealer.open(text, sealPlace);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      unreadable ??= error;
      return null;
    }
  }
  // The field is where it is stored; the id within is only what the text says of itself.
  const id = place.field ?? rest.id;
  const opened = secrets.map((secret) => ({
    ...secret,
    text: open(secret.text, secretsPlace(account, id)),
  }));
  const settings = openPrivateSettings(
    { privateSettings },
    privateSettingsPlace(account, id, rest.url),
    open,
  );
  const subscription: Subscription = {
    ...rest,
    id,
    account,
    headers: openHeaders(headers === '' ? null : open(headers, headersPlace(account, id, rest.url))),
    ...settings,
    secrets: opened.flatMap(({ text, ...secret }) => (text === null ? [] : [{ ...secret, text }])),
  };
  const hasUnreadableSettings = privateSettings !== undefined && !hasPrivateSettings(settings);
  return { subscription, unreadable, ...(hasUnreadableSettings ? { hasUnreadableSettings } : {}) };
}

function openHeaders(text: string | null): Subscription['headers'] {
  return text === null ? {} : (JSON.parse(text) as Subscription['headers']);
}

/**
 * A stored subscription with its secrets and headers. Throws SealError when they cannot be opened,
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
