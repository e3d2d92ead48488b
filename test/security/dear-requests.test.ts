import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ApiLimits } from '../../src/api/access/limits.ts';
import type { ApiHooks } from '../../src/api/deps.ts';
import { createApiFixture, hookUrl, operatorToken, type ApiFixture } from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
const certificate = readFileSync(
  new URL('../integration/callbacks/fixtures/callback-test-cert.pem', import.meta.url),
  'utf8',
);
const one = { perAccount: 1, inAll: 2, waiting: 0, waitMs: 0 };
let api: ApiFixture;
/** Replays, test calls and lookups of slow.example that have begun, each until it is let go. */
let begun: (() => void)[];

beforeEach(() => {
  begun = [];
});

afterEach(async () => {
  for (const letGo of begun) letGo();
  await api.app.close();
  await redis.cleanup();
});

async function hang(): Promise<void> {
  await new Promise<void>((resolve) => begun.push(resolve));
}

async function start(limits: Partial<ApiLimits>): Promise<void> {
  const hooks: Partial<ApiHooks> = {
    async ping() {
      await hang();
      const outcome = { kind: 'delivered', code: 'delivered', sent: true } as const;
      const details = { request: null, responseHeaders: null, traceparent: null };
      return { outcome, statusCode: 200, durationMs: 1, response: '', ...details };
    },
  };
  const plain = await createApiFixture(redis.connect(), redis.prefix);
  await plain.app.close();
  api = await createApiFixture(redis.connect(), redis.prefix, {
    limits,
    hooks: { ...plain.deps.hooks, ...hooks },
    replayer: {
      ...plain.deps.replayer,
      async start() {
        await hang();
        return { id: 'rpl_1', matched: 0 };
      },
    },
    async checkHost(url) {
      if (url.includes('slow.example')) await hang();
      return { ok: true };
    },
  });
}

/** An account with a token and a subscription, whose long requests are made with the token. */
async function tenant(name: string) {
  const path = await api.createAccount(name);
  const token = String((await api.ok('POST', `${path}/tokens`, {}))['token']);
  const subscribe = async () =>
    `${path}/subscriptions/${String((await api.ok('POST', `${path}/subscriptions`, { url: hookUrl }))['id'])}`;
  const subscription = await subscribe();
  return {
    token,
    path,
    subscribe,
    subscription,
    replay: () => api.call('POST', `${subscription}/replay`, {}, { token }),
    test: (of = subscription) => api.call('POST', `${of}/test`, undefined, { token }),
  };
}

const hasBegun = (count: number) => vi.waitFor(() => expect(begun).toHaveLength(count));

