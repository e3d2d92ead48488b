import { hash } from 'node:crypto';
import { decodeRecord, parseShaped } from '../../redis/unreadable-record.ts';
import { registrationPlace } from '../../secrets/seal-place.ts';
import type { Sealer } from '../../secrets/seal.ts';
import type { Subscription } from '../subscription.ts';
import { currentOf, publicKeyOf } from '../signing-secret.ts';

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
  /** The secret of `v1`; empty where callbacks have no such signature. */
  readonly secret: string;
  /** Id of the token that made it; absent where the operator did. */
  readonly createdBy?: string;
  /** The public key of `v1a`; absent where callbacks have no such signature. */
  readonly publicKey?: string;
}

/**
 * The digest of an idempotency key, by which its registration is found. A token that manages only its own
 * subscriptions has keys of its own: those of others would tell it of theirs.
 */
export function keyDigest({ createdBy, confined }: Maker, key: string): string {
  // No key that a client may send holds a line break.
  return hash('sha256', confined === true ? `${createdBy ?? ''}\n${key}` : key);
}

type Maker = Pick<Subscription, 'createdBy' | 'confined'>;

/** The stored text of a registration. */
export function rememberRegistration(
  sealer: Sealer,
  subscription: Subscription,
  { key, request }: Registration,
): string {
  const { account, id, createdAt, createdBy = null, secrets } = subscription;
  const privateKey = currentOf(secrets, 'v1a');
  const remembered: Remembered = {
    request: hash('sha256', request),
    secret: currentOf(secrets, 'v1') ?? '',
    ...(createdBy === null ? {} : { createdBy }),
    ...(privateKey === null ? {} : { publicKey: publicKeyOf(privateKey) }),
  };
  const place = registrationPlace(account, id, keyDigest(subscription, key));
  const record: RememberedRegistration = {
    id,
    createdAt,
    sealed: sealer.seal(JSON.stringify(remembered), place),
  };
  return JSON.stringify(record);
}

/**
 * The subscription as the earlier registration made it, from that one's text and the one that the repeated
 * request would make, with its public key in place of the private one; null when the two requests differ.
 * Throws SealError and UnreadableRecordError, with `place` as the key.
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
  const { id, createdAt, sealed } = earlier;
  const opened = sealer.open(sealed, registrationPlace(account, id, keyDigest(repeated, key)));
  const remembered = JSON.parse(opened) as Remembered;
  if (remembered.request !== digest) return null;
  const { secret, publicKey, createdBy = null } = remembered;
  const secrets = [
    ...(secret === '' ? [] : [{ text: secret, expiresAt: null }]),
    ...(publicKey === undefined ? [] : [{ text: publicKey, expiresAt: null, since: createdAt }]),
  ];
  return { ...repeated, id, createdAt, updatedAt: createdAt, createdBy, secrets };
}

/** Null for any other text. */
export function parseRegistration(text: string): RememberedRegistration | null {
  return parseShaped<RememberedRegistration>(text, { id: 'string', createdAt: 'number', sealed: 'string' });
}
