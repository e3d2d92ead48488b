import { setTimeout as delay } from 'node:timers/promises';
import type { Matchable } from '../subscriptions/matches-event.ts';

/** Wakes the subscriptions of an account that asked for one of these events. */
export type WakeMatching = (account: string, events: readonly Matchable[]) => Promise<void>;

/** The wake-ups that the next call serves. */
interface Gathered {
  readonly events: Map<string, Matchable>;
  readonly woken: Promise<void>;
}

// Maximum milliseconds of rest: a longer one would show as late delivery.
const restMsMax = 250;

/**
 * Gathers the wake-ups of an account, because each call of `wake` may concern all of its subscriptions. The
 * first wake-up calls it at once. Later ones wait until that call is over and as much time again has passed;
 * one call then serves all of them. `wake` never runs twice at once for an account, and runs for at most half
 * of the time. Each promise settles with the call that serves the wake-up.
 */
export function gatherWakeUps(wake: WakeMatching): WakeMatching {
  // Per account, when the next call may begin.
  const rested = new Map<string, Promise<void>>();
  const gathered = new Map<string, Gathered>();

  function call(account: string, events: readonly Matchable[]): Promise<void> {
    const startedAt = performance.now();
    const woken = wake(account, events);
    const isOver = async () => {
      await delay(Math.min(performance.now() - startedAt, restMsMax));
      if (!gathered.has(account)) rested.delete(account);
    };
    rested.set(account, woken.then(isOver, isOver));
    return woken;
  }

  async function callAfter(account: string, rest: Promise<void>, events: Gathered['events']): Promise<void> {
    await rest;
    gathered.delete(account);
    await call(account, [...events.values()]);
  }

  return (account, events) => {
    const rest = rested.get(account);
    if (rest === undefined) return call(account, events);
    let next = gathered.get(account);
    if (next === undefined) {
      const all = new Map<string, Matchable>();
      next = { events: all, woken: callAfter(account, rest, all) };
      gathered.set(account, next);
    }
    for (const event of events) next.events.set(`${event.type}\0${event.state}\0${event.status}`, event);
    return next.woken;
  };
}
