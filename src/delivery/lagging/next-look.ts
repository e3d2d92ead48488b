import { subscriptionLag, type DeliveryState } from '../../subscriptions/subscription.ts';
import { isThrottledAt } from '../../subscriptions/options/limits.ts';
import { isBlocking } from '../blocked/block-policy.ts';
import { pauseAt } from '../schedule/endpoint-health.ts';
import { aheadMsOf } from '../schedule/stepped-clock.ts';

/** Whether a drain would have anything to do now; pure. */
export function needsDrain(state: DeliveryState, head: number, now: number): boolean {
  const pause = pauseAt(state, now);
  if (!state.enabled || isBlocking(state.blocked, now)) return false;
  if (aheadMsOf(state.settledAt, now) > 0) return true;
  if (state.blocked?.unverified === true) return true;
  if (pause === 'pausing' || waitsForTurn(state, now)) return false;
  const unread = subscriptionLag({ ...state, parked: 0, snapshots: 0 }, head) > 0;
  const due = state.nextAttemptAt > 0 && state.nextAttemptAt <= now;
  return unread || state.release || due || state.replaying > 0 || pause === 'impossible';
}

/**
 * When to look again whether a drain has anything to do, while the log gets no events; milliseconds on
 * Redis's clock; pure. Null: not before something gives the subscription work.
 */
export function nextLookAt(state: DeliveryState, head: number, now: number): number | null {
  if (!state.enabled) return null;
  if (needsDrain(state, head, now)) return now;
  if (isBlocking(state.blocked, now)) return state.blocked?.nextAt ?? now;
  if (pauseAt(state, now) === 'pausing') return state.pausedUntil;
  if (waitsForTurn(state, now)) return state.throttledUntil;
  if (state.nextAttemptAt > now) return state.nextAttemptAt;
  // Its lanes wait for the drain under way, or its settings were written by a clock that is a little ahead.
  return state.parked > 0 || state.settledAt > now ? now : null;
}

// A drain that waits for its turn is woken then.
function waitsForTurn({ throttledUntil }: DeliveryState, now: number): boolean {
  return throttledUntil > now && isThrottledAt(throttledUntil, now);
}
