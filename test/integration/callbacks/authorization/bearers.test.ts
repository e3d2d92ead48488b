import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createBearers } from '../../../../src/callbacks/authorization/bearers.ts';
import { createTokenRequest } from '../../../../src/callbacks/authorization/request-token.ts';
import { createTokenStore, type TokenStore } from '../../../../src/callbacks/authorization/token-store.ts';
import { createCallbackClient } from '../../../../src/callbacks/callback-client.ts';
import { createEgressPolicy } from '../../../../src/egress/address-policy.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { createSealer } from '../../../../src/secrets/seal.ts';
import type { Auth } from '../../../../src/subscriptions/settings/auth.ts';
import { startTokenEndpoint, type TokenEndpoint } from '../../../support/receivers/token-endpoint.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
const keys = createKeys(redis.prefix);
const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 1) }]);
afterAll(() => redis.cleanup());

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
  revision: 'r1',
  ...change,
});

/** What one process has: its own client and memory over the Redis of all. */
function startProcess(): { bearers: ReturnType<typeof createBearers>; store: TokenStore } {
  const callbacks = createCallbackClient({
    policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8'] }),
    allowHttp: true,
    timeoutMs: 5_000,
    userAgent: 'test',
  });
  closing.push(callbacks.close);
  const store = createTokenStore(client, keys, sealer, now);
  const requestToken = createTokenRequest({ client: callbacks, now, random: Math.random });
  return { store, bearers: createBearers({ store, requestToken, now, onTokenRequest: () => undefined }) };
}

async function addSubscription(): Promise<string> {
  const id = `sub_${randomBytes(6).toString('hex')}`;
  await client.hset(keys.account('a').subscriptions, id, '{}');
  return id;
}

const keyOf = (id: string) => keys.account('a').subscription(id).accessToken;

test('all processes of a Redis make one request per lifetime, however many callbacks begin at once', async () => {
  const id = await addSubscription();
  const bearers = [1, 2, 3, 4].map(() => startProcess().bearers('a', id, authOf()));
  for (const lifetime of [1, 2, 3]) {
    const answers = await Promise.all(
      bearers.flatMap((bearer) => Array.from({ length: 10 }, async () => bearer.current(false))),
    );
    expect(new Set(answers.map((answer) => (answer.kind === 'token' ? answer.token.value : answer)))).toEqual(
      new Set([tokens.granted.at(-1)]),
    );
    expect(tokens.requests).toHaveLength(lifetime);
    clockMs += 3_600_000;
  }
});

test('a token in memory is there at once, and is replaced in the background before it ends', async () => {
  const id = await addSubscription();
  const bearer = startProcess().bearers('a', id, authOf());
  await bearer.current(false);
  // An answer that is no promise has waited for nothing.
  expect(bearer.current(false)).toMatchObject({ kind: 'token' });
  clockMs += 3_600_000 * 0.97;
  const [first] = tokens.granted;
  // At once, with the token that still holds.
  expect(bearer.current(false)).toMatchObject({ token: { value: first } });
  await vi.waitFor(() =>
    expect(bearer.current(false)).toMatchObject({ token: { value: tokens.granted[1] } }),
  );
  expect(tokens.requests).toHaveLength(2);
});

test('an outage before the end of a token costs nothing', async () => {
  const id = await addSubscription();
  const bearer = startProcess().bearers('a', id, authOf());
  await bearer.current(false);
  await tokens.stop();
  for (let i = 0; i < 5; i += 1) {
    clockMs = 3_600_000 * 0.95 + i * 5_000;
    expect(await bearer.current(false)).toMatchObject({ token: { value: tokens.granted[0] } });
  }
});

test('the turn of a process that was killed is over within nine seconds', async () => {
  const id = await addSubscription();
  const [killed, other] = [startProcess(), startProcess()];
  const owner = { account: 'a', id, auth: authOf() };
  const taken = await killed.store.take(owner, { refused: null, eager: false });
  expect(taken.kind).toBe('request');
  expect(await other.store.take(owner, { refused: null, eager: false })).toEqual({ kind: 'wait' });
  const waiting = other.bearers('a', id, authOf()).current(false);
  clockMs += 9_000;
  expect(await waiting).toMatchObject({ kind: 'token' });
  // What the killed one would still write is no longer kept.
  const late = { value: 'late', requestedAt: 0, refreshAt: now() * 2, usableUntil: now() * 2 };
  if (taken.kind === 'request') await killed.store.keep(taken.turn, late);
  expect(await other.store.take(owner, { refused: null, eager: false })).toMatchObject({
    token: { value: tokens.granted[0] },
  });
});

test('a token is kept sealed, ends with its lifetime, and belongs to its settings alone', async () => {
  const id = await addSubscription();
  const { store, bearers } = startProcess();
  await bearers('a', id, authOf()).current(false);
  const stored = await client.hgetall(keyOf(id));
  expect(JSON.stringify(stored)).not.toContain(tokens.granted[0]);
  expect(await client.pttl(keyOf(id))).toBeLessThanOrEqual(3_600_000);
  const other = { account: 'a', id, auth: authOf({ revision: 'r2' }) };
  expect((await store.take(other, { refused: null, eager: false })).kind).toBe('request');
  // A seal that was moved to another subscription opens nothing.
  const thief = await addSubscription();
  await client.hset(keyOf(thief), stored);
  const moved = await store.take(
    { account: 'a', id: thief, auth: authOf() },
    { refused: null, eager: false },
  );
  expect(moved.kind).toBe('request');
});

test('nothing is kept of a subscription that is removed', async () => {
  const id = await addSubscription();
  const { store } = startProcess();
  const owner = { account: 'a', id, auth: authOf() };
  const taken = await store.take(owner, { refused: null, eager: false });
  await client.hdel(keys.account('a').subscriptions, id);
  await client.unlink(keyOf(id));
  const token = { value: 't', requestedAt: now(), refreshAt: now() + 1e6, usableUntil: now() + 1e6 };
  if (taken.kind === 'request') await store.keep(taken.turn, token);
  expect(await client.exists(keyOf(id))).toBe(0);
  expect(await store.take(owner, { refused: null, eager: false })).toEqual({ kind: 'gone' });
});

test('a key of another type is replaced', async () => {
  const id = await addSubscription();
  await client.set(keyOf(id), 'a text');
  expect(await startProcess().bearers('a', id, authOf()).current(false)).toMatchObject({ kind: 'token' });
});
