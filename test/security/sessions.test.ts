import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSessionStore, sessionMs } from '../../src/accounts/session-store.ts';
import { createApiFixture, operatorToken, type ApiFixture } from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;
let clockMs = Date.now();

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix, {
    now: () => clockMs,
    publicUrl: 'https://filings.example.com/page',
    frameAncestors: ['https://intranet.example.com'],
  });
  await api.createAccount('one');
  await api.createAccount('two');
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

const page = { 'x-filing-webhooks': 'page' };

function call(method: string, url: string, headers: Record<string, string>, body?: unknown) {
  return api.call(method, url, body, { token: null, headers });
}

async function makeToken(settings: object = {}, account = 'one') {
  const made = await api.ok('POST', `/v1/accounts/${account}/tokens`, { name: 'a', ...settings });
  return { id: String(made['id']), token: String(made['token']) };
}

async function makeLink(settings: object = {}) {
  const made = await api.ok('POST', '/v1/accounts/one/links', { expiresInMs: 60_000, ...settings });
  return {
    id: String(made['id']),
    url: String(made['url']),
    link: String(made['url']).split('#/link/')[1] ?? '',
  };
}

/** Signs in and returns the cookie as the browser sends it, with all that was set. */
async function signIn(credentials: object, headers: Record<string, string> = page) {
  const answer = await call('POST', '/v1/session', headers, credentials);
  const set = [answer.headers['set-cookie'] ?? ''].flat().map(String);
  return { ...answer, set: set.join('\n'), cookie: set[0]?.split(';')[0] ?? '' };
}

const ask = async (cookie: string, headers: Record<string, string> = page) =>
  (await call('GET', '/v1/session', { ...headers, cookie })).status;

test('a session is 256 random bits, of which Redis has a digest alone', async () => {
  const { cookie, status, body, set } = await signIn({ token: operatorToken });
  expect([status, body]).toEqual([
    201,
    {
      kind: 'operator',
      account: null,
      right: 'manage',
      readOnly: false,
      subscriptions: 'all',
      expiresAt: new Date(clockMs + sessionMs).toISOString(),
    },
  ]);
  expect(set).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
  const secret = /=fws_([\w-]{43})$/.exec(cookie)?.[1] ?? '';
  expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
  const { token } = await makeToken();
  const ofAccount = (await signIn({ token })).cookie;
  expect(ofAccount).toMatch(/=fws_[\w-]{43}\.one$/);
  const stored = await Promise.all([api.stored.sessionTexts(), api.stored.of('one').sessionTexts()]);
  const text = JSON.stringify(stored);
  expect(text).toContain('"hash\\":');
  for (const part of [secret, /fws_([\w-]{43})/.exec(ofAccount)?.[1] ?? '', operatorToken, token])
    expect(text.includes(part)).toBe(false);
  expect([await ask(cookie), await ask(ofAccount)]).toEqual([200, 200]);
});

test('a cookie counts only from the page itself', async () => {
  const host = 'localhost:3000';
  const { cookie } = await signIn({ token: operatorToken }, { ...page, host });
  const refused: Record<string, string>[] = [
    {},
    { 'x-filing-webhooks': 'yes' },
    { ...page, 'sec-fetch-site': 'cross-site' },
    { ...page, 'sec-fetch-site': 'same-site' },
    { ...page, 'sec-fetch-site': 'none' },
    // The page in a frame has a cookie of its own.
    { 'x-filing-webhooks': 'frame' },
  ];
  for (const headers of refused)
    expect([headers, await ask(cookie, { host, ...headers })]).toEqual([headers, 401]);
  for (const origin of ['https://evil.example.com', 'null', `http://${host}:81`, 'http://'])
    expect([origin, await ask(cookie, { ...page, host, origin })]).toEqual([origin, 403]);
  const taken = [
    page,
    { ...page, 'sec-fetch-site': 'same-origin' },
    { ...page, origin: `http://${host}` },
    { ...page, origin: 'https://filings.example.com' },
  ];
  for (const headers of taken) expect(await ask(cookie, { host, ...headers })).toBe(200);
  const change = await call('POST', '/v1/accounts/one/tokens', { cookie }, { name: 'forged' });
  expect(change.status).toBe(401);
});

test('behind a proxy that changes Host a change is refused with both hosts and the cure, and signing out works', async () => {
  const origin = 'http://filings.internal';
  const behind = { ...page, host: '127.0.0.1:3000', origin };
  const { cookie, status } = await signIn({ token: operatorToken }, behind);
  expect([status, await ask(cookie, { ...page, host: behind.host })]).toEqual([201, 200]);
  const refused = await call('POST', '/v1/accounts/one/poll', { ...behind, cookie });
  expect([refused.status, refused.body['code']]).toEqual([403, 'foreign_origin']);
  for (const part of [origin, '127.0.0.1:3000', 'proxy_set_header Host', 'PUBLIC_URL'])
    expect(refused.body['detail']).toContain(part);
  // The browser says that another site sent it.
  const forged = await call('DELETE', '/v1/session', { ...behind, cookie, 'sec-fetch-site': 'cross-site' });
  expect(forged.status).toBe(401);
  expect((await call('DELETE', '/v1/session', { host: behind.host, origin, cookie })).status).toBe(401);
  expect(await ask(cookie, { ...page, host: behind.host })).toBe(200);
  expect((await call('DELETE', '/v1/session', { ...behind, cookie })).status).toBe(204);
  expect(await ask(cookie, { ...page, host: behind.host })).toBe(401);
});

