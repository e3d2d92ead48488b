import type { OutlinedEntry } from '../../events/event-log.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { createCursor } from '../../subscriptions/cursor.ts';
import { wantedAmong, type JudgedLog } from '../../subscriptions/content-filter/wanted-entries.ts';
import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import { readLane, type ListedAttempt } from '../store/delivery-records.ts';
import type { Journal } from '../store/journal.ts';
import { isAskedFor } from '../replay/replay.ts';
import type { ReplayStore } from '../replay/replay-store.ts';

/** State of an event for a subscription. */
export type DeliveryWord = 'delivered' | 'waiting' | 'given_up' | 'not_selected';

/** Delivery of an event to one subscription; times are milliseconds on Redis's clock. */
export interface EventDelivery {
  readonly state: DeliveryWord;
  /** Number of attempts. Null if no longer known. */
  readonly attempts: number | null;
  /** The last attempt. Null if there was none, or it is no longer kept or was not found. */
  readonly lastAttempt: ListedAttempt | null;
  /** Outcome code of the last attempt. Null if there was none, or it is not known. */
  readonly lastOutcome: string | null;
  /** Null if it is not delivered, or the time is no longer known. */
  readonly deliveredAt: number | null;
  /** When it is tried next. Null if no attempt is planned. */
  readonly nextAttemptAt: number | null;
}

/**
 * Reads the delivery of an event to a subscription. Whether it is over follows from the cursor, the lanes and
 * the dead letters, which are certain until the oldest make way; its attempts are looked for, and found only
 * while they are kept. If neither is known any more, it counts as given up: a repeat is better than a loss.
 * If the settings have changed since the event, or the subscription began just before it, it counts as
 * delivered only if an attempt says so, or if there are more attempts than are looked through.
 */
export type ReadDelivery = (
  account: string,
  record: SubscriptionRecord,
  event: OutlinedEntry,
) => Promise<EventDelivery>;

// Maximum number of attempts searched for those of the event; the second applies if only they can show
// whether it was delivered.
const searchedMax = 5_000;
const provingMax = 20_000;
/**
 * Milliseconds that may lie between the times of a record and of its entry in the stream, or of a
 * subscription and of its place in the log.
 */
export const writtenWithinMs = 10_000;

/**
 * Reads deliveries over one connection. Attempts are kept from `keptFrom` on, in milliseconds on Redis's
 * clock.
 */
