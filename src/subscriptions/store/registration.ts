import { hash } from 'node:crypto';
import { decodeRecord, parseShaped } from '../../redis/unreadable-record.ts';
import { registrationPlace } from '../../secrets/seal-place.ts';
import type { Sealer } from '../../secrets/seal.ts';
import type { Subscription } from '../subscription.ts';
import { openSubscription } from './stored-subscription.ts';

/** A registration under an idempotency key; `request` is the same text for the same request. */
export interface Registration {
  readonly key: string;
  readonly request: string;
}

/**
 * What is remembered of a registration for a day, a few hundred bytes whatever was registered: the rest is in
 * the request that has to be the same.
 */
export interface RememberedRegistration {
  readonly id: string;
  readonly createdAt: number;
  /** JSON of `Remembered`, because a digest of a request with a weak secret would give that away. */
  readonly sealed: string;
}

interface Remembered {
  /** SHA-256 of the request. */
  readonly request: string;
  readonly secret: string;
}

/** The digest of an idempotency key, by which its registration is found. */
export function keyDigest(key: string): string {
  return hash('sha256', key);
}

/** The stored text of a registration. */
export function rememberRegistration(
  sealer: Sealer,
  { account, id, createdAt, secrets }: Subscription,
  { key, request }: Registration,
): string {
  const remembered: Remembered = { request: hash('sha256', request), secret: secrets[0]?.text ?? '' };
  const place = registrationPlace(account, id, keyDigest(key));
  const record: RememberedRegistration = {
    id,
    createdAt,
    sealed: sealer.seal(JSON.stringify(remembered), place),
  };
  return JSON.stringify(record);
}

/**
 * The subscription as the earlier registration made it, from that one's text and the one that the repeated
 * request would make; null when the two requests differ. Throws SealError and UnreadableRecordError, with
 * `place` as the key.
 */
export function recallRegistration(
  sealer: Sealer,
  text: string,
  place: string,
  { key, request }: Registration,
  repeated: Subscription,
): Subscription | null {
  const { account } = repeated;
  const digest = hash('sha256', request);
  const earlier = decodeRecord(place, null, text, parseRegistration);
  if ('subscription' in earlier)
    return earlier.request === digest ? openSubscription(sealer, account, earlier.subscription) : null;
  const { id, createdAt, sealed } = earlier;
  const opened = sealer.open(sealed, registrationPlace(account, id, keyDigest(key)));
  const remembered = JSON.parse(opened) as Remembered;
  if (remembered.request !== digest) return null;
  const secrets = [{ text: remembered.secret, expiresAt: null }];
  return { ...repeated, id, createdAt, updatedAt: createdAt, secrets };
}

/** The record of a registration, as versions before this one stored it or as this one does. */
export type StoredRegistration = RememberedRegistration | FormerRegistration;

/** As former versions stored it: with the digest in clear and the whole subscription. */
interface FormerRegistration {
  readonly request: string;
  readonly subscription: string;
}

/** Null for any other text. */
export function parseRegistration(text: string): StoredRegistration | null {
  return (
    parseShaped<FormerRegistration>(text, { request: 'string', subscription: 'string' }) ??
    parseShaped<RememberedRegistration>(text, { id: 'string', createdAt: 'number', sealed: 'string' })
  );
}
