import { buildOperationalEvent, type NewEvent } from '../../events/event.ts';
import { subscriptionHost, type Subscription } from '../subscription.ts';
import type { Ending } from '../settings/tls.ts';

/**
 * The event `account.certificate_expiring`; pure. `at` is the time of the warning in milliseconds: from the
 * end of the certificate on, the event says that it has expired. Appended again from an older store, it has
 * the same id.
 */
export function buildExpiryEvent(
  subscription: Pick<Subscription, 'account' | 'id' | 'url' | 'tls'>,
  { kind, notAfter }: Ending,
  at: number,
): NewEvent {
  const { account, id, tls } = subscription;
  const expired = at >= notAfter;
  // The subject is unknown where the settings cannot be opened.
  const subject = tls?.shown[kind]?.subject ?? null;
  const occasion = `${id} ${kind} ${notAfter}${expired ? ' expired' : ''}`;
  return buildOperationalEvent(account, 'account.certificate_expiring', occasion, at, {
    subscription: id,
    url: subscriptionHost(subscription).origin,
    certificate: kind,
    subject,
    notAfter: new Date(notAfter).toISOString(),
    expired,
  });
}