export function createDeliveryReader(
  redis: RedisClient,
  keys: Keys,
  journal: Pick<Journal, 'read'>,
  replays: Pick<ReplayStore, 'list'>,
  judged: JudgedLog,
  keptFrom: () => number,
): ReadDelivery {
  // Whether records of the event may have been removed to stay within the account's bytes (settle.lua).
  async function mayBeGone(
    account: string,
    key: string,
    mark: 'attemptsDroppedAt' | 'deadLettersDroppedAt',
    { recordedAt }: OutlinedEntry,
  ): Promise<boolean> {
    const droppedAt = Number(await redis.hget(keys.account(account).polling, mark));
    if (droppedAt < recordedAt) return false;
    const [oldest] = await redis.xrange(key, '-', '+', 'COUNT', 1);
    return oldest !== undefined && Number.parseInt(oldest[0], 10) > recordedAt;
  }

  function isReplayed(replayed: Awaited<ReturnType<ReplayStore['list']>>, event: OutlinedEntry): boolean {
    return replayed.some(({ replay, state }) => {
      const isAhead = !state.finished && event.position >= replay.first && event.position <= replay.last;
      return (
        isAhead &&
        isAskedFor(replay.request, event) &&
        !createCursor(state.cursor, state.done).isDone(event.position)
      );
    });
  }

  return async (account, record, event) => {
    const { subscription, delivery } = record;
    const wants = (await wantedAmong(judged, account, subscription, [event])).length > 0;
    const own = keys.account(account).subscription(subscription.id);
    const lane = readLane(await redis.hget(own.lanes, event.filingId));
    const written = Math.max(0, event.recordedAt - writtenWithinMs);
    const having = { eventId: event.id };
    const since = { order: 'oldest', from: String(written), to: '+', having, wanted: Infinity } as const;
    if (lane?.positions.includes(event.position) === true) {
      const isFirst = lane.positions[0] === event.position;
      const around = {
        order: 'newest',
        from: String(lane.decidedAt + writtenWithinMs),
        to: String(written),
        having,
        readMax: searchedMax,
        wanted: 1,
      } as const;
      const isTried = isFirst && lane.tried > 0;
      const tried = isTried ? await journal.read(account, subscription.id, 'attempts', around) : null;
      const attempts = isFirst ? lane.tried : 0;
      const last = tried?.found[0] ?? null;
      // A retry that is asked for no longer is dropped when it is due.
      if (!wants) return { ...outcomeOf('not_selected', last), attempts };
      const nextAttemptAt = isFirst && delivery.enabled ? Math.max(lane.dueAt, delivery.pausedUntil) : null;
      return { ...outcomeOf('waiting', last), attempts, nextAttemptAt };
    }
    if (!createCursor(delivery.cursor, delivery.done).isDone(event.position)) {
      return { ...outcomeOf(wants ? 'waiting' : 'not_selected', null), attempts: 0 };
    }
    const { hasChanged, isOlder, isBeside } = proofOf(subscription, event);
    const needsProof = hasChanged || isBeside;
    const readMax = needsProof && wants && !isOlder ? provingMax : searchedMax;
    const all = { ...since, readMax, until: isDelivered };
    const tried = await journal.read(account, subscription.id, 'attempts', all);
    const last = tried.found.at(-1) ?? null;
    if (last !== null && isDelivered(last)) return { ...outcomeOf('delivered', last), deliveredAt: last.at };
    const first = { ...since, readMax: Infinity, wanted: 1 };
    const [letter] = (await journal.read(account, subscription.id, 'dead', first)).found;
    if (letter !== undefined) {
      const { attempts, lastOutcome } = letter;
      return { ...outcomeOf('given_up', last), attempts, lastOutcome };
    }
    if (delivery.replaying > 0 && isReplayed(await replays.list(account, subscription.id), event))
      return { ...outcomeOf('waiting', last), attempts: last?.attempt ?? 0 };
    const isUnsent =
      needsProof &&
      tried.next === null &&
      event.recordedAt >= keptFrom() &&
      !(await mayBeGone(account, own.attempts, 'attemptsDroppedAt', event));
    if (isUnsent || (last === null && (!wants || isOlder)))
      return { ...outcomeOf('not_selected', last), attempts: last?.attempt ?? 0 };
    if (await mayBeGone(account, own.dead, 'deadLettersDroppedAt', event)) return outcomeOf('given_up', last);
    return outcomeOf('delivered', null);
  };
}

/**
 * Why an event that a subscription is through with may not have been sent to it: its settings have changed
 * since, or it began after the event, or just beside it; pure.
 */
export function proofOf(
  { createdAt, updatedAt, from }: Pick<Subscription, 'createdAt' | 'updatedAt' | 'from'>,
  { recordedAt }: Pick<OutlinedEntry, 'recordedAt'>,
) {
  return {
    hasChanged: updatedAt > createdAt && updatedAt >= recordedAt,
    isOlder: recordedAt < createdAt && from !== 'earliest',
    // The subscription got its place in the log a little after the time that it names.
    isBeside: recordedAt < createdAt + writtenWithinMs && from !== 'earliest',
  };
}

function outcomeOf(state: DeliveryWord, last: ListedAttempt | null): EventDelivery {
  return {
    state,
    attempts: last?.attempt ?? null,
    lastAttempt: last,
    lastOutcome: last?.outcome ?? null,
    deliveredAt: null,
    nextAttemptAt: null,
  };
}

function isDelivered({ outcome }: Pick<ListedAttempt, 'outcome'>): boolean {
  return outcome === 'delivered';
}
