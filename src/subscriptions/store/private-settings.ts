import { privateSettingsPlace } from '../../secrets/seal-place.ts';
import type { SealPlace } from '../../secrets/seal-place.ts';
import { SealError } from '../../secrets/seal.ts';
import type { Sealer } from '../../secrets/seal.ts';
import type { Subscription } from '../subscription.ts';

/**
 * Settings with secrets in them, which are stored as one sealed text. It is bound to the origin of the
 * endpoint, as headers are.
 */
export type PrivateSettings = Pick<Subscription, 'auth' | 'tls'>;

/** As a stored subscription has them; plain ones have none. */
export interface StoredPrivateSettings {
  /** JSON of `PrivateSettings`, sealed. */
  readonly privateSettings?: string;
}

/** Whether a subscription has any; pure. */
export function hasPrivateSettings({ auth = null, tls = null }: PrivateSettings): boolean {
  return auth !== null || tls !== null;
}

/**
 * The stored form. What is unchanged since `former` stays sealed as it was, even where it could not be read;
 * at another origin it is sealed anew.
 */
export function sealPrivateSettings(
  sealer: Sealer,
  subscription: Subscription,
  former: {
    readonly stored: StoredPrivateSettings & { url: string };
    readonly settings: PrivateSettings;
  } | null,
): StoredPrivateSettings {
  const { account, id, url, auth, tls } = subscription;
  const place = privateSettingsPlace(account, id, url);
  const before = former?.stored.privateSettings;
  if (
    former !== null &&
    before !== undefined &&
    auth === former.settings.auth &&
    tls === former.settings.tls
  ) {
    const from = privateSettingsPlace(account, id, former.stored.url);
    return { privateSettings: moveSeal(sealer, before, from, place) };
  }
  if (!hasPrivateSettings(subscription)) return {};
  return { privateSettings: sealer.seal(JSON.stringify(present(subscription)), place) };
}

/** The opened ones; none where the text does not open. `open` gives null for that. */
export function openPrivateSettings(
  { privateSettings }: { readonly privateSettings: string | undefined },
  place: SealPlace,
  open: (text: string, place: SealPlace) => string | null,
): PrivateSettings {
  if (privateSettings === undefined) return {};
  return present(JSON.parse(open(privateSettings, place) ?? '{}') as PrivateSettings);
}

// Left out where there is none: a plain subscription has neither property.
function present({ auth = null, tls = null }: PrivateSettings): PrivateSettings {
  return { ...(auth === null ? {} : { auth }), ...(tls === null ? {} : { tls }) };
}

/**
 * A sealed text for another place; as it is where the place is the same. A text that does not open stays as
 * it is: it opens again in its own place only.
 */
export function moveSeal(sealer: Sealer, sealed: string, from: SealPlace, to: SealPlace): string {
  if (from.peer === to.peer) return sealed;
  try {
    return sealer.seal(sealer.open(sealed, from), to);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return sealed;
  }
}
