import { randomUUID } from 'node:crypto';
import { bodiesAtOnceMax, lostBody } from '../../events/event-log.ts';
import type { Checkpoint } from '../../events/timeline.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript } from '../../redis/scripts.ts';
import { createScriptBatches } from '../../redis/batches/script-batches.ts';
import { decodeRecord, readOrLeaveOut, type OnUnreadable } from '../../redis/unreadable-record.ts';
import { parseListed, type Attempt, type DeadLetter, type ListedDeadLetter } from './delivery-records.ts';
import {
  toClaim,
  toSettleResult,
  type Claim,
  type ClaimReply,
  type SettleReply,
  type SettleResult,
} from './replies.ts';
import { attemptLines, settleArguments, type Settlement } from './settle-arguments.ts';

/** A drain and its latest write, as its writes name them. */
export interface DrainFence {
  readonly epoch: string;
  /** Number of its writes so far. */
  readonly settles: number;
}

/** A page of a list, with the id to continue from; null at its end. */
export interface Listed<T> {
  readonly items: T[];
  readonly next: string | null;
}

/** The delivery state, attempts and dead letters of subscriptions. */
export interface DeliveryStore {
  /**
   * Begins a drain and fences off earlier drains, atomically; null when the subscription is gone. `entries`
   * is the maximum number of entries read. `known` is the drain whose last write left the lanes that the
   * caller has, if any. A cursor that is not of the log's timeline is moved back to the position where the
   * two part.
   */
  claim(account: string, id: string, entries: number, known: DrainFence | null): Promise<Claim | null>;
  /**
   * Writes a settlement atomically; null only looks. Nothing is written for a drain that is no longer the
   * latest, or if Redis was set back during it. `version` and `endpointVersion` are those of the drain's
   * settings. `known` is the newest event that the drain has accepted. `foundAt` is the log's head when that
   * event was last found in the log; null when it was not found yet. `now` is in milliseconds on Redis's
   * clock.
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
  /**
   * Adds the attempt of a test call, which changes nothing else; not where the subscription is gone. `now` is
   * in milliseconds on Redis's clock.
   */
  addTest(account: string, id: string, attempt: Attempt, now: number): Promise<void>;
  /** Newest first; `before` is the `next` of the page before. */
  attempts(account: string, id: string, before: string | null, limit: number): Promise<Listed<Attempt>>;
  /**
   * Newest first; `before` is the `next` of the page before. Only those written after the one whose id is
   * `after`, if given.
   */
  deadLetters(
    account: string,
    id: string,
    before: string | null,
    limit: number,
    after?: string,
  ): Promise<Listed<ListedDeadLetter>>;
}

// Maximum bytes of bodies read by the claim, whose script copies them twice.
const claimedBytesMax = bodiesAtOnceMax / 4;
const claimedMax = 200;

// KEYS 1 subscriptions  2 attempts; ARGV subscription id, oldest stream id kept, attempt, maximum bytes of
// the account. Test calls are rare, so the stream is measured at each (settle.lua does so now and then).
const addTest = defineScript(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return end
redis.call('XADD', KEYS[2], 'MINID', '~', ARGV[2], '*', 'a', ARGV[3])
local share = ARGV[4] * 2 / 3 / redis.call('HLEN', KEYS[1])
local length, bytes = redis.call('XLEN', KEYS[2]), redis.pcall('MEMORY', 'USAGE', KEYS[2], 'SAMPLES', 0)
if type(bytes) ~= 'number' then bytes = length * 1024 end
if bytes > share then redis.call('XTRIM', KEYS[2], 'MAXLEN', '~', math.max(1, math.floor(length * share / bytes))) end`);

/**
 * Delivery in Redis; every drain writes through one fenced script. Each write may remove attempts and dead
 * letters from before `oldestKept` (milliseconds on Redis's clock; null removes none), and the oldest of a
 * subscription that take more than its equal share of `bytesMax`, the bytes of them that an account keeps.
 */
export function createDeliveryStore(
  redis: RedisClient,
  keys: Keys,
  oldestKept: (now: number) => number | null,
  bytesMax: number,
  onUnreadable: OnUnreadable = () => undefined,
): DeliveryStore {
  const [claimFile, settleFile] = [
    new URL('claim.lua', import.meta.url),
    new URL('settle.lua', import.meta.url),
  ];
  const claims = createScriptBatches(claimFile, { redis, shared: 4, buffers: true });
  const looks = createScriptBatches(settleFile, { redis, shared: 5 });
  const settles = createScriptBatches(settleFile, { redis, shared: 5, commits: true });

  async function list<T>(
    account: string,
    key: string,
    before: string | null,
    limit: number,
    after?: string,
  ): Promise<Listed<T & { readonly id: string }>> {
    const [newest, oldest] = [before === null ? '+' : `(${before}`, after === undefined ? '-' : `(${after}`];
    const entries = await redis.xrevrange(key, newest, oldest, 'COUNT', limit + 1);
    const page = entries.slice(0, limit);
    return {
      items: page.flatMap(([id, fields]) =>
        readOrLeaveOut(account, onUnreadable, () => ({
          ...(decodeRecord(key, id, fields[1] ?? '', parseListed) as T),
          id,
        })),
      ),
      next: entries.length > limit ? (page.at(-1)?.[0] ?? null) : null,
    };
  }

  return {
    async claim(account, id, entries, known) {
      const key = keys.account(account);
      const own = key.subscription(id);
      const epoch = randomUUID();
      const wanted = Math.min(entries, claimedMax);
      const { reply, of } = await claims.run(
        account,
        [key.subscriptions, key.head, key.events, key.bodies, own.state, own.lanes, own.replays],
        [id, wanted, claimedBytesMax, epoch, known?.epoch ?? '', known?.settles ?? ''],
      );
      if (reply === null) return null;
      const claim = toClaim(reply as ClaimReply, wanted, own, (call) => of(call) as ClaimReply);
      for (const { position } of claim.read.lost ?? [])
        onUnreadable(account, lostBody(key.bodies, position), 'left_out');
      return claim;
    },
    async settle(account, id, drain, settlement, now) {
      const key = keys.account(account);
      const own = key.subscription(id);
      const { known, foundAt } = drain;
      const { reply } = await (settlement === null ? looks : settles).run(
        account,
        [
          key.subscriptions,
          key.head,
          key.events,
          key.bodies,
          key.resting,
          own.state,
          own.lanes,
          own.attempts,
          own.dead,
          own.replays,
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
          bytesMax,
          ...settleArguments(settlement),
        ],
        attemptLines(settlement),
      );
      return toSettleResult(reply as SettleReply, own, foundAt);
    },
    async addTest(account, id, attempt, now) {
      const key = keys.account(account);
      const used = [key.subscriptions, key.subscription(id).attempts];
      const kept = Math.max(0, oldestKept(now) ?? 0);
      await addTest.run(redis, used, [id, kept, JSON.stringify(attempt), bytesMax]);
    },
    attempts: (account, id, before, limit) =>
      list<Attempt>(account, keys.account(account).subscription(id).attempts, before, limit),
    deadLetters: (account, id, before, limit, after) =>
      list<DeadLetter>(account, keys.account(account).subscription(id).dead, before, limit, after),
  };
}
