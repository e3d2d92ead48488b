import type { NewEvent } from '../events/event.ts';
import { toLogEntry, type LogEntry } from '../events/event-log.ts';
import type { RedisClient } from '../redis/connect.ts';
import { ConnectionLostError, countLosses } from '../redis/connection-losses.ts';
import type { Keys } from '../redis/keys.ts';
import { committing, loadScript } from '../redis/scripts.ts';
import { parseDeliveryState } from '../subscriptions/delivery-state.ts';
import type { DeliveryState } from '../subscriptions/subscription.ts';
import type { Attempt, DeadLetter, ListedDeadLetter } from './delivery-records.ts';
import type { Lane } from './lanes.ts';
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
  /** Connections lost before it; a drain that has lost one since knows nothing for certain any more. */
  readonly losses: number;
  /** Position of the newest event in the log. */
  readonly head: number;
  /** The first entries after the cursor; none while the subscription is disabled. */
  readonly entries: readonly LogEntry[];
}

/** The part of the delivery state that tells how far delivery has got. */
export type ProgressFields = Pick<DeliveryState, 'cursor' | 'done' | 'parked'>;

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
>;

/** What a drain writes in one step. */
export interface Settlement {
  /** Fields that changed. */
  readonly progress: Partial<ProgressFields>;
  /** Fields that changed; left out if the settings are no longer of the version that the drain knows. */
  readonly endpoint: Partial<EndpointFields>;
  /** Lanes that changed; null where a lane is empty now. */
  readonly lanes: ReadonlyMap<string, Lane | null>;
  readonly attempts: readonly Attempt[];
  readonly deadLetters: readonly DeadLetter[];
  /** Ids of dead letters whose event was delivered by a replay: they leave the list. */
  readonly recovered: readonly string[];
  /** Where a replay stands, as JSON. */
  readonly replay: { readonly id: string; readonly state: string; readonly finished: boolean } | null;
  /** Told of the subscription in the account's log; null = nothing. */
  readonly announced: { readonly event: NewEvent; readonly at: number } | null;
  /** Disables the subscription, if the settings are still of that version, and puts the event about it into the log. */
  readonly disabling: { readonly reason: string; readonly event: NewEvent; readonly at: number } | null;
}

/** How a settlement, or a look, went. */
export type SettleResult =
  | {
      readonly kind: 'settled';
      readonly head: number;
      readonly enabled: boolean;
      /** Null when the settings are still of the version that the drain knows. */
      readonly changed: Standing | null;
    }
  | { readonly kind: 'fenced' }; // another drain has begun or the subscription is gone: stop

/** A page of a list, with the id to continue from; null at its end. */
export interface Listed<T> {
  readonly items: T[];
  readonly next: string | null;
}

/** What delivery writes about a subscription, and what the API reads of it. */
export interface DeliveryStore {
  /**
   * Begins a drain and fences off earlier ones; null when the subscription is gone. `entries` is how many are wanted,
   * `known` the drain of which the caller still has the lanes, if any.
   */
  claim(
    account: string,
    id: string,
    entries: number,
    known: { readonly epoch: number; readonly losses: number } | null,
  ): Promise<Claim | null>;
  /**
   * Writes all of it or, for a drain that is no longer the latest, nothing; null only looks. `version` is that of the
   * settings which the drain works with, `losses` those of its claim, `now` milliseconds on Redis's clock. Rejects with
   * ConnectionLostError, with nothing written, when a connection was lost since the claim.
   */
  settle(
    account: string,
    id: string,
    drain: { readonly epoch: number; readonly version: number; readonly losses: number },
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

type ClaimReply = [Buffer, Buffer[], Buffer[] | null, Buffer, [Buffer, Buffer[]][], Buffer];
type SettleReply = [0] | [1, number, number] | [1, number, number, string, string[], string];

/** Delivery in Redis; every drain writes through one fenced script. Attempts and dead letters are kept at least `retentionMs`. */
export function createDeliveryStore(redis: RedisClient, keys: Keys, retentionMs: number): DeliveryStore {
  const claimScript = loadScript(new URL('claim.lua', import.meta.url));
  const lookScript = loadScript(new URL('settle.lua', import.meta.url));
  const settleScript = committing(lookScript);
  const losses = countLosses(redis);

  async function list<T>(
    key: string,
    before: string | null,
    limit: number,
  ): Promise<Listed<T & { readonly id: string }>> {
    const entries = await redis.xrevrange(key, before === null ? '+' : `(${before}`, '-', 'COUNT', limit + 1);
    const page = entries.slice(0, limit);
    return {
      items: page.map(([entryId, fields]) => ({ ...(JSON.parse(fields[1] ?? '{}') as T), id: entryId })),
      next: entries.length > limit ? (page.at(-1)?.[0] ?? null) : null,
    };
  }

  return {
    async claim(account, id, entries, known) {
      const key = keys.account(account);
      const own = key.subscription(id);
      const lossesBefore = losses();
      const reply = await claimScript.runBuffer(
        redis,
        [key.subscriptions, own.state, own.lanes, key.head, key.events, own.replays],
        [id, entries, known?.losses === lossesBefore ? known.epoch : ''],
      );
      return reply === null ? null : { ...toClaim(reply as ClaimReply), losses: lossesBefore };
    },
    async settle(account, id, { epoch, version, losses: lossesBefore }, settlement, now) {
      if (losses() !== lossesBefore) throw new ConnectionLostError();
      const key = keys.account(account);
      const own = key.subscription(id);
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
        ],
        [id, epoch, version, Math.max(0, now - retentionMs), ...settleArguments(settlement)],
      );
      return toSettleResult(reply as SettleReply);
    },
    attempts: (account, id, before, limit) =>
      list<Attempt>(keys.account(account).subscription(id).attempts, before, limit),
    deadLetters: (account, id, before, limit) =>
      list<DeadLetter>(keys.account(account).subscription(id).dead, before, limit),
  };
}

function toClaim([settings, state, lanes, head, entries, running]: ClaimReply): Omit<Claim, 'losses'> {
  return {
    ...toStanding(settings.toString(), state.map(String), running.toString()),
    lanes: lanes === null ? null : toLanes(lanes.map(String)),
    head: Number(head.toString()),
    entries: entries.map(toLogEntry),
  };
}

function toLanes(flat: readonly string[]): Map<string, Lane> {
  const lanes = new Map<string, Lane>();
  for (const [filingId, text] of pairs(flat)) lanes.set(filingId, JSON.parse(text) as Lane);
  return lanes;
}

function toSettleResult(reply: SettleReply): SettleResult {
  if (reply.length === 1) return { kind: 'fenced' };
  const changed = reply.length === 3 ? null : toStanding(reply[3], reply[4], reply[5]);
  return { kind: 'settled', head: reply[1], enabled: reply[2] !== 0, changed };
}

function toStanding(settings: string, state: readonly string[], running: string): Standing {
  return {
    settings,
    delivery: parseDeliveryState(Object.fromEntries(pairs(state))),
    replays: running === '' ? [] : running.split(' '),
  };
}

function* pairs(flat: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i] ?? '', flat[i + 1] ?? ''];
}
