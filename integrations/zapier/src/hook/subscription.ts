import type { Bundle, ZObject } from 'zapier-platform-core';
import { callApi } from '../api.ts';

/** The part of a subscription by which it selects events (docs/webhooks.md#event-types). */
export interface Selection {
  readonly eventTypes: readonly string[];
  readonly statuses?: readonly string[];
  readonly states?: readonly string[];
  readonly filter?: string;
}

/** What Zapier keeps of a subscription, for as long as the Zap is on. */
export interface Subscribed {
  readonly id: string;
  /** `whsec_…`; Zapier masks values of this name in its logs. */
  readonly secret: string;
}

interface Listed {
  readonly items: readonly { readonly id: string; readonly url: string }[];
  readonly nextCursor: string | null;
}

// Attempts a second, replays included: Zapier answers 429 above thirty for one address.
const rate = 20;
// Pages of a hundred in which leftovers are looked for.
const pagesMax = 10;

/**
 * Registers the Zap's address. Others with the same address are what a lost answer left over: they are removed, since the Zap would get each event
 * from them as well.
 */
export async function subscribe(
  z: ZObject,
  bundle: Bundle,
  label: string,
  settings: Selection & { readonly payload?: 'full' | 'thin' },
): Promise<Subscribed> {
  const url = bundle.targetUrl;
  // Zapier leaves `meta` out in some runs.
  const zap = (bundle.meta as Partial<Bundle['meta']> | undefined)?.zap?.id;
  const { id, secret } = await callApi<Subscribed>(z, bundle, {
    method: 'POST',
    path: '/subscriptions',
    body: {
      url,
      ...settings,
      rate,
      description: `Zapier: ${label}${zap === undefined ? '' : ` (Zap ${zap})`}`,
    },
  });
  let cursor: string | null = null;
  for (let page = 0; page < pagesMax; page += 1) {
    const listed: Listed = await callApi<Listed>(z, bundle, {
      path: '/subscriptions',
      query: { limit: 100, cursor: cursor ?? undefined },
    });
    for (const other of listed.items)
      if (other.url === url && other.id !== id) await unsubscribe(z, bundle, other.id);
    cursor = listed.nextCursor;
    if (cursor === null) break;
  }
  return { id, secret };
}

/** Removes a subscription; one that is gone already is no error. */
export async function unsubscribe(z: ZObject, bundle: Bundle, id: string): Promise<void> {
  await callApi(z, bundle, {
    method: 'DELETE',
    path: `/subscriptions/${encodeURIComponent(id)}`,
    gone: 'subscription_not_found',
  });
}
