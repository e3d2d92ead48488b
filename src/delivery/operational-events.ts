import { buildOperationalEvent, type NewEvent } from '../events/event.ts';
import { subscriptionHost, type Subscription } from '../subscriptions/subscription.ts';

type Subject = Pick<Subscription, 'account' | 'id' | 'url'>;

/**
 * The event `subscription.disabled`; pure. `occasion` is the version of the settings, under each of which
 * the subscription is disabled once.
 */
export function buildDisabledEvent(subject: Subject, reason: string, occasion: number, at: number): NewEvent {
  return build(subject, 'subscription.disabled', occasion, at, { reason });
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
  occasion: number,
  at: number,
  details: Readonly<Record<string, unknown>>,
): NewEvent {
  const { account, id } = subject;
  const data = { subscription: id, url: subscriptionHost(subject).origin, ...details };
  return buildOperationalEvent(account, type, `${id} ${occasion}`, at, data);
}
