import { Type } from 'typebox';
import type { Static } from 'typebox';
import {
  signaturesOf,
  signatureVersions,
  toSignatures,
  type SignatureVersion,
} from '../../../subscriptions/settings/signatures.ts';
import {
  currentOf,
  makeSecret,
  publicKeysOf,
  rotateSecrets,
  secretsFor,
  versionOf,
  type SigningSecret,
} from '../../../subscriptions/signing-secret.ts';
import type { Subscription } from '../../../subscriptions/subscription.ts';
import { isoOrNull } from '../../../json/iso-time.ts';
import { invalidRequest } from '../../shared/problem.ts';
import { nullable, oneOf, record, time, timeOrNull } from '../../shared/schema.ts';

/** `signatures` in requests and responses. */
export const signaturesSchema = Type.Array(oneOf(signatureVersions), {
  minItems: 1,
  maxItems: signatureVersions.length,
  uniqueItems: true,
  default: ['v1'],
  description:
    'How callbacks are signed (Standard Webhooks): `v1` with the shared secret, `v1a` with an ed25519 key of this subscription whose public half is in `publicKeys` and at `/.well-known/webhook-keys`. With `v1a` alone there is no secret.',
  examples: [['v1', 'v1a']],
});

/** `publicKeys` in responses. */
export const publicKeysSchema = Type.Array(
  record({
    key: Type.String({
      description: '`whpk_` and the base64 of the 32 bytes of an ed25519 public key (Standard Webhooks).',
      examples: ['whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='],
    }),
    kid: Type.String({
      description: 'Its thumbprint (RFC 7638), by which the JWKS names it.',
      examples: ['kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'],
    }),
    since: time('When it was made.'),
    until: timeOrNull('When its signatures end after a rotation; null for the current key.'),
  }),
  { description: 'The keys that verify `v1a` signatures, newest first; empty without `v1a`.' },
);

/** The secret in the response to a registration. */
export const madeSecretSchema = nullable(Type.String(), {
  description: 'Shown only now; callbacks are signed with it. Null with `v1a` alone.',
});

interface Given {
  readonly secret?: string;
  readonly signatures?: readonly SignatureVersion[];
}

/** The setting from a checked body; no property where the body does not name it, or for a new plain one. */
export function signatureSetting(
  { signatures }: Given,
  former?: Subscription,
): Pick<Subscription, 'signatures'> {
  if (signatures === undefined) return {};
  const asked = toSignatures(signatures);
  return asked === null && former?.signatures == null ? {} : { signatures: asked };
}

/** The secrets of a registration. Throws a Problem for a secret that would sign nothing. */
export function newSecrets({ secret, signatures = ['v1'] }: Given, now: number): readonly SigningSecret[] {
  requireUse(secret, signatures);
  return secretsFor(secret === undefined ? [] : [{ text: secret, expiresAt: null }], signatures, now);
}

/**
 * The secrets after a change: those of the subscription itself where nothing changes them. A given secret
 * replaces the former ones of its kind at once; `renewsKeys` does the same to keys of ed25519. Throws a
 * Problem for a secret that would sign nothing.
 */
export function changedSecrets(
  subscription: Subscription,
  { secret, signatures }: Given,
  renewsKeys: boolean,
  now: number,
): readonly SigningSecret[] {
  const versions = signatures ?? signaturesOf(subscription);
  requireUse(secret, versions);
  let { secrets } = subscription;
  if (renewsKeys) secrets = secrets.filter(({ text }) => versionOf(text) !== 'v1a');
  if (secret !== undefined) secrets = rotateSecrets(secrets, secret, 0, now);
  const isSame = signatures === undefined && secrets === subscription.secrets;
  return isSame ? secrets : secretsFor(secrets, versions, now);
}

/**
 * The secrets after a rotation: a new one of each algorithm, `secret` where one is given. The former ones end
 * `graceMs` from now. Throws a Problem for a secret that would sign nothing.
 */
export function rotatedSecrets(
  subscription: Subscription,
  secret: string | undefined,
  graceMs: number,
  now: number,
): readonly SigningSecret[] {
  const versions = signaturesOf(subscription);
  requireUse(secret, versions);
  return versions.reduce<readonly SigningSecret[]>((secrets, version) => {
    const next = version === 'v1' && secret !== undefined ? secret : makeSecret(version, now);
    return rotateSecrets(secrets, next, graceMs, now);
  }, subscription.secrets);
}

/**
 * The secret that a change made by itself, and that is therefore shown once; null where it made none.
 */
export function madeSecret(former: Subscription, changed: Subscription, given?: string): string | null {
  const current = currentOf(changed.secrets, 'v1');
  const isKnown = current === given || former.secrets.some(({ text }) => text === current);
  return isKnown ? null : current;
}

/** The setting and the public keys as the API shows them. */
export function signatureView(subscription: Subscription): {
  signatures: SignatureVersion[];
  publicKeys: Static<typeof publicKeysSchema>;
} {
  const keys = publicKeysOf(subscription.secrets, 0);
  return {
    signatures: [...signaturesOf(subscription)],
    publicKeys: keys.map(({ text: key, kid, since, until }) => ({
      key,
      kid,
      since: new Date(since).toISOString(),
      until: until === null ? null : isoOrNull(until),
    })),
  };
}

function requireUse(secret: string | undefined, versions: readonly SignatureVersion[]): void {
  if (secret === undefined || versions.includes('v1')) return;
  const message = 'signs nothing without "v1" in signatures: leave it out, or add "v1"';
  throw invalidRequest([{ path: 'secret', message }]);
}
