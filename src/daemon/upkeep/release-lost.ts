import type { Logger } from 'pino';
import type { AccountStore } from '../../accounts/account-store.ts';
import type { DrainQueue } from '../../delivery/drain-queue.ts';
import type { PollQueue } from '../../polling/schedule/poll-queue.ts';
import { toUnreadable } from '../../redis/unreadable-record.ts';
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
export async function releaseLost({ logger, ...deps }: ReleaseDeps): Promise<void> {
  for (const { account } of (await deps.accounts.all()).accounts) {
    const released = (await deps.pollQueue.release(account)) + (await releaseDrains(deps, account));
    if (released > 0) logger.warn({ account, released }, 'queue.released');
  }
}

async function releaseDrains(
  { subscriptions, drainQueue }: Omit<ReleaseDeps, 'logger'>,
  account: string,
): Promise<number> {
  try {
    const ids = (await subscriptions.filters(account)).map(({ id }) => id);
    return await drainQueue.release(account, ids);
  } catch (error) {
    // The polls of the account report what cannot be read, and nothing is delivered before it is restored.
    if (toUnreadable(error) === null) throw error;
    return 0;
  }
}