test('a token counts where a request has both, also one that is wrong', async () => {
  const { cookie } = await signIn({ token: operatorToken });
  const { token } = await makeToken({ readOnly: true });
  const both = (text: string) =>
    api.call('GET', '/v1/session', undefined, { token: text, headers: { ...page, cookie } });
  expect((await both(token)).body).toMatchObject({ kind: 'account', account: 'one', readOnly: true });
  expect((await both('wrong')).status).toBe(401);
});

test('signing out ends the session on the server, also one that may only read', async () => {
  const { token } = await makeToken({ readOnly: true });
  const { cookie } = await signIn({ token });
  expect((await call('POST', '/v1/accounts/one/tokens', { ...page, cookie }, { name: 'a' })).status).toBe(
    403,
  );
  expect((await call('GET', '/v1/accounts/two', { ...page, cookie })).status).toBe(404);
  const out = await call('DELETE', '/v1/session', { ...page, cookie });
  expect([out.status, String(out.headers['set-cookie'])]).toEqual([
    204,
    expect.stringContaining('Max-Age=0'),
  ]);
  expect(await ask(cookie)).toBe(401);
});

test('who signs in anew ends the former session of the browser', async () => {
  const former = await signIn({ token: operatorToken });
  const { token } = await makeToken();
  const next = await signIn({ token }, { ...page, cookie: former.cookie });
  expect([await ask(former.cookie), await ask(next.cookie)]).toEqual([401, 200]);
});

test('a session ends with its token, with its account, and with the token of the operator', async () => {
  const [revoked, child] = [await makeToken(), await makeToken()];
  const ofRevoked = (await signIn({ token: revoked.token })).cookie;
  await api.ok('DELETE', `/v1/accounts/one/tokens/${revoked.id}`);
  expect(await ask(ofRevoked)).toBe(401);
  await api.createAccount('gone');
  const ofGone = (await signIn({ token: (await makeToken({}, 'gone')).token })).cookie;
  await api.ok('DELETE', '/v1/accounts/gone');
  await api.createAccount('gone');
  expect(await ask(ofGone)).toBe(401);
  const ofOperator = (await signIn({ token: operatorToken })).cookie.split('=')[1] ?? '';
  const sessions = (token: string) => createSessionStore(redis.connect(), api.keys, token);
  expect(await sessions(operatorToken).find(ofOperator, clockMs)).not.toBeNull();
  expect(await sessions(`${operatorToken}-another`).find(ofOperator, clockMs)).toBeNull();
  expect(await ask((await signIn({ token: child.token })).cookie)).toBe(200);
});

test('a session ends when it is not used, and in the end in any case', async () => {
  const { cookie } = await signIn({ token: operatorToken });
  const idle = (await signIn({ token: operatorToken })).cookie;
  const began = clockMs;
  const hoursLater = (hours: number) => (clockMs = began + hours * 3_600_000);
  for (let hours = 10; hours < 7 * 24; hours += 10) {
    hoursLater(hours);
    expect([hours, await ask(cookie)]).toEqual([hours, 200]);
  }
  hoursLater(7 * 24 - 1);
  expect(await ask(idle)).toBe(401);
  clockMs = began + sessionMs;
  expect(await ask(cookie)).toBe(401);
});

test('a session is bounded in number: the oldest of the same token goes, not those of others', async () => {
  const { token } = await makeToken({}, 'two');
  const found = (await api.deps.tokens.find(token, clockMs)) ?? null;
  const other = await signIn({ token: (await makeToken({}, 'two')).token });
  const first = await signIn({ token });
  for (let made = 0; made < 200; made += 1) {
    clockMs += 1;
    await api.deps.sessions.create(found, clockMs);
  }
  expect([await ask(first.cookie), await ask(other.cookie)]).toEqual([401, 200]);
  expect(Object.keys(await api.stored.of('two').sessionTexts())).toHaveLength(201);
  expect(await api.stored.of('two').sessionsExpireInMs()).toBeGreaterThan(0);
});

test('over https the cookie is for https and this host alone', async () => {
  const headers = { ...page, host: 'filings.example.com', origin: 'https://filings.example.com' };
  const { set, cookie } = await signIn({ token: operatorToken }, headers);
  expect(set).toMatch(/^__Host-filing-webhooks=fws_[\w-]+; .*Path=\/; HttpOnly; Secure; SameSite=Strict$/);
  expect(set).not.toContain('Domain');
  expect(await ask(cookie, { ...page, host: 'filings.example.com' })).toBe(200);
});

