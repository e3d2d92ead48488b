import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import { isExpired } from '../../subscriptions/options/expires-at.ts';
import { isUnverified } from '../../subscriptions/options/verification.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import type { ApiDeps } from '../deps.ts';
import { notFound, Problem } from '../shared/problem.ts';

/** The subscription with its delivery state; throws the problem 404 if there is none. */
export async function requireSubscription(
  { subscriptions, hooks, now }: Pick<ApiDeps, 'subscriptions' | 'hooks' | 'now'>,
  account: string,
  id: string,
): Promise<SubscriptionRecord & { readonly text: string }> {
  const found = await subscriptions.get(account, id);
  if (found === null || (isExpired(found.subscription, now()) && (await hooks.endExpired(account, id))))
    throw notFound('subscription_not_found');
  return found;
}

/** Refuses a test call while nothing may be sent. */
export function requireVerified(subscription: Subscription): void {
  if (!isUnverified(subscription)) return;
  throw new Problem(
    'subscription_unverified',
    'Nothing is sent to this endpoint before it is verified: POST …/verify asks it now.',
  );
}
