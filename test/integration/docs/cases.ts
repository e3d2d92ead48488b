import { randomBytes } from 'node:crypto';
import { generatePrivateKey, publicKeyOf } from '../../../src/subscriptions/signing-secret.ts';
import { captureCallback, type Captured } from './captured-callback.ts';

/** A callback that a receiver is shown, the secret that it holds, and whether it must accept. */
export interface Case {
  readonly title: string;
  readonly callback: () => Promise<Captured>;
  readonly holds: string;
  readonly accepted: boolean;
}

const minute = 60_000;

/** How a kind of verifier is tested: with callbacks that the first of two secrets signed. */
interface Kind {
  readonly secret: string;
  readonly other: string;
  /** What a receiver holds of a secret. */
  readonly held: (secret: string) => string;
}

const shared: Kind = {
  secret: `whsec_${randomBytes(32).toString('base64')}`,
  other: `whsec_${randomBytes(24).toString('base64')}`,
  held: (secret) => secret,
};
const asymmetric: Kind = { secret: generatePrivateKey(), other: generatePrivateKey(), held: publicKeyOf };

const sentMinutesAgo = (minutes: number, ...secrets: string[]) =>
  captureCallback(secrets, Date.now() - minutes * minute);

function casesOf(
  { secret, other, held }: Kind,
  more: (to: ReturnType<typeof outcomes>) => Case[] = () => [],
): Case[] {
  const to = outcomes(held(secret));
  const { accepts, refuses } = to;
  const sentNow = () => sentMinutesAgo(0, secret);
  const withHeader = (name: string, change: (value: string) => string) => async (): Promise<Captured> => {
    const { headers, body } = await sentNow();
    return { headers: { ...headers, [name]: change(headers[name] ?? '') }, body };
  };
  const withBody = (change: (body: string) => string) => async (): Promise<Captured> => {
    const { headers, body } = await sentNow();
    return { headers, body: Buffer.from(change(body.toString())) };
  };
  return [
    accepts('a callback as it was sent', sentNow),
    accepts('the first of two signatures during a rotation', () => sentMinutesAgo(0, secret, other)),
    accepts('the second of two signatures during a rotation', () => sentMinutesAgo(0, other, secret)),
    accepts('a callback sent four minutes ago', () => sentMinutesAgo(4, secret)),
    refuses('a callback sent six minutes ago', () => sentMinutesAgo(6, secret)),
    refuses('a callback from six minutes ahead', () => sentMinutesAgo(-6, secret)),
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
    refuses('the signature of another secret', sentNow, held(other)),
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
    ...more(to),
  ];
}

function outcomes(held: string) {
  return {
    accepts: (what: string, callback: Case['callback'], holds = held): Case => ({
      title: `accepts ${what}`,
      callback,
      holds,
      accepted: true,
    }),
    refuses: (what: string, callback: Case['callback'], holds = held): Case => ({
      title: `refuses ${what}`,
      callback,
      holds,
      accepted: false,
    }),
  };
}

/** What every verifier of `v1` must get right. */
export const cases: readonly Case[] = casesOf(shared, ({ accepts }) => [
  accepts('a callback with v1 and v1a', () => sentMinutesAgo(0, shared.secret, asymmetric.secret)),
]);

/** What every verifier of `v1a` must get right. */
export const publicKeyCases: readonly Case[] = casesOf(asymmetric, ({ accepts, refuses }) => {
  const { secret, other } = asymmetric;
  const [own, another] = [publicKeyOf(secret), publicKeyOf(other)];
  // A receiver that takes the public key for a secret would accept what anybody can make.
  const asSecret = `whsec_${own.slice('whpk_'.length)}`;
  const renamed = async (version: string): Promise<Captured> => {
    const { headers, body } = await sentMinutesAgo(0, asSecret);
    const signature = headers['webhook-signature']?.replace('v1,', version) ?? '';
    return { headers: { ...headers, 'webhook-signature': signature }, body };
  };
  return [
    accepts('a callback with v1 and v1a', () => sentMinutesAgo(0, shared.secret, secret)),
    accepts('the second of two keys', () => sentMinutesAgo(0, secret), `${another} ${own}`),
    refuses('v1 alone', () => sentMinutesAgo(0, shared.secret)),
    refuses('v1 made with the public key', () => renamed('v1,')),
    refuses('v1 made with the public key and called v1a', () => renamed('v1a,')),
  ];
});
