import { randomBytes } from 'node:crypto';
import type { NewEvent } from '../../events/event.ts';
import { bodiesAtOnceMax, lostBody, type LogRead } from '../../events/event-log.ts';
import { toOutline, withBody, type StreamEntry } from '../../events/log-entry.ts';
import type { Checkpoint } from '../../events/timeline.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys, SubscriptionKeys } from '../../redis/keys.ts';
import { committing, loadScript } from '../../redis/scripts.ts';
import { decodeRecord, isUnreadable, parseShaped, type OnUnreadable } from '../../redis/unreadable-record.ts';
import { parseDeliveryState } from '../../subscriptions/delivery-state.ts';
import type { DeliveryState } from '../../subscriptions/subscription.ts';
import type { Attempt, DeadLetter, ListedDeadLetter } from './delivery-records.ts';
import { parseLane, type Lane } from '../schedule/lanes.ts';
import { settleArguments } from './settle-arguments.ts';

/** Settings and state of a subscription as another drain or the API left them. */
export interface Standing {
  /** The subscription's settings as stored; equal text means equal settings. */
  readonly settings: string;
  readonly delivery: DeliveryState;
  /** Ids of the unfinished replays, oldest first. */
  readonly replays: readonly string[];
}

/** What a drain starts from, all of one moment. */
export interface Claim extends Standing {
  /** Null when those that the caller has are still true. */
  readonly lanes: ReadonlyMap<string, Lane> | null;
  /** The newest event in the log. */
  readonly head: Checkpoint;
  /** What comes first after the cursor; nothing while the subscription is disabled. */
  readonly read: LogRead;
}

/** A drain as its writes name it. */
export interface DrainFence {
  readonly epoch: string;
  /** How often it has written. */
  readonly settles: number;
}

/** The part of the delivery state that tells how far delivery has got. */
export type ProgressFields = Pick<DeliveryState, 'cursor' | 'done' | 'parked'> & {
  /** Of the cursor; null where the drain does not know it, and the log has it looked up. */
  readonly timeline: string | null;
};

/** The part that tells how the endpoint does, `release` to be taken back included. */
export type EndpointFields = Pick<
  DeliveryState,
  | 'failures'
  | 'failedFilings'
  | 'failingSince'
  | 'lastSuccessAt'
  | 'workedAt'
  | 'pausedUntil'
  | 'probes'
  | 'nextAttemptAt'
  | 'release'
  | 'releasedAt'
  | 'settledAt'
>;

/** What a drain writes in one step. */
export interface Settlement {
  /** Fields that changed. */
  readonly progress: Partial<ProgressFields>;
  /** Fields that changed; left out if the endpoint is no longer of the version that the drain knows. */
  readonly endpoint: Partial<EndpointFields>;
  /** Lanes that changed; null where a lane is empty now. */
  readonly lanes: ReadonlyMap<string, Lane | null>;
  readonly attempts: readonly Attempt[];
  readonly deadLetters: readonly DeadLetter[];
  /** Ids of dead letters whose event was delivered by a replay: they leave the list. */
  readonly recovered: readonly string[];
  /** What changed of the replay that is worked on. */
  readonly replay: ReplayChanges | null;
  /** Told of the subscription in the account's log; null = nothing. */
  readonly announced: { readonly event: NewEvent; readonly at: number } | null;
  /**
   * Disables the subscription, if the endpoint is still of that version, and puts the event about it into the
   * log.
   */
  readonly disabling: { readonly reason: string; readonly event: NewEvent; readonly at: number } | null;
}

/** The part of a settlement that is about a replay. */
export interface ReplayChanges {
  readonly id: string;
  /** Its state as JSON; null when it is as before. */
  readonly state: string | null;
  /** Those of its lanes that changed; null where a lane is empty now. */
  readonly lanes: ReadonlyMap<string, Lane | null>;
  readonly finished: boolean;
}

/** How a settlement, or a look, went. */
export type SettleResult =
  | {
      readonly kind: 'settled';
      readonly head: Checkpoint;
      readonly enabled: boolean;
      /** Null when the settings are still of the version that the drain knows. */
      readonly changed: Standing | null;
    }
  | { readonly kind: 'fenced' } // another drain has begun or the subscription is gone: stop
  | { readonly kind: 'set_back' }; // Redis was set back under the drain: begin anew from what it holds now

