import type { EventLog, OutlinedEntry } from '../../events/event-log.ts';
import { reportsFiling, snapshotType } from '../../events/event-types.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { createCursor } from '../../subscriptions/cursor.ts';
import { matchesEvent } from '../../subscriptions/matches-event.ts';
import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import type { SubscriptionReads } from '../../subscriptions/store/subscription-reads.ts';
import type { ReplayRecord } from '../replay/replay.ts';
import type { ReplayStore } from '../replay/replay-store.ts';
import { readLane } from '../store/delivery-records.ts';
import type { Journal } from '../store/journal.ts';
import {
  createAcknowledgementSearch,
  type Dropped,
  type Found,
  type Sought,
} from './acknowledgement-search.ts';
import { proofOf } from './event-deliveries.ts';

/** A subscription that has acknowledged what a filing is now. */
export interface Told {
  readonly subscription: string;
  readonly description: string | null;
  /** Milliseconds on Redis's clock. Null if that attempt is no longer kept, or was not found. */
  readonly at: number | null;
}

/** The filings to be looked at, as they are now. */
export type ToldFilings = readonly {
  readonly id: string;
  readonly state: {
    readonly status: string;
    readonly sequence: number;
    /** When the status was first seen, milliseconds on Redis's clock. */
    readonly since: number;
  };
}[];

/**
 * Reads which subscriptions were notified of these filings, by filing id: the subscriptions that acknowledged
 * the newest event to report the filing's state, or a later snapshot. Null if that is no longer known,
 * because the log has lost the event.
 */
export type ReadTold = (filings: ToldFilings) => Promise<ReadonlyMap<string, readonly Told[] | null>>;

/**
 * Opens the subscriptions of an account to read which were notified: the oldest hundred, with a `maker` those
 * of this token.
 */
export type OpenTold = (account: string, maker: string | null) => Promise<ReadTold>;

// Maximum number of subscriptions that are looked at.
const subscriptionsMax = 100;

/** Reads from cursors, lanes, dead letters and attempts; nothing is stored for it. */
export function createToldReader(
  redis: RedisClient,
  keys: Keys,
  log: Pick<EventLog, 'newestOf'>,
  journal: Pick<Journal, 'read'>,
  replays: Pick<ReplayStore, 'list'>,
  subscriptions: Pick<SubscriptionReads, 'list'>,
): OpenTold {
  const search = createAcknowledgementSearch(redis, keys, journal);

  // The filings of which a subscription has acknowledged the event or a snapshot.
  async function acknowledged(
    account: string,
    record: SubscriptionRecord,
    filings: ToldFilings,
    events: ReadonlyMap<string, OutlinedEntry>,
    dropped: Dropped,
  ): Promise<Found> {
    const { id } = record.subscription;
    const own = keys.account(account).subscription(id);
    const [lanes, kept] = await Promise.all([
      events.size === 0 ? [] : redis.hmget(own.lanes, ...events.keys()),
      replays.list(account, id),
    ]);
    const cursor = createCursor(record.delivery.cursor, record.delivery.done);
    const passed = [...events.values()].filter(
      ({ position }, i) =>
        cursor.isDone(position) && readLane(lanes[i] ?? null)?.positions.includes(position) !== true,
    );
    const sought = [
      ...passed.flatMap((event) => soughtEvent(record, event, kept, dropped)),
      ...filings.flatMap((filing) => soughtSnapshots(record, filing, events.get(filing.id), kept)),
    ].toSorted((a, b) => a.at - b.at);
    const found = await search(account, id, sought, dropped);
    const told: Found = new Map();
    for (const { filingId, key } of sought)
      if (found.has(key)) told.set(filingId, told.get(filingId) ?? found.get(key) ?? null);
    return told;
  }

  return async (account, maker) => {
    const { records } = await subscriptions.list(account, null, subscriptionsMax, maker);
    const marks = ['attemptsDroppedAt', 'deadLettersDroppedAt'] as const;
    const [attemptsDroppedAt = 0, deadLettersDroppedAt = 0] = (
      await redis.hmget(keys.account(account).polling, ...marks)
    ).map(Number);
    return async (filings) => {
      const newest = await log.newestOf(
        account,
        filings.map(({ id }) => id),
        reportsFiling,
      );
      const events = new Map(
        filings.flatMap(({ id, state }): [string, OutlinedEntry][] => {
          const entry = newest.get(id)?.entry ?? null;
          return entry?.status === state.status ? [[id, entry]] : [];
        }),
      );
      const found = await Promise.all(
        records.map((record) =>
          acknowledged(account, record, filings, events, { attemptsDroppedAt, deadLettersDroppedAt }),
        ),
      );
      return new Map(
        filings.map(({ id: filingId, state }) => {
          const told = records.flatMap(({ subscription: { id, description } }, i): Told[] => {
            const at = found[i]?.get(filingId);
            return at === undefined ? [] : [{ subscription: id, description, at }];
          });
          const isLost = !events.has(filingId) && (newest.get(filingId)?.kept ?? 0) < state.sequence;
          return [filingId, told.length === 0 && isLost ? null : told];
        }),
      );
    };
  };
}

// An event that a subscription is done with; nothing if it cannot have been sent.
function soughtEvent(
  { subscription }: SubscriptionRecord,
  event: OutlinedEntry,
  kept: readonly ReplayRecord[],
  { deadLettersDroppedAt }: Dropped,
): Sought[] {
  const { hasChanged, isOlder, isBeside } = proofOf(subscription, event);
  const wants = matchesEvent(subscription, event);
  // Only a replay sends what was there before the subscription.
  const replayedFrom = isOlder ? (kept.at(-1)?.replay.createdAt ?? null) : 0;
  if ((!wants && !hasChanged) || replayedFrom === null) return [];
  const isJudged = subscription.filter == null && !hasChanged && !isBeside;
  const isSettled = wants && isJudged && !isOlder && deadLettersDroppedAt < event.recordedAt;
  const at = Math.max(replayedFrom, event.recordedAt);
  return [{ filingId: event.filingId, key: event.id, at, isSettled }];
}

// The snapshots of a filing that were begun since it is what it is.
function soughtSnapshots(
  { subscription }: SubscriptionRecord,
  { id: filingId, state: { since, status } }: ToldFilings[number],
  event: OutlinedEntry | undefined,
  kept: readonly ReplayRecord[],
): Sought[] {
  const begun = kept.filter(({ replay: { source, request, createdAt } }) => {
    const isOfFiling = request.filingId === null || request.filingId === filingId;
    return source === 'filings' && isOfFiling && createdAt >= (event?.recordedAt ?? since);
  });
  const oldest = begun.at(-1);
  if (oldest === undefined) return [];
  const { createdAt, updatedAt, states, filter = null } = subscription;
  const isInAll =
    states === null &&
    filter === null &&
    matchesEvent(subscription, { type: snapshotType, state: '', status });
  const isSettled = begun.some(({ replay, state: { finished, cancelled, failed, delivered } }) => {
    const covers =
      replay.request.filingId !== null || (isInAll && updatedAt <= Math.max(createdAt, replay.createdAt));
    return covers && finished && cancelled !== true && failed === 0 && delivered > 0;
  });
  return [{ filingId, key: JSON.stringify(filingId), at: oldest.replay.createdAt, isSettled }];
}
