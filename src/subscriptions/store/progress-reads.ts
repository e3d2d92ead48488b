import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { parseShaped } from '../../redis/unreadable-record.ts';
import type { Block, Delivered, DeliveryState } from '../subscription.ts';
import { wantedOf, type Wanted } from './stored-subscription.ts';

/** The progress of delivery to a subscription, without what only a drain needs. */
export interface Progress extends Delivered, Pick<DeliveryState, 'enabled' | 'failures' | 'throttledUntil'> {
  readonly id: string;
  readonly isBlocked: boolean;
  /** Whether that is because its endpoint has yet to be verified. */
  readonly isUnverified: boolean;
  /**
   * Since when it fails or is blocked (ms on Redis's clock); 0 where it does not, or where that cannot be
   * read.
   */
  readonly failingSince: number;
}

/** Reads little of many subscriptions, for metrics. Nothing sealed is opened, nothing unreadable reported. */
export interface ProgressReads {
  /** The ids of all subscriptions of an account, in no order. */
  ids(account: string): Promise<string[]>;
  /** The progress of these subscriptions; one with a number that cannot be read is left out. */
  progress(account: string, ids: readonly string[]): Promise<Progress[]>;
  /** The filters of these subscriptions; unreadable and removed ones are left out. */
  wanted(account: string, ids: readonly string[]): Promise<Wanted[]>;
}

const fields = [
  'cursor',
  'done',
  'parked',
  'enabled',
  'failures',
  'blocked',
  'replaying',
  'snapshots',
  'failingSince',
  'throttledUntil',
];

/** Reads over one connection. */
export function createProgressReads(redis: RedisClient, keys: Keys): ProgressReads {
  return {
    ids: (account) => redis.hkeys(keys.account(account).subscriptions),
    async progress(account, ids) {
      const found = await Promise.all(
        ids.map(async (id) => {
          const values = await redis.hmget(keys.account(account).subscription(id).state, ...fields);
          const [cursor = null, done, parked = null, enabled, failures = null, blocked, ...ofSnapshot] =
            values;
          const [replaying = null, snapshots = null, failingSince = null, throttledUntil = null] = ofSnapshot;
          return {
            id,
            cursor: Number(cursor ?? 0),
            done: done ?? '',
            parked: Number(parked ?? 0),
            enabled: enabled !== '0',
            failures: Number(failures ?? 0),
            isBlocked: blocked != null,
            isUnverified: blockOf(blocked)?.unverified === true,
            failingSince:
              Number(failures ?? 0) > 0 ? Number(failingSince ?? 0) || 0 : (blockOf(blocked)?.since ?? 0),
            replaying: Number(replaying ?? 0) || 0,
            snapshots: Number(snapshots ?? 0) || 0,
            throttledUntil: Number(throttledUntil ?? 0) || 0,
          };
        }),
      );
      return found.filter(({ cursor, parked, failures }) => Number.isFinite(cursor + parked + failures));
    },
    async wanted(account, ids) {
      if (ids.length === 0) return [];
      const key = keys.account(account).subscriptions;
      return (await redis.hmget(key, ...ids)).flatMap((text, i) => {
        const wanted = text === null ? null : wantedOf(text, { key, field: ids[i] ?? null });
        return wanted === null || wanted instanceof Error ? [] : [wanted];
      });
    },
  };
}

function blockOf(text: string | null | undefined): Pick<Block, 'since' | 'unverified'> | null {
  if (text == null) return null;
  try {
    return parseShaped<Pick<Block, 'since' | 'unverified'>>(text, { since: 'number' });
  } catch {
    return null;
  }
}