/** A page of a list, with the id to continue from; null at its end. */
export interface Listed<T> {
  readonly items: T[];
  readonly next: string | null;
}

/** What delivery writes about a subscription, and what the API reads of it. */
export interface DeliveryStore {
  /**
   * Begins a drain and fences off earlier ones; null when the subscription is gone. `entries` is how many are
   * wanted at most, `known` the drain after whose last write the caller has the lanes, if any. A cursor that
   * is not of the log's timeline is brought back to where the two part.
   */
  claim(account: string, id: string, entries: number, known: DrainFence | null): Promise<Claim | null>;
  /**
   * Writes all of it or, for a drain that is no longer the latest or under which Redis was set back, nothing;
   * null only looks. `version` and `endpointVersion` are those of the settings which the drain works with,
   * `known` the newest event that it has taken in, `foundAt` the log's head when that was last found in it,
   * null when it was not yet; `now` milliseconds on Redis's clock.
   */
  settle(
    account: string,
    id: string,
    drain: DrainFence & {
      readonly version: number;
      readonly endpointVersion: number;
      readonly known: Checkpoint;
      readonly foundAt: Checkpoint | null;
    },
    settlement: Settlement | null,
    now: number,
  ): Promise<SettleResult>;
  /** Newest first; `before` is the `next` of the page before. */
  attempts(account: string, id: string, before: string | null, limit: number): Promise<Listed<Attempt>>;
  /** Newest first; `before` is the `next` of the page before. */
  deadLetters(
    account: string,
    id: string,
    before: string | null,
    limit: number,
  ): Promise<Listed<ListedDeadLetter>>;
}

type ClaimReply = [
  settings: Buffer,
  state: Buffer[],
  lanes: Buffer[] | null,
  head: number,
  timeline: Buffer,
  entries: StreamEntry[],
  bodies: Buffer[],
  running: Buffer,
];
type SettleReply =
  | [0 | -1]
  | [1, number, string, number]
  | [1, number, string, number, settings: string, state: string[], running: string];

// Read within a script, which copies them twice.
const claimedBytesMax = bodiesAtOnceMax / 4;
const claimedMax = 200;

/**
 * Delivery in Redis; every drain writes through one fenced script. Attempts and dead letters of before
 * `oldestKept` (milliseconds on Redis's clock, null: none) may go with each write.
 */
