import type { Logger } from 'pino';
import { eachName } from '../../accounts/account-slices.ts';
import type { AccountStore } from '../../accounts/account-store.ts';
import type { DeliverQueue } from '../../delivery/deliver-queue.ts';
import type { PollQueue } from '../../polling/schedule/poll-queue.ts';
import { toUnreadable } from '../../redis/unreadable-record.ts';

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
    const polls = await readable(() => deps.pollQueue.release(account));
    const released = polls + (await readable(() => deps.deliverQueue.release(account)));
    if (released > 0) logger.warn({ account, released }, 'queue.released');
  }
}

// The polls of an account report what cannot be read, and nothing is delivered before it is restored.
async function readable(release: () => Promise<number>): Promise<number> {
  try {
    return await release();
  } catch (error) {
    if (toUnreadable(error) === null) throw error;
    return 0;
  }
}
