import type { Logger } from 'pino';
import { eachName } from '../../accounts/account-slices.ts';
import type { AccountStore } from '../../accounts/account-store.ts';
import type { DeliverQueue } from '../../delivery/deliver-queue.ts';
import type { PollQueue } from '../../polling/schedule/poll-queue.ts';
import { unlessUnreadable } from '../../redis/unreadable-record.ts';

export interface ReleaseDeps {
  readonly accounts: Pick<AccountStore, 'slice'>;
  readonly deliverQueue: Pick<DeliverQueue, 'release'>;
  readonly pollQueue: Pick<PollQueue, 'release'>;
  readonly logger: Logger;
}

/**
 * Frees polls and deliveries that no process can wake because a start of Redis carried out half a
 * transaction of the queues. Costs some commands for each account, so it runs once per start. Rejects when
 * Redis fails, and may then be repeated.
 */
export async function releaseLost({ logger, ...deps }: ReleaseDeps): Promise<void> {
  for await (const account of eachName(deps.accounts.slice)) {
    // The polls of an account report what cannot be read, and nothing is delivered before it is restored.
    const polls = await unlessUnreadable(() => deps.pollQueue.release(account));
    const deliveries = await unlessUnreadable(() => deps.deliverQueue.release(account));
    const released = (polls ?? 0) + (deliveries ?? 0);
    if (released > 0) logger.warn({ account, released }, 'queue.released');
  }
}
