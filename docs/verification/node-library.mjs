// npm install standardwebhooks
import process from 'node:process';
import { Webhook } from 'standardwebhooks';

/** The event of a callback; throws WebhookVerificationError. `body` is the Buffer as received, header names are in lower case. */
export function receive(headers, body) {
  return new Webhook(process.env.WEBHOOK_SECRET ?? '').verify(body, headers);
}