export function createDeliveryStore(
  redis: RedisClient,
  keys: Keys,
  oldestKept: (now: number) => number | null,
  onUnreadable: OnUnreadable = () => undefined,
): DeliveryStore {
  const claimScript = loadScript(new URL('claim.lua', import.meta.url));
  const lookScript = loadScript(new URL('settle.lua', import.meta.url));
  const settleScript = committing(lookScript);

  function readEntry<T>(
    account: string,
    kind: string,
    key: string,
    id: string,
    fields: readonly string[],
  ): (T & { readonly id: string })[] {
    try {
      return [{ ...(decodeRecord(key, id, fields[1] ?? '', parseEntry) as T), id }];
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      onUnreadable({ account, kind, key, field: id, reason: error.message, remedy: 'left_out' });
      return [];
    }
  }

  async function list<T>(
    account: string,
    kind: string,
    key: string,
    before: string | null,
    limit: number,
  ): Promise<Listed<T & { readonly id: string }>> {
    const entries = await redis.xrevrange(key, before === null ? '+' : `(${before}`, '-', 'COUNT', limit + 1);
    const page = entries.slice(0, limit);
    return {
      items: page.flatMap(([entryId, fields]) => readEntry<T>(account, kind, key, entryId, fields)),
      next: entries.length > limit ? (page.at(-1)?.[0] ?? null) : null,
    };
  }

  return {
    async claim(account, id, entries, known) {
      const key = keys.account(account);
      const own = key.subscription(id);
      const epoch = randomBytes(9).toString('base64url');
      const wanted = Math.min(entries, claimedMax);
      const reply = await claimScript.runBuffer(
        redis,
        [key.subscriptions, own.state, own.lanes, key.head, key.events, key.bodies, own.replays],
        [id, wanted, claimedBytesMax, epoch, known?.epoch ?? '', known?.settles ?? ''],
      );
      if (reply === null) return null;
      const claim = toClaim(reply as ClaimReply, wanted, own);
      for (const { position } of claim.read.lost ?? []) onUnreadable(lostBody(account, key.bodies, position));
      return claim;
    },
    async settle(account, id, drain, settlement, now) {
      const key = keys.account(account);
      const own = key.subscription(id);
      const { known, foundAt } = drain;
      const reply = await (settlement === null ? lookScript : settleScript).run(
        redis,
        [
          key.subscriptions,
          own.state,
          own.lanes,
          own.attempts,
          own.dead,
          own.replays,
          key.head,
          key.events,
          key.resting,
          key.bodies,
          own.replayLanes,
        ],
        [
          id,
          drain.epoch,
          drain.settles,
          drain.version,
          drain.endpointVersion,
          known.position,
          known.timeline,
          foundAt === null ? '' : `${foundAt.position} ${foundAt.timeline}`,
          Math.max(0, oldestKept(now) ?? 0),
          settlement === null ? '' : '1',
          ...settleArguments(settlement),
        ],
      );
      return toSettleResult(reply as SettleReply, own, foundAt);
    },
    attempts: (account, id, before, limit) =>
      list<Attempt>(account, 'sub:attempts', keys.account(account).subscription(id).attempts, before, limit),
    deadLetters: (account, id, before, limit) =>
      list<DeadLetter>(account, 'sub:dead', keys.account(account).subscription(id).dead, before, limit),
  };
}

function toClaim(reply: ClaimReply, wanted: number, own: SubscriptionKeys): Claim {
  const [settings, state, lanes, head, timeline, stream, bodies, running] = reply;
  // As many as the script has added bodies to, '' where there was none.
  const outline = stream.slice(0, Math.max(bodies.length, 1)).map(toOutline);
  const read = outline.map((entry, i) => withBody(entry, bodies[i] ?? null));
  const entries = read.filter((entry) => entry !== null);
  const lost = outline.filter((_, i) => read[i] === null && bodies[i] !== undefined);
  return {
    ...toStanding(settings.toString(), state.map(String), running.toString(), own),
    lanes: lanes === null ? null : toLanes(lanes.map(String), own),
    head: { position: head, timeline: timeline.toString() },
    read: {
      entries,
      more: stream.length === wanted || entries.length < stream.length,
      ...(lost.length === 0 ? {} : { lost }),
    },
  };
}

// Attempts and dead letters.
function parseEntry(text: string): object | null {
  return parseShaped<{ eventId: string; at: number }>(text, { eventId: 'string', at: 'number' });
}

function toLanes(flat: readonly string[], own: SubscriptionKeys): Map<string, Lane> {
  const lanes = new Map<string, Lane>();
  for (const [filingId, text] of pairs(flat))
    lanes.set(filingId, decodeRecord(own.lanes, filingId, text, parseLane));
  return lanes;
}

function toSettleResult(reply: SettleReply, own: SubscriptionKeys, foundAt: Checkpoint | null): SettleResult {
  if (reply.length === 1) return { kind: reply[0] === 0 ? 'fenced' : 'set_back' };
  const [, position, timeline, enabled] = reply;
  const changed = reply.length === 4 ? null : toStanding(reply[4], reply[5], reply[6], own);
  const head = timeline === '' && foundAt !== null ? foundAt : { position, timeline };
  return { kind: 'settled', head, enabled: enabled !== 0, changed };
}

function toStanding(
  settings: string,
  state: readonly string[],
  running: string,
  own: SubscriptionKeys,
): Standing {
  return {
    settings,
    delivery: parseDeliveryState(Object.fromEntries(pairs(state)), own.state),
    replays: running === '' ? [] : running.split(' '),
  };
}

function* pairs(flat: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i] ?? '', flat[i + 1] ?? ''];
}
