import { randomUUID } from 'node:crypto';
import type { Checkpoint } from '../../events/timeline.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { quotaBytesMax, throwIfOverQuota } from '../../redis/quota/account-quota.ts';
import { committing, loadScript } from '../../redis/scripts.ts';
import { decodeRecord, isUnreadable, parseShaped } from '../../redis/unreadable-record.ts';
import type { Lane } from '../schedule/lanes.ts';
import { parseLanes } from '../store/delivery-records.ts';
import {
  newReplayState,
  ReplayRefusedError,
  replaysKept,
  replayText,
  type Replay,
  type ReplayRecord,
  type ReplayState,
} from './replay.ts';

/**
 * The replays of all subscriptions. Drains write the states of the replays that they work on, under their
 * fence.
 */
export type ReplayStore = ReturnType<typeof createReplayStore>;

function parseReplay(text: string): Replay | null {
  return parseShaped<Replay>(text, { id: 'string', request: 'object', first: 'number', last: 'number' });
}

function parseReplayState(text: string): ReplayState | null {
  return parseShaped<ReplayState>(text, { cursor: 'number', done: 'string', finished: 'boolean' });
}

/** Replays in one hash per subscription, the lanes of the one that is worked on in another. */
export function createReplayStore(redis: RedisClient, keys: Keys) {
  const addScript = committing(loadScript(new URL('add-replay.lua', import.meta.url)));
  const cancelScript = committing(loadScript(new URL('cancel-replay.lua', import.meta.url)));

  async function load(account: string, subscription: string, id: string): Promise<ReplayRecord | null> {
    const key = keys.account(account).subscription(subscription).replays;
    const [replay, state] = await redis.hmget(key, id, `${id}:state`);
    if (replay == null || state == null) return null;
    return {
      replay: decodeRecord(key, id, replay, parseReplay),
      state: decodeRecord(key, `${id}:state`, state, parseReplayState),
    };
  }

  return {
    /**
     * Adds a replay after the unfinished ones; atomic. Returns its id, or the id of an unfinished replay of
     * the same request, which is used instead. Its events were chosen from the log up to `cursor`: if the log
     * is a different one now, adds nothing and returns null. Throws ReplayRefusedError and AccountQuotaError.
     */
    async add(account: string, subscription: string, replay: Replay, cursor: Checkpoint) {
      const key = keys.account(account);
      const { subscriptions, head, events, quota, registrations, tokens, changes } = key;
      const { state, replays } = key.subscription(subscription);
      const begun = newReplayState(replay);
      const { position, timeline } = cursor;
      // One filing alone is no measure of how far another snapshot is.
      const isWhole = replay.source === 'filings' && replay.request.filingId === null;
      const snapshot = isWhole ? replay.matched : '';
      const texts = [replayText(replay), JSON.stringify(replay), JSON.stringify(begun)];
      const bounds = [begun.finished ? '1' : '', replaysKept, position, timeline, quotaBytesMax];
      const reply = await addScript.run(
        redis,
        [subscriptions, state, replays, head, events, quota, registrations, tokens, changes],
        [subscription, replay.id, ...texts, ...bounds, snapshot, randomUUID()],
      );
      throwIfOverQuota(reply);
      if (reply === 0) throw new ReplayRefusedError('no_subscription');
      if (reply === 1) throw new ReplayRefusedError('too_many');
      return reply === 2 ? null : String(reply);
    },
    /** Null when there is none, or no longer: finished replays make room for newer ones. */
    load,
    /** All that are kept of a subscription, the latest first; one that cannot be read is left out. */
    async list(account: string, subscription: string): Promise<ReplayRecord[]> {
      const key = keys.account(account).subscription(subscription).replays;
      const kept = (await redis.hget(key, 'kept')) ?? '';
      const ids = kept.split(' ').filter((id) => id !== '');
      const records = await Promise.all(ids.map((id) => load(account, subscription, id).catch(leaveOut)));
      return records.filter((record) => record !== null).toReversed();
    },
    /** Ends an unfinished replay, whose lanes go; atomic. No drain writes anything of it afterwards. */
    async cancel(account: string, subscription: string, id: string) {
      const key = keys.account(account);
      const { state, replays, replayLanes } = key.subscription(subscription);
      const used = [key.subscriptions, state, replays, replayLanes, key.changes];
      const reply = await cancelScript.run(redis, used, [subscription, id, randomUUID()]);
      return reply === 0 ? 'unknown' : reply === 1 ? 'cancelled' : 'ended';
    },
    /** The lanes of the oldest unfinished replay: those behind it have none before they are worked on. */
    async lanes(account: string, subscription: string): Promise<ReadonlyMap<string, Lane>> {
      const key = keys.account(account).subscription(subscription).replayLanes;
      return parseLanes(key, await redis.hgetall(key));
    },
  };
}

// The drain that works on it reports the one that cannot be read.
function leaveOut(error: unknown): null {
  if (isUnreadable(error)) return null;
  throw error;
}
