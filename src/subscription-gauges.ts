import type { AccountStore } from './accounts/account-store.ts';
import type { EventLog } from './events/event-log.ts';
import type { Metrics } from './metrics.ts';
import { subscriptionLag, subscriptionState } from './subscriptions/subscription.ts';
import type { SubscriptionStore } from './subscriptions/subscription-store.ts';

/** Sets the gauges that speak of subscriptions to what the store says now; called before each scrape. */
export async function collectSubscriptions(
  stores: { accounts: AccountStore; log: EventLog; subscriptions: SubscriptionStore },
  metrics: Pick<Metrics, 'subscriptionLag' | 'subscriptions'>,
): Promise<void> {
  const byState = { active: 0, failing: 0, disabled: 0 };
  metrics.subscriptionLag.reset();
  for (const { account } of await stores.accounts.list()) {
    const ids = (await stores.subscriptions.filters(account)).map(({ id }) => id);
    const [head, states] = await Promise.all([
      stores.log.head(account),
      stores.subscriptions.deliveries(account, ids),
    ]);
    for (const [i, delivery] of states.entries()) {
      byState[subscriptionState(delivery)] += 1;
      metrics.subscriptionLag.set({ account, subscription: ids[i] ?? '' }, subscriptionLag(delivery, head));
    }
  }
  for (const [state, count] of Object.entries(byState)) metrics.subscriptions.set({ state }, count);
}
