import { randomUUID } from 'node:crypto';
import { withoutPageLinks, type AddPageLink } from '../../events/page-link.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { committing, loadScript } from '../../redis/scripts.ts';
import type { OperationalNotice } from './settlement-text.ts';

/**
 * Disables a subscription and appends the notice about it, atomically. Returns false and writes nothing if
 * the stored settings differ from `settings`, or the subscription is disabled or gone.
 */
export type DisableSubscription = (
  account: string,
  id: string,
  settings: string,
  reason: string,
  notice: OperationalNotice,
) => Promise<boolean>;

/** Disables subscriptions in Redis. */
export function createDisabler(
  redis: RedisClient,
  keys: Keys,
  addPageLink: AddPageLink = withoutPageLinks,
): DisableSubscription {
  const script = committing(loadScript(new URL('disable-subscription.lua', import.meta.url)));
  return async (account, id, settings, reason, { event, at }) => {
    const { subscriptions, changes, head, events, bodies, subscription } = keys.account(account);
    const written = await script.run(
      redis,
      [subscriptions, subscription(id).state, changes, head, events, bodies],
      [id, settings, reason, randomUUID(), event.id, event.type, at, addPageLink(account, event).body],
    );
    return written === 1;
  };
}
