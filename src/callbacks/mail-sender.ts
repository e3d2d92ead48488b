import { hash } from 'node:crypto';
import type { LogEntry } from '../events/event-log.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { CallbackBody } from './body-formats.ts';
import type { MailResult } from './mailer.ts';
import type { Email } from './messages/email.ts';
import type { SendCallbackDeps, Sent } from './send-callback.ts';

/**
 * Sends an event as an e-mail; `body` is that of its format. The e-mails of a filing are one thread. Every
 * failure is an outcome: without a mail server, events wait for one as for an endpoint that is down.
 */
export async function sendMail(
  { mailer = null, wallClock, attemptDetails }: SendCallbackDeps,
  { account, url, timeoutMs = null }: Subscription,
  { id: eventId, filingId }: Pick<LogEntry, 'id' | 'filingId'>,
  body: CallbackBody,
): Promise<Sent> {
  const timestamp = Math.floor(wallClock() / 1000);
  const content = JSON.parse(body.bytes.toString()) as Email;
  const thread = filingId === '' ? null : threadOf(account, filingId);
  const result =
    mailer === null
      ? withoutServer
      : await mailer.send({ account, url, eventId, thread, content }, timeoutMs);
  // An e-mail is not signed.
  const request = attemptDetails === 'none' ? null : { timestamp, signature: '' };
  return { ...result, request, responseHeaders: null, traceparent: null };
}

const withoutServer: MailResult = {
  outcome: {
    kind: 'retry',
    code: 'sender_error',
    sent: false,
    reason: 'E-mail is not set up in this process; the operator sets SMTP_URL and SMTP_FROM.',
  },
  statusCode: null,
  response: null,
  durationMs: 0,
};

// The same for all events of a filing.
function threadOf(account: string, filingId: string): string {
  return `filing_${hash('sha256', JSON.stringify([account, filingId])).slice(0, 32)}`;
}
