import { Type } from 'typebox';
import type { Static } from 'typebox';
import { isMailUrl } from '../../egress/mail-address.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import { nullable, oneOf, record, time, timeOrNull } from '../../json/schema-parts.ts';
import type { FieldError } from '../../json/validation-problems.ts';
import {
  currentOf,
  publicKeysOf,
  renewSecrets,
  signaturesOf,
  signatureVersions,
  type Signatures,
  type SignatureVersion,
  type SigningSecret,
} from '../signing-secret.ts';
import type { Subscription } from '../subscription.ts';
import type { Option } from './option.ts';

// `signatures` in requests and responses.
const signaturesSchema = Type.Array(oneOf(signatureVersions), {
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
  description: 'Shown only now; callbacks are signed with it. Null with `v1a` alone and for e-mail.',
});

interface Given {
  readonly url?: string;
  readonly secret?: string;
  readonly signatures?: readonly SignatureVersion[];
}

// The setting from a checked body; no property if the body does not name it, or for a new plain one.
function signatureSetting(
  { signatures: versions }: Given,
  former: Subscription | null,
): Pick<Subscription, 'signatures'> {
  if (versions === undefined) return {};
  const asked: Signatures = versions.includes('v1a')
    ? signatureVersions.filter((version) => versions.includes(version))
    : null;
  return asked === null && former?.signatures == null ? {} : { signatures: asked };
}

/** The secrets of a new subscription; none for e-mail, which is not signed. */
export function firstSecrets(
  { url, secret, signatures: versions = ['v1'] }: Given & { readonly url: string },
  now: number,
): readonly SigningSecret[] {
  return isMailUrl(url) ? [] : renewSecrets([], { versions, secret }, now);
}

/**
 * The secrets after a change: the subscription's own unless something changes them. A given secret replaces
 * the former ones of its kind immediately; `renewsKeys` does the same to ed25519 keys. E-mail has none.
 */
export function changedSecrets(
  subscription: Subscription,
  { url = subscription.url, secret, signatures: asked }: Given,
  renewsKeys: boolean,
  now: number,
): readonly SigningSecret[] {
  if (isMailUrl(url)) return [];
  const isSame = secret === undefined && asked === undefined && !renewsKeys;
  if (isSame && !isMailUrl(subscription.url)) return subscription.secrets;
  const versions = asked ?? signaturesOf(subscription);
  return renewSecrets(subscription.secrets, { versions, secret, renewed: renewsKeys ? ['v1a'] : [] }, now);
}

/** The secret that a change generated, and that is therefore shown once, or null if it generated none. */
export function madeSecret(former: Subscription, changed: Subscription, given?: string): string | null {
  const current = currentOf(changed.secrets, 'v1');
  const isKnown = current === given || former.secrets.some(({ text }) => text === current);
  return isKnown ? null : current;
}

/** The setting and the public keys as the API shows them. */
export function showSignatures(subscription: Subscription): {
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

/** The errors of a secret that would sign nothing. */
export function secretErrors(
  { url, secret, signatures }: Given,
  former: Partial<Pick<Subscription, 'url' | 'signatures'>> = {},
): FieldError[] {
  if (secret !== undefined && isMailUrl(url ?? former.url ?? ''))
    return [{ path: 'secret', message: 'signs nothing, because e-mail is not signed: leave it out' }];
  if (secret === undefined || (signatures ?? signaturesOf(former)).includes('v1')) return [];
  return [{ path: 'secret', message: 'signs nothing without "v1" in signatures: leave it out, or add "v1"' }];
}

/** The option `signatures`; secrets follow it (`renewSecrets`, `changedSecrets`). */
export const signatures = {
  input: { signatures: Type.Optional(signaturesSchema) },
  shown: { signatures: signaturesSchema, publicKeys: publicKeysSchema },
  stored: signatureSetting,
  show: showSignatures,
} satisfies Option;
