import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import type { AddPageLink } from '../../events/page-link.ts';
import type { OnUnreadable } from '../../redis/unreadable-record.ts';
import { createLeaseStore } from './lease-store.ts';
import { createMarksStore } from './marks-store.ts';
import { createMissedReadStore } from './missed-read-store.ts';
import { createPollTimes } from './poll-times.ts';

/**
 * The state of polling of each account: marks, health and the last digest in one hash, missed reads in
 * another, the lease. And the times of all accounts' polls.
 */
export type PollingStore = ReturnType<typeof createPollingStore>;

/** The state of polling in Redis. */
export function createPollingStore(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable = () => undefined,
  addPageLink?: AddPageLink,
) {
  return {
    ...createMarksStore(redis, keys, onUnreadable, addPageLink),
    ...createMissedReadStore(redis, keys, onUnreadable),
    ...createLeaseStore(redis, keys, onUnreadable),
    ...createPollTimes(redis, keys),
  };
}
