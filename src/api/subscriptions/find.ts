import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import type { SubscriptionChange } from '../../subscriptions/store/subscription-store.ts';
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

/** Changes a stored subscription; `decide` may be called again. Throws the problem 404 if there is none. */
export async function changeSubscription(
  { subscriptions }: Pick<ApiDeps, 'subscriptions'>,
  account: string,
  id: string,
  decide: (record: SubscriptionRecord) => SubscriptionChange,
): Promise<SubscriptionRecord> {
  const updated = await subscriptions.update(account, id, decide);
  if (updated === null) throw notFound('subscription_not_found');
  return updated;
}

/**
 * Wakes the deliverer of an account after a change of a subscription, or after events were appended. Failures
 * are only logged: all is stored, and the account's polls repeat a lost wake-up.
 */
export async function wakeSoon(
  { hooks }: ApiDeps,
  { account, id }: Pick<Subscription, 'account'> & Partial<Pick<Subscription, 'id'>>,
  logger: { warn(line: object, message: string): void },
): Promise<void> {
  try {
    await hooks.wake(account);
  } catch (error) {
    logger.warn({ account, subscription: id, error: String(error) }, 'subscription.not_woken');
  }
}
