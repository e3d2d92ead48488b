import { createBoundedMap } from '../memory/bounded-map.ts';
import type { Subscription } from './subscription.ts';

// Maximum number of kinds of events whose verdict is remembered.
const verdictsMax = 1_024;

/** The properties by which log entries are filtered. */
export interface Matchable {
  readonly type: string;
  /** State abbreviation; empty where unknown. */
  readonly state: string;
}

/**
 * Whether a subscription asked for an event. Operational events go only to subscriptions that name them
 * (`account.*` does, `filing.*` does not). An event of a filing whose state is unknown passes every `states`
 * filter, because an unwanted callback is better than a missed removal. `tx` is the same state as `TX`.
 */
export function matchesEvent(
  subscription: Pick<Subscription, 'eventTypes' | 'states'>,
  event: Matchable,
): boolean {
  if (!subscription.eventTypes.some((pattern) => matchesType(pattern, event.type))) return false;
  if (subscription.states === null || event.state === '') return true;
  const state = event.state.toUpperCase();
  return subscription.states.some((asked) => asked.toUpperCase() === state);
}

/** `matchesEvent` of one subscription for a great many events; it remembers the verdicts. */
export function createEventMatcher(
  subscription: Pick<Subscription, 'eventTypes' | 'states'>,
): (event: Matchable) => boolean {
  const states = subscription.states?.map((asked) => asked.toUpperCase());
  const asked = { eventTypes: subscription.eventTypes, states: states === undefined ? null : states };
  const verdicts = createBoundedMap<string, boolean>(verdictsMax);
  return (event) => {
    const kind = `${event.type}\0${event.state}`;
    const known = verdicts.get(kind);
    if (known !== undefined) return known;
    const verdict = matchesEvent(asked, event);
    verdicts.set(kind, verdict);
    return verdict;
  };
}

/** Whether an exact name or a `prefix.*` means this type. */
export function matchesType(pattern: string, type: string): boolean {
  return pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
