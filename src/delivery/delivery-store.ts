import type { RedisClient } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { loadScript } from '../redis/scripts.ts';
import { parseDeliveryState } from '../subscriptions/delivery-state.ts';
import type { DeliveryState } from '../subscriptions/subscription.ts';
import type { Lane } from './lanes.ts';

/** One attempt to deliver an event, as the attempts list shows it. */
export interface Attempt {
  readonly eventId: string;
  readonly eventType: string;
  readonly filingId: string;
  /** 1 for the first try of the event. */
  readonly attempt: number;
  /** An outcome code of `docs/callback-outcomes.md`. */
  readonly outcome: string;
  readonly statusCode: number | null;
  readonly durationMs: number;
  /** The first 1 KiB of the response, as text; null when there was none. */
  readonly response: string | null;
  /** When it ended, milliseconds on Redis's clock. */
  readonly at: number;
}

/** An event that was given up for a subscription. */
export interface DeadLetter {
  readonly eventId: string;
  readonly eventType: string;
  readonly filingId: string;
  /** Where it stands in the log. */
  readonly position: number;
  readonly attempts: number;
  readonly lastOutcome: string;
  /** When it was given up, milliseconds on Redis's clock. */
  readonly at: number;
}

/** What a drain starts from. */
export interface Claim {
  /** The subscription's settings as stored; equal text means equal settings. */
  readonly settings: string;
  readonly delivery: DeliveryState;
  readonly lanes: ReadonlyMap<string, Lane>;
}

/** What a drain writes in one step. */
export interface Settlement {
  readonly state: Partial<DeliveryState>;
  /** Lanes that changed; null where a lane is empty now. */
  readonly lanes: ReadonlyMap<string, Lane | null>;
  readonly attempts: readonly Attempt[];
  readonly deadLetters: readonly DeadLetter[];
}

/** How a settlement went. */
export type SettleResult =
  | { readonly kind: 'settled'; readonly version: number; readonly enabled: boolean }
  | { readonly kind: 'fenced' }; // another drain has begun or the subscription is gone: stop

/** A page of a list, with the id to continue from; null at its end. */
export interface Listed<T> {
  readonly items: T[];
  readonly next: string | null;
}

/** What delivery writes about a subscription, and what the API reads of it. */
export interface DeliveryStore {
  /** Begins a drain and fences off earlier ones; null when the subscription is gone. */
  claim(account: string, id: string): Promise<Claim | null>;
  /** Writes all of it or, for a drain that is no longer the latest, nothing. */
  settle(account: string, id: string, epoch: number, settlement: Settlement): Promise<SettleResult>;
  /** Newest first; `before` is the `next` of the page before. */
  attempts(account: string, id: string, before: string | null, limit: number): Promise<Listed<Attempt>>;
  /** Newest first; `before` is the `next` of the page before. */
  deadLetters(account: string, id: string, before: string | null, limit: number): Promise<Listed<DeadLetter>>;
}

const attemptsKept = 1000;

/** Delivery in Redis; every drain writes through one fenced script. */
export function createDeliveryStore(redis: RedisClient, keys: Keys): DeliveryStore {
  const claimScript = loadScript(new URL('claim.lua', import.meta.url));
  const settleScript = loadScript(new URL('settle.lua', import.meta.url));

  async function list<T>(key: string, before: string | null, limit: number): Promise<Listed<T>> {
    const entries = await redis.xrevrange(key, before === null ? '+' : `(${before}`, '-', 'COUNT', limit + 1);
    const page = entries.slice(0, limit);
    return {
      items: page.map(([, fields]) => JSON.parse(fields[1] ?? '{}') as T),
      next: entries.length > limit ? (page.at(-1)?.[0] ?? null) : null,
    };
  }

  return {
    async claim(account, id) {
      const key = keys.account(account);
      const own = key.subscription(id);
      const reply = (await claimScript.run(redis, [key.subscriptions, own.state, own.lanes], [id])) as
        [string, string[], string[]] | null;
      if (reply === null) return null;
      const [settings, state, lanes] = reply;
      return { settings, delivery: parseDeliveryState(toRecord(state)), lanes: toLanes(lanes) };
    },
    async settle(account, id, epoch, settlement) {
      const own = keys.account(account).subscription(id);
      const reply = (await settleScript.run(
        redis,
        [own.state, own.lanes, own.attempts, own.dead],
        settleArguments(epoch, settlement),
      )) as [0] | [1, number, number];
      return reply[0] === 0
        ? { kind: 'fenced' }
        : { kind: 'settled', version: reply[1] ?? 0, enabled: reply[2] !== 0 };
    },
    attempts: (account, id, before, limit) =>
      list(keys.account(account).subscription(id).attempts, before, limit),
    deadLetters: (account, id, before, limit) =>
      list(keys.account(account).subscription(id).dead, before, limit),
  };
}

function settleArguments(epoch: number, settlement: Settlement): string[] {
  const state = Object.entries(settlement.state).flatMap(([name, value]) => [name, stateText(value)]);
  const lanes = [...settlement.lanes].flatMap(([filing, lane]) => [
    filing,
    lane === null ? '' : JSON.stringify(lane),
  ]);
  const attempts = settlement.attempts.map((attempt) => JSON.stringify(attempt));
  const dead = settlement.deadLetters.map((letter) => JSON.stringify(letter));
  const lists = [state, lanes, attempts, dead].flatMap((values) => [String(values.length), ...values]);
  return [String(epoch), String(attemptsKept), ...lists];
}

function stateText(value: DeliveryState[keyof DeliveryState]): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function toRecord(flat: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) record[flat[i] ?? ''] = flat[i + 1] ?? '';
  return record;
}

function toLanes(flat: readonly string[]): Map<string, Lane> {
  const lanes = new Map<string, Lane>();
  for (let i = 0; i + 1 < flat.length; i += 2)
    lanes.set(flat[i] ?? '', JSON.parse(flat[i + 1] ?? '') as Lane);
  return lanes;
}
