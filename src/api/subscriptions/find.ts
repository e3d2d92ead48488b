import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import { isExpired } from '../../subscriptions/options/expires-at.ts';
import type { ApiDeps } from '../deps.ts';
import { subscriptionNotFound } from '../shared/not-found.ts';

/** The subscription with its delivery state; throws the problem 404 if there is none. */
export async function requireSubscription(
  { subscriptions, hooks, now }: Pick<ApiDeps, 'subscriptions' | 'hooks' | 'now'>,
  account: string,
  id: string,
): Promise<SubscriptionRecord & { readonly text: string }> {
  const found = await subscriptions.get(account, id);
  if (found === null || (isExpired(found.subscription, now()) && (await hooks.endExpired(account, id))))
    throw subscriptionNotFound();
  return found;
}