test('what is wrong is refused and counts as any wrong token', async () => {
  const { link } = await makeLink();
  const { token } = await makeToken();
  for (const wrong of [{ token: 'wrong' }, { token: link }, { link: token }, { link: `${link}x` }])
    expect([wrong, (await signIn(wrong)).status]).toEqual([wrong, 401]);
  for (const unclear of [{}, { token, link }, { token: '' }, { token: 'x'.repeat(1_025) }])
    expect([unclear, (await signIn(unclear)).status]).toEqual([unclear, 422]);
  const strict = await createApiFixture(redis.connect(), `${redis.prefix}-strict`, {
    limits: { failures: { max: 2, windowMs: 600_000 } },
  });
  const attempt = async () =>
    (await strict.call('POST', '/v1/session', { token: 'wrong' }, { token: null })).status;
  expect([await attempt(), await attempt(), await attempt()]).toEqual([401, 401, 429]);
  await strict.app.close();
});

test('a link opens its account for reading until it expires, and nothing without a session', async () => {
  const { id, url, link } = await makeLink();
  expect(url).toMatch(/^https:\/\/filings\.example\.com\/page\/#\/link\/fwl_[\w-]{43}\.one$/);
  expect((await api.call('GET', '/v1/accounts/one', undefined, { token: link })).status).toBe(401);
  const [first, second] = [await signIn({ link }), await signIn({ link })];
  expect(first.body).toEqual({
    kind: 'account',
    account: 'one',
    right: 'read',
    readOnly: true,
    subscriptions: 'all',
    expiresAt: new Date(clockMs + 60_000).toISOString(),
  });
  expect((await call('GET', '/v1/accounts/one', { ...page, cookie: first.cookie })).status).toBe(200);
  expect((await call('GET', '/v1/accounts/two', { ...page, cookie: first.cookie })).status).toBe(404);
  const { items } = await api.listAll<{ id: string; link: boolean }>('/v1/accounts/one/tokens');
  expect(items.filter((item) => item.link).map((item) => item.id)).toContain(id);
  clockMs += 60_000;
  expect([await ask(first.cookie), await ask(second.cookie), (await signIn({ link })).status]).toEqual([
    401, 401, 401,
  ]);
});

test('a link is revoked as a token is, and ends with the token that made it', async () => {
  const { id, link } = await makeLink({ readOnly: false, name: 'Agency' });
  const { cookie, body } = await signIn({ link });
  expect(body['readOnly']).toBe(false);
  await api.ok('DELETE', `/v1/accounts/one/tokens/${id}`);
  expect([await ask(cookie), (await signIn({ link })).status]).toEqual([401, 401]);
  const soon = new Date(clockMs + 30_000).toISOString();
  const maker = await makeToken({ expiresAt: soon });
  const made = await api.call(
    'POST',
    '/v1/accounts/one/links',
    { expiresInMs: 3_600_000 },
    { token: maker.token },
  );
  expect([made.status, made.body['expiresAt']]).toEqual([201, soon]);
});

test('expired links make way when an account has as many tokens as it may have', async () => {
  await api.createAccount('full');
  const stored = api.stored.of('full');
  const { items } = await api.listAll<{ id: string }>('/v1/accounts/one/tokens');
  const text = (await api.stored.of('one').tokenTexts())[items[0]?.id ?? ''] ?? '';
  const filler = Array.from({ length: 1_000 }, (_, i) => [`tok_${i}`, text] as const);
  await stored.setTokens(Object.fromEntries(filler));
  const make = async () => (await api.call('POST', '/v1/accounts/full/links', { expiresInMs: 1_000 })).status;
  expect(await make()).toBe(429);
  await stored.dropToken('tok_1');
  expect([await make(), await make()]).toEqual([201, 429]);
  clockMs += 1_000;
  expect(await make()).toBe(201);
});

test('in the frame of a configured origin a link has a partitioned cookie of its own, a token has none', async () => {
  const framed = {
    host: 'filings.example.com',
    origin: 'https://filings.example.com',
    'x-filing-webhooks': 'frame',
  };
  const { link } = await makeLink();
  const { set, cookie } = await signIn({ link }, framed);
  expect(set).toMatch(/^__Host-filing-webhooks-frame=.*; HttpOnly; Secure; Partitioned; SameSite=None$/);
  expect(await ask(cookie, { ...framed, 'sec-fetch-site': 'same-origin' })).toBe(200);
  const ofToken = await signIn({ token: operatorToken }, framed);
  expect(ofToken.set).toMatch(/^__Host-filing-webhooks=.*SameSite=Strict$/);
});

test('sessions that cannot be read are none, and a key of another type leaves tokens valid', async () => {
  const { cookie } = await signIn({ token: operatorToken });
  for (const id of Object.keys(await api.stored.sessionTexts())) await api.stored.setSession(id, 'garbage');
  expect(await ask(cookie)).toBe(401);
  await api.stored.spoilSessions();
  expect(await ask(cookie)).toBe(503);
  expect((await api.call('GET', '/v1/accounts')).status).toBe(200);
  await api.stored.dropSessions();
  expect((await signIn({ token: operatorToken })).status).toBe(201);
});
