import { setTimeout as delay } from 'node:timers/promises';
import { vi } from 'vitest';
import type { TapingReceiver } from '../../support/world/taping-receiver.ts';

/** Receivers of which some fail now and then and some are slow just when it matters. */
export interface UnevenAnswers {
  /**
   * From now on the slow subscribers hold some answers back, until the returned function is called or an
   * attempt's time is nearly over. Resolves when each of them holds one: so long its drain goes on with what
   * it knows.
   */
  hold(): Promise<() => void>;
}

const failureShare = 0.05;
const heldShare = 0.1;
// Far from `DELIVERY_MAX_IN_FLIGHT`, and from `DELIVERY_TIMEOUT_MS`.
const heldMax = 3;
const heldMsMax = 12_000;
const slow = ['default.b', 'second.b'];

/** The subscribers of the account `second` fail now and then, those whose name ends in `b` are slow. */
export function answerUnevenly(receiver: TapingReceiver, random: () => number): UnevenAnswers {
  const held = new Map(slow.map((subscriber) => [subscriber, 0]));
  let over: Promise<unknown> | null = null;

  async function untilOver(subscriber: string, end: Promise<unknown>): Promise<void> {
    held.set(subscriber, (held.get(subscriber) ?? 0) + 1);
    await Promise.race([end, delay(heldMsMax)]);
    held.set(subscriber, (held.get(subscriber) ?? 0) - 1);
  }

  receiver.answer((subscriber) => {
    const status = subscriber.startsWith('second') && random() < failureShare ? 503 : 200;
    const answer = { status, afterMs: random() * 50 };
    const count = held.get(subscriber) ?? heldMax;
    const isHeld = count === 0 || (count < heldMax && random() < heldShare);
    return over !== null && isHeld ? { ...answer, after: untilOver(subscriber, over) } : answer;
  });

  return {
    async hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      over = promise;
      await vi.waitUntil(() => [...held.values()].every((count) => count > 0), { timeout: 60_000 });
      return () => {
        over = null;
        resolve();
      };
    },
  };
}
