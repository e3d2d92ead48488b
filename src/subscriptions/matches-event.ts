import { everyType, notedType } from '../events/event-types.ts';
import type { Subscription } from './subscription.ts';

/** The properties by which log entries are filtered. */
export interface Matchable {
  readonly type: string;
  /** State abbreviation; empty if unknown. */
  readonly state: string;
  /** The filing's status after the event; empty if unknown, and for operational events. */
  readonly status: string;
}

/** The fields of a subscription that decide which events it wants. */
export type Wishes = Pick<Subscription, 'eventTypes' | 'states' | 'statuses' | 'confined'>;

/**
 * Whether events of this type name a subscription and its endpoint; pure. Subscriptions that are confined to
 * what their token sees get none of them.
 */
export function isAboutReceivers(type: string): boolean {
  return type === 'account.certificate_expiring' || type.startsWith('subscription.');
}

/**
 * Whether a subscription asked for an event. Operational events go only to subscriptions that name them
 * (`account.*` does, `filing.*` does not). An event of a filing whose state or status is unknown passes every
 * filter on it, because an unwanted callback is better than a missed removal. `tx` is the same state as `TX`.
 */
export function matchesEvent({ eventTypes, states, statuses, confined }: Wishes, event: Matchable): boolean {
  if (confined === true && isAboutReceivers(event.type)) return false;
  if (!eventTypes.some((pattern) => matchesType(pattern, event.type))) return false;
  return isAmong(states, event.state) && isAmong(statuses ?? null, event.status);
}

/** Whether the subscription gets an event when a filing becomes REJECTED, at least in some state; pure. */
export function coversRejections(wishes: Wishes): boolean {
  return matchesEvent(wishes, { type: 'filing.rejected', state: '', status: 'REJECTED' });
}

function isAmong(asked: readonly string[] | null, value: string): boolean {
  if (asked === null || value === '') return true;
  const upper = value.toUpperCase();
  return asked.some((one) => one.toUpperCase() === upper);
}

/** `matchesEvent` of one subscription for many events at once; it remembers each kind of them. */
export function createEventMatcher(wishes: Wishes): (event: Matchable) => boolean {
  const verdicts = new Map<string, boolean>();
  return (event) => {
    const kind = `${event.type}\0${event.state}\0${event.status}`;
    const verdict = verdicts.get(kind) ?? matchesEvent(wishes, event);
    verdicts.set(kind, verdict);
    return verdict;
  };
}

/**
 * Whether an exact name, a `prefix.*` or `*` means this type. `filing.*` does not mean `filing.noted`, which
 * is no news of the partner service.
 */
export function matchesType(pattern: string, type: string): boolean {
  if (pattern === everyType) return true;
  if (type === notedType) return pattern === type;
  return pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
