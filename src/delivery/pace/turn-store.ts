import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { loadScript } from '../../redis/scripts.ts';

/** A request for turns. */
export interface TurnRequest {
  readonly wanted: number;
  /** Milliseconds between two turns. */
  readonly spacingMs: number;
  /** Maximum milliseconds for which turns are taken ahead. */
  readonly aheadMs: number;
  /** With none wanted: the version of the settings under which the subscription rests; null without rest. */
  readonly restsAt: number | null;
  /** Milliseconds by which attempts at the last turns were late at the receiver. */
  readonly lateMs: number;
}

/** The turns of subscriptions with a rate, over all processes. */
export interface TurnStore {
  /**
   * Takes up to `wanted` turns, atomically, on Redis's clock; `inMs` is the time until the first of them, or
   * until the next one where none was free. Null when another drain has begun. Rejects when Redis does;
   * turns may then be taken, and stay unused. With none wanted the subscription may rest until its next turn,
   * unless its settings are no longer of that version: new events do not wake it.
   */
  take(
    account: string,
    id: string,
    epoch: string,
    request: TurnRequest,
  ): Promise<{ readonly taken: number; readonly inMs: number } | null>;
}

/** Turns in Redis, beside the subscription's delivery state. */
export function createTurnStore(redis: RedisClient, keys: Keys): TurnStore {
  const script = loadScript(new URL('take-turns.lua', import.meta.url));
  return {
    async take(account, id, epoch, { wanted, spacingMs, aheadMs, restsAt, lateMs }) {
      const { subscriptions, resting, subscription } = keys.account(account);
      const reply = await script.run(
        redis,
        [subscriptions, subscription(id).state, resting],
        [id, epoch, wanted, spacingMs, aheadMs, restsAt ?? '', lateMs],
      );
      const [taken, inMs = 0] = reply as [number, number?];
      return taken < 0 ? null : { taken, inMs };
    },
  };
}
