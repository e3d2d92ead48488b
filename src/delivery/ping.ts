import { randomBytes } from 'node:crypto';
import { createCallbackSender, type SendCallbackDeps, type Sent } from '../callbacks/send-callback.ts';
import type { LogEntry } from '../events/event-log.ts';
import { withoutPageLinks, type AddPageLink } from '../events/page-link.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import { toEntry } from './sources/source.ts';
import { toAttempt } from './store/delivery-records.ts';
import type { Journal } from './store/journal.ts';

export interface PingDeps extends SendCallbackDeps {
  readonly journal: Pick<Journal, 'addTest'>;
  readonly addPageLink?: AddPageLink;
}

/**
 * Sends one `ping`, signed like any callback, and returns its result, which is written as an attempt. It
 * says nothing about the endpoint's health. Rejects when Redis does, although the `ping` was sent.
 */
export async function sendPing(deps: PingDeps, subscription: Subscription): Promise<Sent> {
  const { account, id } = subscription;
  const entry = makePing(subscription, deps.wallClock(), deps.addPageLink);
  const turn = { attempt: 1 };
  const sent = await createCallbackSender(deps, subscription)(entry, turn.attempt);
  const now = deps.now();
  const attempt = toAttempt(turn, entry, { sent, called: subscription }, now, null);
  await deps.journal.addTest(account, id, attempt, now);
  return sent;
}

/** A `ping` made at a time (ms): an event that is in no log. */
export function makePing(
  { account, id, description }: Subscription,
  at: number,
  addPageLink: AddPageLink = withoutPageLinks,
): LogEntry {
  const event = { id: `evt_${randomBytes(16).toString('hex')}`, type: 'ping' };
  const timestamp = new Date(at).toISOString();
  const data = { account, subscription: id, ...(description === null ? {} : { description }) };
  const body = JSON.stringify({ ...event, timestamp, data });
  return toEntry(addPageLink(account, { ...event, filingId: '', state: '', status: '', body }), 0, at);
}

/** Whether an entry is a `ping`. */
export function isPing({ position }: Pick<LogEntry, 'position'>): boolean {
  return position === 0;
}
