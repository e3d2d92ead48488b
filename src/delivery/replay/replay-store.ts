import type { Checkpoint } from '../../events/timeline.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { quotaBytesMax, throwIfOverQuota } from '../../redis/quota/account-quota.ts';
import { committing, loadScript } from '../../redis/scripts.ts';
import { decodeRecord, isUnreadable, parseShaped } from '../../redis/unreadable-record.ts';
import type { Lane } from '../schedule/lanes.ts';
import { parseLane } from '../store/delivery-records.ts';
import { newReplayState, replayText, type Replay, type ReplayState } from './replay.ts';

/** A replay and its progress. */
export interface ReplayRecord {
  readonly replay: Replay;
  readonly state: ReplayState;
}

/**
 * The replays of all subscriptions. Drains write the states of the replays that they work on, under their
 * fence.
 */
export interface ReplayStore {
  /**
   * Adds a replay behind those that are unfinished; atomic. Returns its id, or that of an unfinished replay
   * of the same request, which takes its place. Its events were chosen from the log up to `cursor`. Throws
   * AccountQuotaError.
   */
  add(account: string, subscription: string, replay: Replay, cursor: Checkpoint): Promise<AddedReplay>;
  /** Null when there is none, or no longer: finished replays make room for newer ones. */
  load(account: string, subscription: string, id: string): Promise<ReplayRecord | null>;
  /** The state alone; null when there is no such replay. */
  state(account: string, subscription: string, id: string): Promise<ReplayState | null>;
  /** All that are kept of a subscription, the latest first; one that cannot be read is left out. */
  list(account: string, subscription: string): Promise<ReplayRecord[]>;
  /** Ends an unfinished replay, whose lanes go; atomic. No drain writes anything of it afterwards. */
  cancel(account: string, subscription: string, id: string): Promise<'cancelled' | 'ended' | 'unknown'>;
  /** The lanes of the oldest unfinished replay: those behind it have none before they are worked on. */
  lanes(account: string, subscription: string): Promise<ReadonlyMap<string, Lane>>;
}

/** Whether a replay was added, and why not. */
export type AddedReplay =
  | { readonly kind: 'added'; readonly id: string }
  | { readonly kind: 'no_subscription' }
  | { readonly kind: 'set_back' } // the log is not the one that its events were chosen from: choose again
  | { readonly kind: 'too_many' }; // as many as are kept wait to be worked on

function parseReplay(text: string): Replay | null {
  return parseShaped<Replay>(text, { id: 'string', request: 'object', first: 'number', last: 'number' });
}

function parseReplayState(text: string): ReplayState | null {
  return parseShaped<ReplayState>(text, { cursor: 'number', done: 'string', finished: 'boolean' });
}

/** Replays kept of one subscription, finished ones included. */
export const replaysKept = 50;

/** Replays in one hash per subscription, the lanes of the one that is worked on in another. */
export function createReplayStore(redis: RedisClient, keys: Keys): ReplayStore {
  const addScript = committing(loadScript(new URL('add-replay.lua', import.meta.url)));
  const cancelScript = committing(loadScript(new URL('cancel-replay.lua', import.meta.url)));

  function toRecord(key: string, id: string, replay: string, state: string): ReplayRecord {
    return {
      replay: decodeRecord(key, id, replay, parseReplay),
      state: decodeRecord(key, `${id}:state`, state, parseReplayState),
    };
  }

  return {
    async add(account, subscription, replay, cursor) {
      const key = keys.account(account);
      const own = key.subscription(subscription);
      const state = newReplayState(replay);
      const reply = await addScript.run(
        redis,
        [
          key.subscriptions,
          own.state,
          own.replays,
          key.head,
          key.events,
          key.quota,
          key.registrations,
          key.tokens,
          key.lagging,
        ],
        [
          subscription,
          replay.id,
          replayText(replay),
          JSON.stringify(replay),
          JSON.stringify(state),
          state.finished ? '1' : '',
          replaysKept,
          cursor.position,
          cursor.timeline,
          quotaBytesMax,
          replay.source === 'filings' ? replay.matched : '',
        ],
      );
      throwIfOverQuota(reply);
      if (reply === 0) return { kind: 'no_subscription' };
      if (reply === 2) return { kind: 'set_back' };
      return reply === 1 ? { kind: 'too_many' } : { kind: 'added', id: String(reply) };
    },
    async load(account, subscription, id) {
      const key = keys.account(account).subscription(subscription).replays;
      const [replay, state] = await redis.hmget(key, id, `${id}:state`);
      return replay == null || state == null ? null : toRecord(key, id, replay, state);
    },
    async list(account, subscription) {
      const key = keys.account(account).subscription(subscription).replays;
      const kept = (await redis.hget(key, 'kept')) ?? '';
      const ids = kept.split(' ').filter((id) => id !== '');
      if (ids.length === 0) return [];
      const texts = await redis.hmget(key, ...ids.flatMap((id) => [id, `${id}:state`]));
      const records = ids.flatMap((id, i) => {
        const [replay, state] = [texts[2 * i] ?? null, texts[2 * i + 1] ?? null];
        return replay === null || state === null ? [] : readable(() => toRecord(key, id, replay, state));
      });
      return records.toReversed();
    },
    async cancel(account, subscription, id) {
      const key = keys.account(account);
      const own = key.subscription(subscription);
      const reply = await cancelScript.run(
        redis,
        [key.subscriptions, own.state, own.replays, own.replayLanes],
        [subscription, id],
      );
      return reply === 0 ? 'unknown' : reply === 1 ? 'cancelled' : 'ended';
    },
    async state(account, subscription, id) {
      const key = keys.account(account).subscription(subscription).replays;
      const state = await redis.hget(key, `${id}:state`);
      return state === null ? null : decodeRecord(key, `${id}:state`, state, parseReplayState);
    },
    async lanes(account, subscription) {
      const key = keys.account(account).subscription(subscription).replayLanes;
      const lanes = Object.entries<string>(await redis.hgetall(key));
      return new Map(
        lanes.map(([filingId, text]) => [filingId, decodeRecord(key, filingId, text, parseLane)]),
      );
    },
  };
}

// The drain that works on it reports the one that cannot be read.
function readable(read: () => ReplayRecord): ReplayRecord[] {
  try {
    return [read()];
  } catch (error) {
    if (isUnreadable(error)) return [];
    throw error;
  }
}
