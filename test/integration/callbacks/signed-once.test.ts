import { afterAll, expect, test } from 'vitest';
import type { Bearer } from '../../../src/callbacks/bearers.ts';
import { createCallbackClient } from '../../../src/callbacks/callback-client.ts';
import { createCallbackSender } from '../../../src/callbacks/send-callback.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import { generatePrivateKey } from '../../../src/subscriptions/signing-secret.ts';
import { eventWith } from '../../support/filter-expressions.ts';
import { exampleSubscription } from '../../support/event-examples.ts';
import { startReceiver, receiverSecret, type Callback } from '../../support/receivers/receiver.ts';

const client = createCallbackClient({
  policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8'] }),
  allowHttp: true,
  timeoutMs: 5_000,
  userAgent: 'test',
});
afterAll(() => client.close());

const token = (value: string) =>
  ({ kind: 'token', token: { value, requestedAt: 0, refreshAt: Infinity, usableUntil: Infinity } }) as const;
const auth = {
  type: 'oauth2',
  tokenUrl: 'http://127.0.0.1:9000/token',
  clientId: 'c',
  clientSecret: 's',
  scope: null,
  audience: null,
  clientAuthentication: 'basic',
  revision: 'r',
} as const;

/** A sender to an endpoint behind OAuth 2.0, whose signatures are counted by the times that they take. */
function countingSender(url: string, bearer: Bearer, body: string) {
  let seconds = Math.floor(Date.now() / 1_000);
  let signed = 0;
  const subscription = exampleSubscription({
    url,
    auth,
    format: 'cloudevents',
    secrets: [receiverSecret, generatePrivateKey()].map((text) => ({ text, expiresAt: null })),
  });
  const wallClock = () => {
    signed += 1;
    return (seconds += 1) * 1_000;
  };
  const send = createCallbackSender(
    { client, bearers: () => bearer, wallClock, now: Date.now },
    subscription,
  );
  const { id, filingId } = eventWith({ premium: 1 });
  return {
    send: () => send({ id, filingId, body: Buffer.from(body) }, 1),
    signed: () => signed,
  };
}

const { body } = eventWith({ premium: 1 });

test('a callback with a token is signed once for each request, and not at all without one', async () => {
  const timestamps: (string | string[] | undefined)[] = [];
  const accepts = ({ headers }: Callback) => {
    timestamps.push(headers['webhook-timestamp']);
    return headers['authorization'] === 'Bearer second' ? 200 : 401;
  };
  await using receiver = await startReceiver(accepts);
  const bearer: Bearer = { current: async () => token('first'), replace: async () => token('second') };
  const { send, signed } = countingSender(receiver.url, bearer, body);
  const { outcome, request } = await send();
  expect([outcome.code, signed()]).toEqual(['delivered', 2]);
  // Each request has its own time, and the last one is kept.
  expect(new Set(timestamps).size).toBe(2);
  expect(String(request?.timestamp)).toBe(timestamps[1]);

  const refused = { kind: 'failed', reason: 'answered 503', retryAfterMs: null } as const;
  const without = countingSender(
    receiver.url,
    { current: async () => refused, replace: async () => refused },
    body,
  );
  expect((await without.send()).outcome).toMatchObject({ code: 'token_error' });
  expect(without.signed()).toBe(0);
});

test('an event that cannot be written asks for no token', async () => {
  let asked = 0;
  const current = async () => {
    asked += 1;
    return token('first');
  };
  const { send, signed } = countingSender('http://127.0.0.1:9/', { current, replace: current }, 'no JSON');
  expect((await send()).outcome).toMatchObject({ code: 'sender_error' });
  expect([asked, signed()]).toEqual([0, 0]);
});
