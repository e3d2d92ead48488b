import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createBearers } from '../../../src/callbacks/bearers.ts';
import { createTokenRequest } from '../../../src/callbacks/request-token.ts';
import { createCallbackClient } from '../../../src/callbacks/callback-client.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import type { Auth } from '../../../src/subscriptions/options/auth.ts';
import { startTokenEndpoint, type TokenEndpoint } from '../../support/receivers/token-endpoint.ts';

let tokens: TokenEndpoint;
let clockMs = 0;
const now = () => Date.now() + clockMs;
const closing: (() => Promise<void>)[] = [];

beforeEach(async () => {
  clockMs = 0;
  tokens = await startTokenEndpoint();
});

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
  await tokens[Symbol.asyncDispose]();
});

const authOf = (change: Partial<Auth> = {}): Auth => ({
  ...tokens.auth,
  audience: null,
  clientAuthentication: 'basic',
  ...change,
});

/** What one process has: its own client and memory. */
function startProcess(): ReturnType<typeof createBearers> {
  const callbacks = createCallbackClient({
    policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8'] }),
    allowHttp: true,
    timeoutMs: 5_000,
    userAgent: 'test',
  });
  closing.push(callbacks.close);
  const requestToken = createTokenRequest({ client: callbacks, now, random: Math.random });
  return createBearers({ requestToken, now, onTokenRequest: () => undefined });
}

test('subscriptions with equal settings make one request per lifetime, however many callbacks begin at once', async () => {
  const bearers = startProcess();
  const ofEach = ['sub_1', 'sub_2', 'sub_3'].map((id) => bearers('a', id, authOf()));
  for (const lifetime of [1, 2, 3]) {
    const answers = await Promise.all(
      ofEach.flatMap((bearer) => Array.from({ length: 10 }, async () => bearer.current())),
    );
    expect(new Set(answers.map((answer) => (answer.kind === 'token' ? answer.token.value : answer)))).toEqual(
      new Set([tokens.granted.at(-1)]),
    );
    expect(tokens.requests).toHaveLength(lifetime);
    clockMs += 3_600_000;
  }
});

test('a token is for its account and its settings alone', async () => {
  const bearers = startProcess();
  await bearers('a', 'sub_1', authOf()).current();
  await bearers('b', 'sub_1', authOf()).current();
  await bearers('a', 'sub_1', authOf({ audience: 'https://a.example' })).current();
  expect(tokens.requests).toHaveLength(3);
});

test('callbacks that are refused together cost one request', async () => {
  const bearer = startProcess()('a', 'sub_1', authOf());
  const first = await bearer.current();
  if (first.kind !== 'token') throw new Error('no token');
  const answers = await Promise.all(Array.from({ length: 10 }, () => bearer.replace(first.token)));
  expect(answers.map((answer) => answer?.kind)).toEqual(Array.from({ length: 10 }, () => 'token'));
  expect(tokens.requests).toHaveLength(2);
});

test('a token in memory is there at once, and is replaced in the background before it ends', async () => {
  const bearer = startProcess()('a', 'sub_1', authOf());
  await bearer.current();
  // An answer that is no promise has waited for nothing.
  expect(bearer.current()).toMatchObject({ kind: 'token' });
  clockMs += 3_600_000 * 0.97;
  const [first] = tokens.granted;
  // At once, with the token that still holds.
  expect(bearer.current()).toMatchObject({ token: { value: first } });
  await vi.waitFor(() => expect(bearer.current()).toMatchObject({ token: { value: tokens.granted[1] } }));
  expect(tokens.requests).toHaveLength(2);
});

test('an outage before the end of a token costs nothing', async () => {
  const bearer = startProcess()('a', 'sub_1', authOf());
  await bearer.current();
  await tokens.stop();
  for (let i = 0; i < 5; i += 1) {
    clockMs = 3_600_000 * 0.95 + i * 5_000;
    expect(await bearer.current()).toMatchObject({ token: { value: tokens.granted[0] } });
  }
});
