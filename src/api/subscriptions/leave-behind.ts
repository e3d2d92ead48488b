import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import type { SubscriptionPatch } from './input.ts';

/** A setting that a subscription does not take along to another origin. */
export type LeftBehind = 'headers' | 'secret';

/** A complete change, and the settings that it drops although its body does not name them. */
export interface CompletePatch {
  readonly patch: SubscriptionPatch;
  readonly dropped: readonly LeftBehind[];
}

/**
 * Completes a change that moves a subscription to another origin (scheme, host and port); pure. Header values
 * were given for the former place, often as credentials, and are never shown again; a client that may change
 * the URL would otherwise read them at a place of its own. Headers that the body does not give anew are
 * therefore dropped. `newSecret` then replaces the signing secret in the same way; null where the caller may
 * move it.
 */
export function leaveBehind(
  { subscription, unreadable }: SubscriptionRecord,
  patch: SubscriptionPatch,
  newSecret: string | null,
): CompletePatch {
  if (patch.url === undefined || originOf(patch.url) === originOf(subscription.url)) {
    return { patch, dropped: [] };
  }
  const hadHeaders = Object.keys(subscription.headers).length > 0 || unreadable !== null;
  const dropsHeaders = patch.headers === undefined && hadHeaders;
  const dropsSecret = patch.secret === undefined && newSecret !== null;
  return {
    patch: {
      ...patch,
      ...(dropsHeaders ? { headers: {} } : {}),
      ...(dropsSecret ? { secret: newSecret } : {}),
    },
    dropped: [...(dropsHeaders ? ['headers' as const] : []), ...(dropsSecret ? ['secret' as const] : [])],
  };
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}
