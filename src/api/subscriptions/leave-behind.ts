import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import { signaturesOf, type SignatureVersion } from '../../subscriptions/signing-secret.ts';
import { isMailUrl } from '../../egress/mail-address.ts';
import type { FieldError } from '../../json/validation-problems.ts';
import type { SubscriptionPatch } from './input.ts';

/** Settings that a subscription does not take along to another origin. */
export const leftBehind = ['headers', 'auth', 'tls', 'secret', 'publicKeys'] as const;

/** One of them. */
export type LeftBehind = (typeof leftBehind)[number];

/**
 * Completes a change that moves a subscription to another origin (scheme, host and port); pure. Header values
 * were given for the former origin, often as credentials, and are never shown again; a client that may change
 * the URL could otherwise have them sent to a server of its own. Credentials and identities were given for
 * it, too. Any of these settings that the body does not give again is therefore dropped. `newSecret` likewise
 * replaces the signing secret, and new keys replace the public ones; null if the caller may move them.
 * `dropped` are the settings that the change drops although its body does not name them.
 */
export function leaveBehind(
  { subscription, unreadable }: SubscriptionRecord,
  patch: SubscriptionPatch,
  newSecret: string | null,
): { readonly patch: SubscriptionPatch; readonly dropped: readonly LeftBehind[] } {
  if (patch.url === undefined || originOf(patch.url) === originOf(subscription.url)) {
    return { patch, dropped: [] };
  }
  const isMail = isMailUrl(patch.url) || isMailUrl(subscription.url);
  const signs = (version: SignatureVersion) =>
    newSecret !== null &&
    !isMail &&
    [signaturesOf(subscription), patch.signatures ?? signaturesOf(subscription)].every((versions) =>
      versions.includes(version),
    );
  const had = {
    headers: Object.keys(subscription.headers).length > 0 || unreadable !== null,
    auth: subscription.auth != null || unreadable !== null,
    tls: subscription.tls != null || unreadable !== null,
    secret: signs('v1'),
    publicKeys: signs('v1a'),
  };
  const isGiven = (setting: LeftBehind) => setting !== 'publicKeys' && patch[setting] !== undefined;
  const dropped = leftBehind.filter((setting) => !isGiven(setting) && had[setting]);
  const inPlace = { headers: {}, auth: null, tls: null, secret: newSecret };
  const replaced = Object.fromEntries(
    dropped.flatMap((setting) => (setting === 'publicKeys' ? [] : [[setting, inPlace[setting]]])),
  );
  return { patch: { ...patch, ...replaced }, dropped };
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}

// Settings that are sealed together, and `signatures`, which changes the secrets.
const sealedTogether = ['secret', 'headers', 'auth', 'tls', 'signatures'] as const;

/**
 * The errors of a change of some private settings while the stored ones cannot be read: the others would be
 * lost without a word.
 */
export function lostErrors(
  { subscription, unreadable }: Pick<SubscriptionRecord, 'subscription' | 'unreadable'>,
  patch: Pick<SubscriptionPatch, (typeof sealedTogether)[number]>,
): FieldError[] {
  const given = sealedTogether.find((name) => patch[name] !== undefined);
  if (unreadable === null || given === undefined) return [];
  const needed = (patch.signatures ?? signaturesOf(subscription)).includes('v1')
    ? (['secret', 'headers', 'auth', 'tls'] as const)
    : (['headers', 'auth', 'tls'] as const);
  if (needed.every((name) => patch[name] !== undefined)) return [];
  const message = `cannot be changed alone while the stored settings cannot be read: give ${needed.join(', ')} together (null or {} = none)`;
  return [{ path: given, message }];
}
