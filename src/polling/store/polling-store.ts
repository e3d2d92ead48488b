import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import type { AddPageLink } from '../../events/page-link.ts';
import type { OnUnreadable } from '../../redis/unreadable-record.ts';
import { createDigestStore, type DigestStore } from './digest-store.ts';
import { createHealthStore, type HealthStore } from './health-store.ts';
import { createLeaseStore, type LeaseStore } from './lease-store.ts';
import { createMarksStore, type MarksStore } from './marks-store.ts';
import { createMissedReadStore, type MissedReadStore } from './missed-read-store.ts';
import { createPollTimes, type PollTimes } from './poll-times.ts';

/**
 * The state of polling of each account: marks, health and the last digest in one hash, missed reads in
 * another, the lease. And the times of all accounts' polls.
 */
export interface PollingStore
  extends MarksStore, HealthStore, DigestStore, MissedReadStore, LeaseStore, PollTimes {}

/** The state of polling in Redis. */
export function createPollingStore(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable = () => undefined,
  addPageLink?: AddPageLink,
): PollingStore {
  return {
    ...createMarksStore(redis, keys, onUnreadable),
    ...createHealthStore(redis, keys, addPageLink),
    ...createDigestStore(redis, keys, addPageLink),
    ...createMissedReadStore(redis, keys, onUnreadable),
    ...createLeaseStore(redis, keys, onUnreadable),
    ...createPollTimes(redis, keys),
  };
}
