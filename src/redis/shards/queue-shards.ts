import type { RedisClient } from '../connection/connect.ts';
import { shardQueues } from '../keys.ts';
import { defineScript } from '../scripts.ts';
import {
  advancePlan,
  gapMs,
  parsePlan,
  planAt,
  shardsMax,
  steadyPlan,
  type ShardPlan,
} from './shard-plan.ts';
import { shardOf } from './shard-of.ts';

/**
 * The shards that the accounts' queues are spread over, as this process knows them. Their number may change
 * while processes run (docs/adr/0021-queues-in-several-slots.md).
 */
export interface QueueShards {
  /** Number of shards that may hold jobs, and which workers therefore work on. Never falls. */
  count(): number;
  /** BullMQ's prefix of the queues of a shard. */
  prefix(shard: number): string;
  /** The shard of an account's jobs. */
  homeOf(account: string): number;
  /**
   * The shard in which work for the account may still be under way because the number has changed; null when
   * there is none.
   */
  formerHomeOf(account: string): number | null;
  /**
   * Whether the number has changed so recently that other processes may still begin work in the former shard.
   */
  hasJustChanged(): boolean;
  /**
   * Resolves once this process knows every change that is in force; at once as a rule. Rejects when that is
   * unknown because Redis does not answer.
   */
  known(): Promise<void>;
  /** Reads the plan and takes the step that is due. Rejects when Redis does. */
  look(): Promise<void>;
  /** Calls back after `count` has grown. */
  onGrown(listener: () => void): void;
}

/** The shards with the means to change their number, for the daemon. */
export interface ChangingShards extends QueueShards {
  /** The plan at this time. */
  plan(): ShardPlan;
  /** Notes that all schedulers have been moved under this plan. */
  noteMoved(plan: ShardPlan): Promise<void>;
  /** Notes that no shard from the number in force on holds a job, unless a change is under way. */
  noteEmptyAbove(plan: ShardPlan): Promise<void>;
}

export interface QueueShardsDeps {
  readonly redis: RedisClient;
  /** The key of the plan. */
  readonly key: string;
  /** BullMQ's prefix of the queues of the first shard. */
  readonly queues: string;
  /** The number that this process was started with. */
  readonly wanted: number;
  /** The store was empty: no process knows of another number. */
  readonly fresh: boolean;
  /** Milliseconds in which every drain has ended that began before a change. */
  readonly settleMs: number;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  /** Called when another number is in force. */
  readonly onChange?: (change: { from: number; to: number }) => void;
}

// Milliseconds for which what was read is believed; less than `announceMs`, by more than two clocks differ.
const believedMs = 5_000;
// Milliseconds after which it is read again in passing.
const readAgainMs = 2_500;

const replaceIf = defineScript(`
local before = redis.call('GET', KEYS[1]) or ''
if before ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1`);

/** One shard for all accounts, under this prefix. */
export function oneShard(queues: string): QueueShards {
  return {
    count: () => 1,
    prefix: () => queues,
    homeOf: () => 0,
    formerHomeOf: () => null,
    hasJustChanged: () => false,
    known: () => Promise.resolve(),
    look: () => Promise.resolve(),
    onGrown: () => undefined,
  };
}

/** Reads the plan, and asks in it for the number that this process was started with. */
export async function openQueueShards(deps: QueueShardsDeps): Promise<ChangingShards> {
  const { redis, key, now } = deps;
  const listeners: (() => void)[] = [];
  let plan = steadyPlan(1, 1);
  let inForce: number | null = null;
  let count = 1;
  let readAt = -Infinity;
  // Whether a plan was ever found or written.
  let isStored = false;
  let reading: Promise<void> | null = null;

  const present = (): ShardPlan => planAt(plan, now());

  function take(read: ShardPlan, at: number): void {
    plan = read;
    readAt = at;
    const { number } = present();
    if (inForce !== null && number !== inForce) deps.onChange?.({ from: inForce, to: number });
    inForce = number;
    if (read.highest <= count) return;
    count = read.highest;
    for (const listener of listeners) listener();
  }

  // Another process may write first; its plan is then the one that the change is made to. A plan that was lost
  // or cannot be read is replaced by the last known one.
  async function change(to: (before: ShardPlan) => ShardPlan): Promise<void> {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const at = performance.now();
      const text = await redis.get(key);
      const read = parsePlan(text);
      const before = read ?? (text === null ? plan : { ...plan, highest: shardsMax });
      const after = to(before);
      const isNew = after !== before || (read === null && (isStored || text !== null));
      if (isNew && (await replaceIf.run(redis, [key], [text ?? '', JSON.stringify(after)])) !== 1) continue;
      isStored ||= isNew || read !== null;
      return take(after, at);
    }
  }

  const look = () => change((before) => advancePlan(before, now(), deps.settleMs));
  const lookOnce = () => (reading ??= look().finally(() => (reading = null)));

  await change((before) => {
    if (before.wanted === deps.wanted) return before;
    // In an empty store there is nothing to move.
    return deps.fresh && before === plan ? steadyPlan(deps.wanted) : { ...before, wanted: deps.wanted };
  });
  return {
    count: () => count,
    prefix: (shard) => shardQueues(deps.queues, shard),
    homeOf: (account) => shardOf(account, present().number),
    formerHomeOf(account) {
      const { former } = present();
      return former === null ? null : shardOf(account, former);
    },
    hasJustChanged() {
      const { former, since } = present();
      return former !== null && now() - since < gapMs;
    },
    async known() {
      const age = performance.now() - readAt;
      if (age < readAgainMs) return;
      const read = lookOnce();
      if (age < believedMs) read.catch(() => undefined);
      else await read;
    },
    look: lookOnce,
    onGrown: (listener) => void listeners.push(listener),
    plan: present,
    noteMoved: ({ since }) =>
      change((before) => {
        const at = planAt(before, now());
        return at.since === since && !at.moved ? { ...at, moved: true } : before;
      }),
    noteEmptyAbove: ({ since, number }) =>
      change((before) => {
        const isSame = before.since === since && before.number === number;
        const isSteady = before.former === null && before.next === null;
        return isSame && isSteady && before.highest > number ? { ...before, highest: number } : before;
      }),
  };
}