test('an account runs its share of dear requests at once; others and the operator are not refused', async () => {
  await start({ scans: one });
  const [busy, other] = [await tenant('busy'), await tenant('other')];
  const first = busy.replay();
  await hasBegun(1);
  const refused = await busy.replay();
  expect([refused.status, refused.body['code']]).toEqual([429, 'too_many_requests']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  const filtered = `${busy.path}/events?types=filing.paid`;
  expect((await api.call('GET', filtered, undefined, busy)).status).toBe(429);
  expect((await api.call('GET', `${busy.path}/tokens`, undefined, busy)).status).toBe(429);
  const earliest = await api.call('PATCH', busy.subscription, { from: 'earliest' }, busy);
  expect(earliest.status).toBe(429);
  for (const path of [busy.path, `${busy.path}/filings`, `${busy.path}/events`, busy.subscription])
    expect((await api.call('GET', path, undefined, busy)).status, path).toBe(200);

  const second = other.replay();
  await hasBegun(2);
  const byOperator = api.call('POST', `${busy.subscription}/replay`, {});
  await hasBegun(3);
  for (const letGo of begun) letGo();
  expect((await Promise.all([first, second, byOperator])).map(({ status }) => status)).toEqual([
    202, 202, 202,
  ]);
  expect((await api.call('GET', filtered, undefined, busy)).status).toBe(200);
});

test('an export holds its place until it is sent, and a page in memory does not', async () => {
  await start({ scans: one, exports: one });
  const { path, token } = await tenant('slow');
  const document = { id: 'f', status: 'PAID', text: 'x'.repeat(8 * 1024 * 1024) };
  await api.putFilings('slow', [{ id: 'f', status: 'PAID', type: 'filing.paid', document }]);
  const long = Array.from({ length: 6_000 }, (_, i) => ({ id: `${i} ${'x'.repeat(200)}`, status: 'PAID' }));
  for (let i = 0; i < long.length; i += 1_000) await api.putFilings('slow', long.slice(i, i + 1_000));
  const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const headers = { authorization: `Bearer ${token}` };
  const csv = { ...headers, accept: 'text/csv' };
  const end = new AbortController();
  const { signal } = end;
  // Neither body is read.
  const page = await fetch(`${url}${path}/events?types=filing.paid`, { headers, signal });
  const table = await fetch(`${url}${path}/filings`, { headers: csv, signal });
  expect([page.status, table.status]).toEqual([200, 200]);
  expect((await fetch(`${url}${path}/events?types=filing.paid`, { headers, signal })).status).toBe(200);
  expect((await fetch(`${url}${path}/filings`, { headers: csv, signal })).status).toBe(429);
  end.abort();
  await vi.waitFor(async () => {
    const again = await fetch(`${url}${path}/filings`, { headers: csv });
    await again.body?.cancel();
    expect(again.status).toBe(200);
  });
});

test('requests with many certificates are dear, and those with a few are not', async () => {
  await start({ scans: one });
  const { path, subscription, token } = await tenant('bundled');
  const url = 'https://slow.example/hook';
  const call = (method: 'POST' | 'PATCH', count: number) =>
    api.call(method, method === 'POST' ? `${path}/subscriptions` : subscription, body(count), { token });
  const body = (count: number) => ({ url, tls: { ca: certificate.repeat(count) } });
  const first = call('POST', 10);
  await hasBegun(1);
  for (const method of ['POST', 'PATCH'] as const) expect((await call(method, 10)).status).toBe(429);
  const others = [call('POST', 9), call('PATCH', 9)];
  await hasBegun(3);
  for (const letGo of begun) letGo();
  expect((await Promise.all([first, ...others])).map(({ status }) => status)).toEqual([201, 201, 200]);
});

test('a few wait for their turn, in their order', async () => {
  await start({ scans: { ...one, waiting: 1, waitMs: 60_000 } });
  const { replay } = await tenant('patient');
  const first = replay();
  await hasBegun(1);
  const second = replay();
  expect((await Promise.race([second, replay()])).status).toBe(429);
  begun[0]?.();
  await hasBegun(2);
  begun[1]?.();
  expect([(await first).status, (await second).status]).toEqual([202, 202]);
});

test('all accounts together run so many', async () => {
  await start({ scans: one });
  const [a, b, c] = [await tenant('a'), await tenant('b'), await tenant('c')];
  const running = [a.replay(), b.replay()];
  await hasBegun(2);
  expect((await c.replay()).status).toBe(429);
  for (const letGo of begun) letGo();
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([202, 202]);
});

test('an account makes few test calls at once, beside its searches', async () => {
  await start({ scans: one, calls: { ...one, perAccount: 2, inAll: 9 } });
  const [{ test: call, subscribe, subscription, replay }, other] = [
    await tenant('many'),
    await tenant('few'),
  ];
  const all = [subscription, await subscribe(), await subscribe()];
  const running = [call(all[0]), call(all[1])];
  await hasBegun(2);
  const refused = await call(all[2]);
  expect([refused.status, refused.body['code']]).toEqual([429, 'too_many_requests']);
  const more = [other.test(), replay()];
  await hasBegun(4);
  for (const letGo of begun) letGo();
  expect((await Promise.all([...running, ...more])).map(({ status }) => status)).toEqual([
    200, 200, 200, 202,
  ]);
});

test('a client that leaves does not make room while its request goes on', async () => {
  await start({ scans: one });
  const { replay, subscription, token } = await tenant('gone');
  const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const leaving = new AbortController();
  const closed = once(api.app.server, 'connection').then(([socket]) => once(socket, 'close'));
  const headers = { authorization: `Bearer ${token}` };
  const asked = fetch(`${url}${subscription}/replay`, { method: 'POST', headers, signal: leaving.signal });
  await hasBegun(1);
  leaving.abort();
  await expect(asked).rejects.toThrow('aborted');
  await closed;
  expect((await replay()).status).toBe(429);
  begun[0]?.();
  const again = vi.waitFor(async () => {
    const answer = replay();
    await hasBegun(2);
    begun[1]?.();
    expect((await answer).status).toBe(202);
  });
  await again;
});

test('the operator has no limit', async () => {
  await start({ scans: one, calls: one });
  const { subscription } = await tenant('served');
  const answers = [1, 2, 3].map(() =>
    api.call('POST', `${subscription}/replay`, {}, { token: operatorToken }),
  );
  await hasBegun(3);
  for (const letGo of begun) letGo();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([202, 202, 202]);
});
