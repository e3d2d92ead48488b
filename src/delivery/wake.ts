import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { AccountStore } from './store/account-store.ts';
import type { DeliverQueue } from './deliver-queue.ts';

/** Wakes the deliverers of accounts. */
export type Waker = ReturnType<typeof createWaker>;

export interface WakerDeps {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly store: Pick<AccountStore, 'isDue'>;
  readonly queue: Pick<DeliverQueue, 'wake'>;
  /** Lets a deliverer of this process read on. False if none is at work for the account. */
  readonly readOn: (account: string) => boolean;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

/** A waker over the queue. */
export function createWaker({ redis, keys, store, queue, readOn, now }: WakerDeps) {
  return {
    /**
     * Right after events were recorded, or settings changed. An account without subscriptions is left alone.
     * Rejects when it could not be woken.
     */
    async wake(account: string): Promise<void> {
      if (readOn(account)) return;
      if ((await redis.exists(keys.account(account).subscriptions)) === 1) await queue.wake(account);
    },
    /** Wakes the account if anything of it waits: a crash may have lost a wake-up. */
    async wakeIfDue(account: string): Promise<void> {
      if (await store.isDue(account, now())) await queue.wake(account);
    },
  };
}
