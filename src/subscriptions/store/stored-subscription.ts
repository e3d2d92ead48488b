import { everyType } from '../../events/event-types.ts';
import { NewerFormatError } from '../../redis/newer-format-error.ts';
import {
  decodeRecord,
  isShaped,
  parseShaped,
  type UnreadableRecordError,
} from '../../redis/unreadable-record.ts';
import { SealError } from '../../secrets/seal.ts';
import type { Sealer } from '../../secrets/seal.ts';
import { headersPlace, secretsPlace } from '../../secrets/seal-place.ts';
import type { SealPlace } from '../../secrets/seal-place.ts';
import type { DeliveryState, Subscription } from '../subscription.ts';

/**
 * A subscription as it is in Redis. Headers are one sealed text, because their values are often credentials;
 * format 1 has them in clear. Format 3 is that of a subscription with `statuses`, the event type `*` or
 * `from: 'state'`.
 */
export type StoredSubscription = Omit<Subscription, 'account' | 'headers'> & {
  readonly v: number;
  readonly headers: string | Subscription['headers'];
};

/** A subscription as far as it can be read. */
export interface ReadSubscription {
  /** Without the secrets and headers that cannot be opened. */
  readonly subscription: Subscription;
  /** Why some cannot, and what to do; null where all can. */
  readonly unreadable: SealError | UnreadableRecordError | NewerFormatError | null;
}

/** Settings and delivery state of one subscription, read together. */
export interface SubscriptionRecord extends ReadSubscription {
  readonly delivery: DeliveryState;
}

/**
 * The stored form of a subscription. `former` is the one it was made from: its headers and secrets stay
 * sealed as they were when they are unchanged, even those that could not be read. Headers that go to another
 * origin now are sealed anew.
 */
export function sealSubscription(
  sealer: Sealer,
  subscription: Subscription,
  former?: { readonly text: string; readonly subscription: Subscription },
): string {
  const { account, secrets, headers, ...rest } = subscription;
  const { id, url } = rest;
  const place = headersPlace(account, id, url);
  const before = former === undefined ? null : (JSON.parse(former.text) as StoredSubscription);
  const keepsHeaders = typeof before?.headers === 'string' && headers === former?.subscription.headers;
  const keepsSecrets = before !== null && secrets === former?.subscription.secrets;
  const seal = (text: string) => sealer.seal(text, place);
  const sealedHeaders = () => (Object.keys(headers).length === 0 ? {} : seal(JSON.stringify(headers)));
  const stored: StoredSubscription = {
    v: formatOf(subscription),
    ...rest,
    headers: keepsHeaders
      ? moveSeal(sealer, before.headers, headersPlace(account, id, before.url), place)
      : sealedHeaders(),
    secrets: keepsSecrets
      ? before.secrets
      : secrets.map(({ text, expiresAt }) => ({
          text: sealer.seal(text, secretsPlace(account, id)),
          expiresAt,
        })),
  };
  return JSON.stringify(stored);
}

// A process that knows only the formats before would pass over `statuses` and a snapshot, and would
// understand neither `*` nor messages for Teams: it would send what is not wanted and miss what is. The
// format keeps it from delivering.
function formatOf({ statuses = null, eventTypes, from, format }: Subscription): number {
  const isNew = statuses !== null || eventTypes.includes(everyType) || from === 'state' || format === 'teams';
  return isNew ? 3 : 2;
}

// A text that does not open stays as it is: it opens again in its own place only.
function moveSeal(sealer: Sealer, sealed: string, from: SealPlace, to: SealPlace): string {
  if (from.peer === to.peer) return sealed;
  try {
    return sealer.seal(sealer.open(sealed, from), to);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return sealed;
  }
}

/**
 * A stored subscription, unopened; `place` is where it is stored. Throws NewerFormatError and
 * UnreadableRecordError.
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
  if (stored.v > 3) throw new NewerFormatError('subscription', stored.v, 'formats 1 to 3');
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
 * A stored subscription with all secrets and headers that can be opened. Throws NewerFormatError and
 * UnreadableRecordError.
 */
export function readSubscription(
  sealer: Sealer,
  account: string,
  stored: string,
  place: StoredPlace = { key: 'subscription', field: null },
): ReadSubscription {
  const { v: _, secrets, headers, ...rest } = parseStored(stored, place);
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
  const opened = secrets.map(({ text, expiresAt }) => ({
    text: open(text, secretsPlace(account, id)),
    expiresAt,
  }));
  const subscription: Subscription = {
    ...rest,
    id,
    account,
    headers:
      typeof headers === 'string'
        ? (JSON.parse(open(headers, headersPlace(account, id, rest.url)) ?? '{}') as Subscription['headers'])
        : headers,
    secrets: opened.flatMap(({ text, expiresAt }) => (text === null ? [] : [{ text, expiresAt }])),
  };
  return { subscription, unreadable };
}

/**
 * A stored subscription with its secrets and headers. Throws SealError when they cannot be opened,
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
