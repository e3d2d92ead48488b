import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { loadScript } from '../../redis/scripts.ts';
import { isUnreadable } from '../../redis/unreadable-record.ts';
import { parseBlock } from '../../subscriptions/delivery-state.ts';
import type { Block } from '../../subscriptions/subscription.ts';
import { nextProbeMs, probeDelayMsMax } from '../schedule/endpoint-health.ts';

/**
 * The blocks that keep subscriptions from being drained. A block survives restarts; a blocked subscription is
 * not woken early.
 */
export type BlockStore = ReturnType<typeof createBlockStore>;

/** Blocks in the delivery states of their subscriptions. */
export function createBlockStore(redis: RedisClient, keys: Keys) {
  const script = loadScript(new URL('set-block.lua', import.meta.url));
  return {
    /** The subscription's block. Null if it has none that can be read. */
    async read(account: string, id: string): Promise<Block | null> {
      const { state } = keys.account(account).subscription(id);
      const text = await redis.hget(state, 'blocked');
      try {
        return parseBlock(text, state);
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        return null;
      }
    },
    /** The subscription's settings as stored. Null if it is gone. */
    settings: (account: string, id: string) => redis.hget(keys.account(account).subscriptions, id),
    /**
     * Writes a block, or ends it with null; atomic. `settings` are the stored settings that the block is
     * about. Returns false and writes nothing when they have changed, or the subscription is disabled or
     * gone.
     */
    async set(account: string, id: string, settings: string, block: Block | null): Promise<boolean> {
      const { subscriptions, subscription } = keys.account(account);
      const written = await script.run(
        redis,
        [subscriptions, subscription(id).state],
        [id, settings, block === null ? '' : JSON.stringify(block)],
      );
      return written === 1;
    },
  };
}

const firstDelayMs = 1_000;

/**
 * The block after one more failed drain; pure. The next drain is due after a second, then after twice as long
 * each time, up to five minutes.
 */
export function blockAfter(former: Block | null, reason: string, now: number, random: () => number): Block {
  const times = (former?.times ?? 0) + 1;
  const nextAt = now + nextProbeMs(times, firstDelayMs, random);
  return { reason, since: former?.since ?? now, times, nextAt };
}

/**
 * Whether a blocked subscription is to be left alone now; pure. A wait longer than the maximum was decided by
 * a clock that was ahead, and does not count.
 */
export function isBlocking(block: Block | null, now: number): boolean {
  return block !== null && now < block.nextAt && block.nextAt <= now + probeDelayMsMax;
}
