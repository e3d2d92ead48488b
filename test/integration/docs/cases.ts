import { randomBytes } from 'node:crypto';
import { captureCallback, type Captured } from './captured-callback.ts';

/** A callback that a receiver is shown, the secret that it holds, and whether it must accept. */
export interface Case {
  readonly title: string;
  readonly callback: () => Promise<Captured>;
  readonly holds: string;
  readonly accepted: boolean;
}

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const other = `whsec_${randomBytes(24).toString('base64')}`;
const minute = 60_000;

const sentMinutesAgo =
  (minutes: number, secrets = [secret]) =>
  () =>
    captureCallback(secrets, Date.now() - minutes * minute);
const sentNow = sentMinutesAgo(0);

const withHeader = (name: string, change: (value: string) => string) => async (): Promise<Captured> => {
  const { headers, body } = await sentNow();
  return { headers: { ...headers, [name]: change(headers[name] ?? '') }, body };
};

const withBody = (change: (body: string) => string) => async (): Promise<Captured> => {
  const { headers, body } = await sentNow();
  return { headers, body: Buffer.from(change(body.toString())) };
};

const accepts = (what: string, callback: Case['callback']): Case => ({
  title: `accepts ${what}`,
  callback,
  holds: secret,
  accepted: true,
});

const refuses = (what: string, callback: Case['callback'], holds = secret): Case => ({
  title: `refuses ${what}`,
  callback,
  holds,
  accepted: false,
});

/** What every verifier must get right. */
export const cases: readonly Case[] = [
  accepts('a callback as it was sent', sentNow),
  accepts('the first of two signatures during a rotation', sentMinutesAgo(0, [secret, other])),
  accepts('the second of two signatures during a rotation', sentMinutesAgo(0, [other, secret])),
  accepts('a callback sent four minutes ago', sentMinutesAgo(4)),
  refuses('a callback sent six minutes ago', sentMinutesAgo(6)),
  refuses('a callback from six minutes ahead', sentMinutesAgo(-6)),
  refuses(
    'a changed body',
    withBody((body) => body.replace('REJECTED', 'COMPLETED')),
  ),
  refuses(
    'a body with a newline appended',
    withBody((body) => `${body}\n`),
  ),
  refuses(
    'an empty body',
    withBody(() => ''),
  ),
  refuses('the signature of another secret', sentNow, other),
  refuses('everything without a secret', sentNow, ''),
  refuses(
    'another webhook-id',
    withHeader('webhook-id', (id) => `${id}0`),
  ),
  refuses(
    'a later timestamp',
    withHeader('webhook-timestamp', (seconds) => String(Number(seconds) + 1)),
  ),
  refuses(
    'a timestamp that is none',
    withHeader('webhook-timestamp', () => 'now'),
  ),
  refuses(
    'a signature cut short',
    withHeader('webhook-signature', (value) => value.slice(0, 10)),
  ),
  refuses(
    'a signature of another version',
    withHeader('webhook-signature', (value) => value.replace('v1', 'v2')),
  ),
  refuses(
    'a callback without a signature',
    withHeader('webhook-signature', () => ''),
  ),
];
