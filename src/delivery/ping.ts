import { randomBytes } from 'node:crypto';
import { createCallbackSender, type SendCallbackDeps, type Sent } from '../callbacks/send-callback.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import { toAttempt } from './store/delivery-records.ts';
import type { Journal } from './store/journal.ts';

export interface PingDeps extends SendCallbackDeps {
  readonly journal: Pick<Journal, 'addTest'>;
}

/**
 * Sends one `ping`, signed like any callback, and returns its result, which is written as an attempt. It
 * says nothing about the endpoint's health. Rejects when Redis does, although the `ping` was sent.
 */
export async function sendPing(deps: PingDeps, subscription: Subscription): Promise<Sent> {
  const { account, id } = subscription;
  const timestamp = new Date(deps.wallClock()).toISOString();
  const event = `evt_${randomBytes(16).toString('hex')}`;
  const body = JSON.stringify({ id: event, type: 'ping', timestamp, data: { account, subscription: id } });
  const name = { id: event, type: 'ping', filingId: '', position: 0 };
  const entry = { ...name, body: Buffer.from(body) };
  const sent = await createCallbackSender(deps, subscription)(entry);
  const now = deps.now();
  const attempt = toAttempt({ attempt: 1 }, entry, { sent, called: subscription }, now, null);
  await deps.journal.addTest(account, id, attempt, now);
  return sent;
}
