import type { Subscription } from '../subscriptions/subscription.ts';

/**
 * The name under which the daemon asks for permission and sends (CloudEvents, "HTTP 1.1 Web Hooks for Event
 * Delivery" §4.1.2): the host of its public address; null where that is not known.
 */
export function requestOrigin(publicUrl: string | null): string | null {
  return publicUrl === null ? null : new URL(publicUrl).hostname;
}

/** The header of every request to an endpoint whose permission was asked for (§2.1); none for all others. */
export function originHeader(
  { verification }: Pick<Subscription, 'verification'>,
  publicUrl: string | null,
): Readonly<Record<string, string>> {
  const origin = verification === 'cloudevents' ? requestOrigin(publicUrl) : null;
  return origin === null ? {} : { 'webhook-request-origin': origin };
}
