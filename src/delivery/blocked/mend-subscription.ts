import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys, SubscriptionKeys } from '../../redis/keys.ts';
import { loadScript } from '../../redis/scripts.ts';
import { unreadableKept } from '../../redis/set-aside.ts';
import type { Remedy } from '../../redis/unreadable-record.ts';
import { jsonFields, numericFields } from '../../subscriptions/delivery-state.ts';

/** An unreadable key of a subscription, or a field of it, that was mended. */
export interface MendedRecord {
  readonly name: keyof SubscriptionKeys;
  /** Null if it is the key as a whole. */
  readonly field: string | null;
  readonly remedy: Remedy;
}

/**
 * Mends the records that delivery keeps of a subscription, atomically. Garbage, and keys of another type, are
 * set aside for a week. A lost lane is filled with the filing's events up to the cursor. If the state or all
 * lanes are lost, delivery begins again with the oldest event in the log that was recorded at `since` (ms) or
 * later. So events may be delivered again, and none is lost. A running drain is fenced off.
 */
export type MendSubscription = (
  account: string,
  id: string,
  since: number,
) => Promise<readonly MendedRecord[]>;

/** Mends subscriptions in Redis; `now` is milliseconds on Redis's clock. */
export function createSubscriptionMender(
  redis: RedisClient,
  keys: Keys,
  now: () => number,
): MendSubscription {
  const script = loadScript(new URL('mend-subscription.lua', import.meta.url));
  return async (account, id, since) => {
    const key = keys.account(account);
    const { state, lanes, attempts, dead, replays, replayLanes } = key.subscription(id);
    const { forMs, notesMax } = unreadableKept;
    const own = [state, lanes, attempts, dead, replays, replayLanes];
    const ofAccount = [key.head, key.events, key.filingEvents, key.resting, key.unreadable];
    const fields = [numericFields.length, ...numericFields, ...jsonFields];
    const flat = (await script.run(
      redis,
      [key.subscriptions, ...own, ...ofAccount],
      [id, `${key.unreadable}:sub:`, Math.floor(now()), forMs, notesMax, Math.floor(since), ...fields],
    )) as string[];
    const mended: MendedRecord[] = [];
    for (let i = 0; i < flat.length; i += 3) {
      const [name, field, rebuilt] = flat.slice(i, i + 3) as [keyof SubscriptionKeys, string, string];
      mended.push({
        name,
        field: field === '' ? null : field,
        remedy: rebuilt === '1' ? 'rebuilt' : 'set_aside',
      });
    }
    return mended;
  };
}
