import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import type { NewEvent } from '../../events/event.ts';
import { type AddPageLink, withoutPageLinks } from '../../events/page-link.ts';
import { committing, loadScript } from '../../redis/scripts.ts';
import type { OnUnreadable } from '../../redis/unreadable-record.ts';
import { createHealthStore, type HealthStore } from './health-store.ts';
import { createLeaseStore, type LeaseStore } from './lease-store.ts';
import { createMarksStore, type MarksStore } from './marks-store.ts';
import { createMissedReadStore, type MissedReadStore } from './missed-read-store.ts';
import { createPollTimes, type PollTimes } from './poll-times.ts';

/**
 * The state of polling of each account: marks, health and the last digest in one hash, missed reads in
 * another, the lease. And the times of all accounts' polls.
 */
export interface PollingStore extends MarksStore, HealthStore, MissedReadStore, LeaseStore, PollTimes {
  /**
   * Appends the digest of a local date and notes the date, in one step; `at` is milliseconds on Redis's
   * clock. False, with nothing written, when that date or a later one has its digest, or the generation is
   * another.
   */
  appendDigest(
    account: string,
    generation: string,
    digest: { readonly event: NewEvent; readonly date: string; readonly at: number },
  ): Promise<boolean>;
}

const appendScript = committing(loadScript(new URL('append-digest.lua', import.meta.url)));

/** The state of polling in Redis. */
export function createPollingStore(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable = () => undefined,
  addPageLink: AddPageLink = withoutPageLinks,
): PollingStore {
  return {
    ...createMarksStore(redis, keys, onUnreadable),
    ...createHealthStore(redis, keys, addPageLink),
    ...createMissedReadStore(redis, keys, onUnreadable),
    ...createLeaseStore(redis, keys, onUnreadable),
    ...createPollTimes(redis, keys),
    async appendDigest(account, generation, { event, date, at }) {
      const { head, events, bodies, polling } = keys.account(account);
      const values = [generation, date, at, event.id, event.type, addPageLink(account, event).body];
      const position = await appendScript.run(redis, [head, events, bodies, polling], values);
      return typeof position === 'number' && position > 0;
    },
  };
}
