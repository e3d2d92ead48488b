import { buildOperationalEvent, type NewEvent } from '../events/event.ts';
import { subscriptionHost, type Subscription } from '../subscriptions/subscription.ts';

type Subject = Pick<Subscription, 'account' | 'id' | 'url'>;

/**
 * The event `subscription.disabled`; pure. `occasion` is the version of the settings, under each of which
 * the subscription is disabled once for each reason.
 */
export function buildDisabledEvent(subject: Subject, reason: string, occasion: number, at: number): NewEvent {
  return build(subject, 'subscription.disabled', `${occasion} ${reason}`, at, { reason });
}

/** The events that a subscription has missed while it was disabled for failing. */
export interface Missed {
  /** When it was disabled, milliseconds on Redis's clock. */
  readonly disabledAt: number;
  /** Number of events that waited, the one that it has accepted included. */
  readonly waiting: number;
  /** Number of events that had left the log by then. */
  readonly lost: number;
}

/** The event `subscription.recovered`; pure. A subscription that was disabled at a time recovers once. */
export function buildRecoveredEvent(
  subject: Subject,
  { disabledAt, waiting, lost }: Missed,
  at: number,
): NewEvent {
  const details = { disabledAt: new Date(disabledAt).toISOString(), waiting, lost };
  return build(subject, 'subscription.recovered', disabledAt, at, details);
}

/**
 * The event `subscription.fell_behind`: retention removed `events` events, the last of them at `position`,
 * before the subscription got them; pure.
 */
export function buildFellBehindEvent(
  subject: Subject,
  { events, position }: { readonly events: number; readonly position: number },
  at: number,
): NewEvent {
  return build(subject, 'subscription.fell_behind', position, at, { events });
}

function build(
  subject: Subject,
  type: string,
  occasion: number | string,
  at: number,
  details: Readonly<Record<string, unknown>>,
): NewEvent {
  const { account, id } = subject;
  const data = { subscription: id, endpoint: subscriptionHost(subject).origin, ...details };
  return buildOperationalEvent(account, type, `${id} ${occasion}`, at, data);
}
