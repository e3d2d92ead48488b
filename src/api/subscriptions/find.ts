import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import type { ApiDeps } from '../deps.ts';
import { Problem } from '../shared/problem.ts';

/** The subscription with its delivery state; throws the problem 404 if there is none. */
export async function requireSubscription(
  { subscriptions }: Pick<ApiDeps, 'subscriptions'>,
  account: string,
  id: string,
): Promise<SubscriptionRecord> {
  const found = await subscriptions.get(account, id);
  if (found === null) throw subscriptionNotFound();
  return found;
}

/** The problem of a subscription that does not exist. */
export function subscriptionNotFound(): Problem {
  return new Problem('subscription_not_found', 'GET the list of subscriptions for those there are.');
}

/** The problem of an account that does not exist. */
export function accountNotFound(): Problem {
  return new Problem(
    'account_not_found',
    'GET /v1/accounts lists the accounts; PUT on this path creates it.',
  );
}
