import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Auth } from '../../../src/subscriptions/options/auth.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { startTokenEndpoint, type TokenEndpoint } from '../../support/receivers/token-endpoint.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../delivery/drain-harness.ts';

const redis = testRedis();
let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(redis, { retryMs: [20, 40, 3_600_000] });
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await redis.cleanup();
});

const authOf = ({ auth }: TokenEndpoint, change: Partial<Auth> = {}): Auth => ({
  ...auth,
  audience: null,
  clientAuthentication: 'basic',
  ...change,
});
const reportsOf = (id: string) => harness.reports.filter(({ subscription }) => subscription.id === id);
const outcomes = (id: string) => reportsOf(id).map(({ attempt: { outcome, attempt } }) => [attempt, outcome]);

async function drainUntil(id: string, holds: () => unknown): Promise<void> {
  await vi.waitFor(
    async () => {
      await harness.drain(id);
      await holds();
    },
    { timeout: 10_000, interval: 10 },
  );
}

async function stage() {
  const stack = new AsyncDisposableStack();
  const tokens = stack.use(await startTokenEndpoint());
  const receiver = stack.use(await startReceiver((callback) => (tokens.accepts(callback) ? 200 : 401)));
  return { tokens, receiver, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('callbacks carry a token, requested once for all of them', async () => {
  await using world = await stage();
  const { tokens, receiver } = world;
  const id = await harness.subscribe(receiver.url, {
    auth: authOf(tokens, { audience: 'https://hooks.example' }),
  });
  await harness.append('a', 'b', 'c', 'a');
  await harness.drain(id);
  expect(receiver.accepted).toHaveLength(4);
  expect(receiver.received).toHaveLength(4);
  expect(tokens.requests).toHaveLength(1);
  expect(tokens.requests[0]?.body).toEqual({
    grant_type: 'client_credentials',
    scope: 'filings.write',
    audience: 'https://hooks.example',
  });
});

test('the secret of the client goes into the body where the subscription says so', async () => {
  await using world = await stage();
  const { tokens, receiver } = world;
  const id = await harness.subscribe(receiver.url, {
    auth: authOf(tokens, { clientAuthentication: 'post' }),
  });
  await harness.append('a');
  await harness.drain(id);
  expect(receiver.accepted).toHaveLength(1);
  expect(tokens.requests).toMatchObject([{ authorization: undefined, body: { client_id: 'the client' } }]);
});

test('a 401 replaces the token once, sends again and spends no attempt', async () => {
  await using world = await stage();
  const { tokens, receiver } = world;
  const id = await harness.subscribe(receiver.url, { auth: authOf(tokens) });
  await harness.append('a');
  await harness.drain(id);
  tokens.revokeAll();
  await harness.append('a', 'b', 'c', 'd');
  await harness.drain(id);
  expect(tokens.requests).toHaveLength(2);
  expect(receiver.accepted).toHaveLength(5);
  expect(outcomes(id)).toEqual(Array.from({ length: 5 }, () => [1, 'delivered']));
  expect(await harness.state(id)).toMatchObject({ failures: 0, parked: 0 });
});

test('a fresh token that is refused is an ordinary failure, and replacements are bounded', async () => {
  await using world = await stage();
  const { tokens, receiver } = world;
  receiver.answer(401);
  const id = await harness.subscribe(receiver.url, { auth: authOf(tokens) });
  await harness.append('a');
  await drainUntil(id, () => expect(reportsOf(id).length).toBeGreaterThan(2));
  await harness.append('b', 'c', 'd', 'e', 'f', 'g', 'h');
  for (let i = 0; i < 10; i += 1) await harness.drain(id);
  expect(new Set(outcomes(id).map(([, outcome]) => outcome))).toEqual(new Set(['http_error']));
  expect(tokens.requests.length).toBeGreaterThan(1);
  expect(tokens.requests.length).toBeLessThanOrEqual(4);
});

test('a dead token endpoint is told as such, pauses the subscription and blames no filing', async () => {
  await using world = await stage();
  const { tokens, receiver } = world;
  const id = await harness.subscribe(receiver.url, { auth: authOf(tokens) });
  await tokens.stop();
  await harness.append('a');
  await drainUntil(id, async () => expect((await harness.state(id)).probes).toBeGreaterThan(1));
  expect(new Set(outcomes(id).map(([, outcome]) => outcome))).toEqual(new Set(['token_error']));
  const state = await harness.state(id);
  const { origin, hostname } = new URL(tokens.auth.tokenUrl);
  expect(state.obstacle).toBe(
    `The token endpoint ${origin} gave no answer: No connection: ${hostname} refused the connection.`,
  );
  expect(receiver.received).toEqual([]);
  await tokens.start();
  await drainUntil(id, () => expect(receiver.accepted).toHaveLength(1));
  expect(await harness.state(id)).toMatchObject({ failures: 0, probes: 0, pausedUntil: 0 });
  expect((await harness.state(id)).obstacle ?? '').toBe('');
});

test('a 429 of the token endpoint is kept to', async () => {
  await using world = await stage();
  const { tokens, receiver } = world;
  tokens.answer({ status: 429, body: { error: 'slow_down' }, headers: { 'retry-after': '600' } });
  const id = await harness.subscribe(receiver.url, { auth: authOf(tokens) });
  await harness.append('a', 'b', 'c', 'd');
  const before = Date.now();
  await harness.drain(id);
  await harness.drain(id);
  const { pausedUntil } = await harness.state(id);
  expect(pausedUntil).toBeGreaterThan(before + 590_000);
  expect(tokens.requests).toHaveLength(1);
  // The test call keeps to it, too.
  const record = await harness.subscriptions.get(harness.account, id);
  if (record === null) throw new Error('no subscription');
  expect((await harness.ping(record.subscription)).outcome).toMatchObject({
    kind: 'slow_down',
    code: 'token_error',
  });
  expect(tokens.requests).toHaveLength(1);
});

test.each([
  ['a wrong scope', { scope: 'other' }, '400 invalid_scope: check scope.'],
  ['a wrong secret', { clientSecret: 'wrong' }, '401 invalid_client: check clientId, clientSecret'],
])('%s is named with what to do, and mended by a change', async (_name, change, reason) => {
  await using world = await stage();
  const { tokens, receiver } = world;
  const id = await harness.subscribe(receiver.url, { auth: authOf(tokens, change) });
  await harness.append('a');
  await harness.drain(id);
  const [report] = reportsOf(id);
  expect(report?.attempt).toMatchObject({ outcome: 'token_error', statusCode: null, response: null });
  expect(report?.attempt.reason).toContain(reason);
  expect(JSON.stringify(report?.attempt)).not.toContain('canary');
  await harness.change(id, { auth: authOf(tokens) }, { release: true });
  await harness.drain(id);
  expect(receiver.accepted).toHaveLength(1);
});

test.each<[string, Parameters<TokenEndpoint['answer']>[0], string]>([
  [
    'no token',
    { status: 200, body: { token_type: 'Bearer' } },
    'without a token that can be used, since access_token is missing or wrong',
  ],
  [
    'null for one',
    { status: 200, body: { access_token: null, token_type: 'Bearer' } },
    'since access_token is',
  ],
  ['another type', { status: 200, body: { access_token: 'x', token_type: 'mac' } }, 'since token_type is'],
  [
    'a type that is null',
    { status: 200, body: { access_token: 'x', token_type: null } },
    'since token_type is',
  ],
  [
    'a life that is no number',
    { status: 200, body: { access_token: 'x', token_type: 'Bearer', expires_in: 'soon' } },
    'since expires_in is',
  ],
  [
    'a header in it',
    { status: 200, body: { access_token: 'x\r\ny: z', token_type: 'Bearer' } },
    'since access_token is',
  ],
  ['a huge answer', { status: 200, body: { access_token: 'x'.repeat(100_000) } }, 'more than 16 KiB'],
  ['a redirect', { status: 302, body: {}, headers: { location: '/token' } }, 'redirects are not followed'],
])('an answer with %s is no token', async (_name, answer, reason) => {
  await using world = await stage();
  const { tokens, receiver } = world;
  tokens.answer(answer);
  const id = await harness.subscribe(receiver.url, { auth: authOf(tokens) });
  await harness.append('a');
  await harness.drain(id);
  expect(reportsOf(id)[0]?.attempt.reason).toContain(reason);
  expect(tokens.requests).toHaveLength(1);
});

test('a request for a token that the end of the process cuts off is no failure', async () => {
  await using world = await stage();
  await using ending = await createHarness(redis);
  const id = await ending.subscribe(world.receiver.url, { auth: authOf(world.tokens) });
  await ending.append('a');
  ending.callbacks.abortAll();
  await ending.drain(id);
  expect(ending.reports.map(({ attempt: { outcome } }) => outcome)).toEqual(['aborted']);
  expect(await ending.state(id)).toMatchObject({ failures: 0, parked: 0 });
});

test.each<Record<string, unknown>>([
  { expires_in: null },
  { expires_in: null, scope: null, refresh_token: null, id_token: null, issued_token_type: null },
  { expires_in: '3600', scope: ['filings.write'], refresh_token: '' },
])('members beside the token may be null or odd: %j', async (more) => {
  await using world = await stage();
  const { tokens, receiver } = world;
  tokens.answer({ status: 200, body: { access_token: 'an-odd-token', token_type: 'bearer', ...more } });
  const id = await harness.subscribe(receiver.url, { auth: authOf(tokens) });
  await harness.append('a');
  await harness.drain(id);
  expect(receiver.received[0]?.headers['authorization']).toBe('Bearer an-odd-token');
});
