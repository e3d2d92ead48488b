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
import { headersPlace, privateSettingsPlace, secretsPlace } from '../../secrets/seal-place.ts';
import type { SealPlace } from '../../secrets/seal-place.ts';
import { hasPublicKeys } from '../settings/signatures.ts';
import { hasLimits } from '../settings/limits.ts';
import { asksForProof } from '../settings/verification.ts';
import type { DeliveryState, Subscription } from '../subscription.ts';
import { moveSeal } from './seals/move-seal.ts';
import { hasPrivateSettings, openPrivateSettings, sealPrivateSettings } from './seals/private-settings.ts';
import type { PrivateSettings, StoredPrivateSettings } from './seals/private-settings.ts';

/**
 * A subscription as it is in Redis. Headers are one sealed text, because their values are often credentials;
 * format 1 has them in clear. Format 3 is that of a subscription with `statuses`, the event type `*` or
 * `from: 'state'`; format 4 that of one with settings that a process of the version before would pass over.
 */
export type StoredSubscription = Omit<Subscription, 'account' | 'headers' | keyof PrivateSettings> &
  StoredPrivateSettings & {
    readonly v: number;
    readonly headers: string | Subscription['headers'];
  };

/** A subscription as far as it can be read. */
export interface ReadSubscription {
  /** Without the secrets and headers that cannot be opened. */
  readonly subscription: Subscription;
  /** Why some cannot, and what to do; null where all can. */
  readonly unreadable: SealError | UnreadableRecordError | NewerFormatError | null;
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
  const keepsHeaders = typeof before?.headers === 'string' && headers === former?.subscription.headers;
  const keepsSecrets = before !== null && secrets === former?.subscription.secrets;
  const seal = (text: string) => sealer.seal(text, place);
  const sealedHeaders = () => (Object.keys(headers).length === 0 ? {} : seal(JSON.stringify(headers)));
  const stored: StoredSubscription = {
    v: formatOf(subscription),
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

// A process that knows only the formats before would pass over `statuses` and a snapshot, and would
// understand neither `*` nor messages for Teams: it would send what is not wanted and miss what is. The
// format keeps it from delivering.
function formatOf(subscription: Subscription): number {
  if (isOfFormat4(subscription)) return 4;
  const { statuses = null, eventTypes, from, format } = subscription;
  const isNew = statuses !== null || eventTypes.includes(everyType) || from === 'state' || format === 'teams';
  return isNew ? 3 : 2;
}

// The same for the settings that came after them: a process that passes over them would call an endpoint
// without its token, from the wrong identity, too often, too long, before it is verified, with signatures
// that it does not take, or with what it does not want or may not see.
function isOfFormat4(subscription: Subscription): boolean {
  if (subscription.confined === true || subscription.expiresAt != null) return true;
  if (subscription.filter != null || asksForProof(subscription) || hasPublicKeys(subscription)) return true;
  return hasPrivateSettings(subscription) || hasLimits(subscription);
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
  if (stored.v > 4) throw new NewerFormatError('subscription', stored.v, 'formats 1 to 4');
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
  const { v: _, secrets, headers, privateSettings, ...rest } = parseStored(stored, place);
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
    headers:
      typeof headers === 'string'
        ? (JSON.parse(open(headers, headersPlace(account, id, rest.url)) ?? '{}') as Subscription['headers'])
        : headers,
    ...settings,
    secrets: opened.flatMap(({ text, ...secret }) => (text === null ? [] : [{ ...secret, text }])),
  };
  const hasUnreadableSettings = privateSettings !== undefined && !hasPrivateSettings(settings);
  return { subscription, unreadable, ...(hasUnreadableSettings ? { hasUnreadableSettings } : {}) };
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
