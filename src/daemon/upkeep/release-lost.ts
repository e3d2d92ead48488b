import type { Logger } from 'pino';
import type { AccountStore } from '../../accounts/account-store.ts';
import type { DrainQueue } from '../../delivery/drain-queue.ts';
import type { PollQueue } from '../../polling/schedule/poll-queue.ts';
import type { SubscriptionStore } from '../../subscriptions/store/subscription-store.ts';

export interface ReleaseDeps {
  readonly accounts: Pick<AccountStore, 'all'>;
  readonly subscriptions: Pick<SubscriptionStore, 'filters'>;
  readonly drainQueue: Pick<DrainQueue, 'release'>;
  readonly pollQueue: Pick<PollQueue, 'release'>;
  readonly logger: Logger;
}

/**
 * Frees polls and drains that no process can wake because a start of Redis carried out half a transaction of
 * the queues. Costs some commands for each subscription, so it runs once per start.
 */
export async function releaseLost(deps: ReleaseDeps): Promise<void> {
  const { accounts, subscriptions, drainQueue, pollQueue, logger } = deps;
  for (const { account } of (await accounts.all()).accounts) {
    const ids = (await subscriptions.filters(account)).map(({ id }) => id);
    const released = (await drainQueue.release(account, ids)) + (await pollQueue.release(account));
    if (released > 0) logger.warn({ account, released }, 'queue.released');
  }
}
