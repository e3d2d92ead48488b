import { hash } from 'node:crypto';
import { UnreadableRecordError } from '../../redis/unreadable-record.ts';
import { registrationPlace } from '../../secrets/seal-place.ts';
import { keyIdOf, type Sealer } from '../../secrets/seal.ts';
import type { Subscription } from '../subscription.ts';
import { currentOf, publicKeyOf } from '../signing-secret.ts';

/** A registration under an idempotency key; `request` is the same text for the same request. */
export interface Registration {
  readonly key: string;
  readonly request: string;
}

// What is remembered of a registration for a day, a few hundred bytes whatever was registered: the rest is in
// the request that has to be the same. It is sealed as a whole: a digest of a request with a weak secret
// would give that away.
interface Remembered {
  readonly id: string;
  readonly createdAt: number;
  /** SHA-256 of the request. */
  readonly request: string;
  /** The secret of `v1`, or null if callbacks have no such signature. */
  readonly secret: string | null;
  /** The public key of `v1a`, or null if callbacks have no such signature. */
  readonly publicKey: string | null;
  /** Id of the token that registered it, or null if the operator did. */
  readonly createdBy: string | null;
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

/** The stored text of a registration: a seal. */
export function rememberRegistration(
  sealer: Sealer,
  subscription: Subscription,
  { key, request }: Registration,
): string {
  const { account, id, createdAt, createdBy = null, secrets } = subscription;
  const privateKey = currentOf(secrets, 'v1a');
  const remembered: Remembered = {
    id,
    createdAt,
    request: hash('sha256', request),
    secret: currentOf(secrets, 'v1'),
    publicKey: privateKey === null ? null : publicKeyOf(privateKey),
    createdBy,
  };
  return sealer.seal(JSON.stringify(remembered), registrationPlace(account, keyDigest(subscription, key)));
}

/**
 * The subscription as the earlier registration made it, with its public key in place of the private one, or
 * null if the two requests differ. `text` is the earlier registration as stored, `repeated` the subscription
 * that the new request would make. Throws SealError and UnreadableRecordError, with `place` as the key.
 */
export function recallRegistration(
  sealer: Sealer,
  text: string,
  place: string,
  { key, request }: Registration,
  repeated: Subscription,
): Subscription | null {
  if (keyIdOf(text) === '') throw new UnreadableRecordError(place, null);
  const opened = sealer.open(text, registrationPlace(repeated.account, keyDigest(repeated, key)));
  const { id, createdAt, request: digest, secret, publicKey, createdBy } = JSON.parse(opened) as Remembered;
  if (digest !== hash('sha256', request)) return null;
  const secrets = [
    ...(secret === null ? [] : [{ text: secret, expiresAt: null }]),
    ...(publicKey === null ? [] : [{ text: publicKey, expiresAt: null, since: createdAt }]),
  ];
  return { ...repeated, id, createdAt, updatedAt: createdAt, createdBy, secrets };
}
