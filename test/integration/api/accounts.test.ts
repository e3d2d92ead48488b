import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTokenStore } from '../../../src/accounts/token-store.ts';
import { createCountHistory } from '../../../src/filings/count-history.ts';
import { SealError } from '../../../src/secrets/seal.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { accountInput, createApiFixture, hookUrl, type ApiFixture } from '../../support/api/api-fixture.ts';

const redis = testRedis();
let api: ApiFixture;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

test('creating an account answers 201, replacing it 200; polling hears of both', async () => {
  const created = await api.call('PUT', '/v1/accounts/made', { ...accountInput, pollIntervalMs: 1000 });
  expect([created.status, created.headers['location']]).toEqual([201, '/v1/accounts/made']);
  expect(created.body).toMatchObject({ account: 'made', pollIntervalMs: 1000, sweepIntervalMs: 900_000 });
  const replaced = await api.call('PUT', '/v1/accounts/made', {
    ...accountInput,
    baseUrl: 'https://b.example/v2//',
  });
  expect([replaced.status, replaced.headers['location']]).toEqual([200, undefined]);
  expect(replaced.body).toMatchObject({
    baseUrl: 'https://b.example/v2',
    pollIntervalMs: 15_000,
    createdAt: created.body['createdAt'],
  });
  expect(api.calls.filter(([name]) => name === 'accountSaved')).toEqual([
    ['accountSaved', 'made'],
    ['accountSaved', 'made'],
  ]);
  expect((await api.deps.accounts.getKeyed('made'))?.partnerKey).toBe(accountInput.partnerKey);
});

test('single settings change, the others stay; a key goes to no other origin', async () => {
  const path = '/v1/accounts/patched';
  await api.call('PUT', path, { ...accountInput, pollIntervalMs: 1000, stalledAfter: { pending: 'P10D' } });
  const limits = { PENDING: 'PT1S', ON_HOLD: 'P2W', REJECTED: { after: 'PT4H', unless: 'seen' } };
  const changed = await api.call('PATCH', path, {
    stalledAfter: { pending: 'PT1S', on_hold: 'P2W', rejected: { after: 'PT4H', unless: 'seen' } },
  });
  expect([changed.status, changed.body]).toEqual([
    200,
    expect.objectContaining({ pollIntervalMs: 1000, stalledAfter: limits, check: expect.anything() }),
  ]);
  expect(
    (await api.call('PATCH', path, { pollIntervalMs: null, partnerKey: 'another-key' })).body,
  ).toMatchObject({
    pollIntervalMs: 15_000,
    stalledAfter: limits,
  });
  expect(await api.deps.accounts.getKeyed('patched')).toMatchObject({
    partnerKey: 'another-key',
    baseUrl: accountInput.baseUrl,
  });
  const moved = await api.call('PATCH', path, { baseUrl: 'https://elsewhere.example/v1' });
  expect([moved.status, moved.body['errors']]).toEqual([
    422,
    [expect.objectContaining({ path: 'partnerKey' })],
  ]);
  const both = { baseUrl: 'https://elsewhere.example/v1/', partnerKey: 'its-key', stalledAfter: {} };
  expect((await api.call('PATCH', path, both)).body).toMatchObject({
    baseUrl: 'https://elsewhere.example/v1',
    stalledAfter: null,
  });
  expect((await api.deps.accounts.getKeyed('patched'))?.partnerKey).toBe('its-key');
  expect((await api.call('PATCH', '/v1/accounts/nobody', {})).status).toBe(404);
});

test('due dates are rules of the account, with warnings a week before and at the date unless it says otherwise', async () => {
  const path = '/v1/accounts/due';
  const made = await api.call('PUT', path, { ...accountInput, due: { tx: 'P60D', '*': 'P45D' } });
  const due = { TX: 'P60D', '*': 'P45D' };
  expect(made.body).toMatchObject({ due, dueWarnings: ['P7D', 'P0D'] });
  const changed = await api.call('PATCH', path, { dueWarnings: ['P3D'] });
  expect(changed.body).toMatchObject({ due, dueWarnings: ['P3D'] });
  const without = await api.call('PATCH', path, { due: {}, dueWarnings: null });
  expect(without.body).toMatchObject({ due: null, dueWarnings: ['P7D', 'P0D'] });
});

test('an account that several create at once is created by one of them', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => api.call('PUT', '/v1/accounts/raced', accountInput)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
});

test('no answer holds the key of the partner service', async () => {
  const answers = [
    await api.call('PUT', '/v1/accounts/keyed', { ...accountInput, partnerKey: 'very-secret-key' }),
    await api.call('GET', '/v1/accounts/keyed'),
    await api.call('GET', '/v1/accounts'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([201, 200, 200]);
  for (const { text } of answers) {
    expect(text).toContain('keyed');
    expect(text).not.toMatch(/very-secret-key|partnerKey/);
  }
});

test('an account lists its filings by status over the requested time', async () => {
  const path = await api.createAccount('counted');
  const history = createCountHistory(redis.connect(), api.keys);
  await api.putFilings('counted', []);
  await api.stored.of('counted').setPolling({ lastCompletePollAt: 1 });
  const now = Date.now();
  for (const hours of [30, 2, 0])
    await history.note('counted', now - hours * 3_600_000, async () => ({ PAID: hours }));
  const paid = async (query: string) => {
    const { items } = await api.ok('GET', `${path}/counts${query}`);
    return (items as { at: string; counts: { PAID: number } }[]).map(({ counts }) => counts.PAID);
  };
  expect([await paid(''), await paid('?hours=1'), await paid('?hours=168')]).toEqual([
    [2, 0],
    [0],
    [30, 2, 0],
  ]);
  for (const hours of ['0', '169', '1.5', 'day'])
    expect((await api.call('GET', `${path}/counts?hours=${hours}`)).status).toBe(422);
});

test.each([
  ['not read yet', {}],
  ['refused', { authFailed: 'true', lastPollAt: 1, consecutiveFailures: 3 }],
  ['in its baseline', { lastPollAt: Date.now() }],
])('an account that is %s shows no numbers of filings, not even 0', async (name, marks) => {
  const account = name.replaceAll(' ', '-');
  const path = await api.createAccount(account);
  await api.putFilings(account, [
    { id: 'a', status: 'PENDING' },
    { id: 'b', status: 'ON_HOLD' },
  ]);
  const stored = api.stored.of(account);
  await stored.setPolling({ generation: 'g', ...marks });
  const counts = { UNPAID: null, PAID: null, PENDING: null, COMPLETED: null, REJECTED: null, ON_HOLD: null };
  expect((await api.ok('GET', path))['counts']).toEqual(counts);
  await createCountHistory(redis.connect(), api.keys).note(account, Date.now(), async () => ({ PENDING: 1 }));
  expect((await api.ok('GET', `${path}/counts`))['items']).toEqual([]);
  await stored.setPolling({ lastCompletePollAt: Date.now() });
  expect((await api.ok('GET', path))['counts']).toMatchObject({ PENDING: 1, REJECTED: 0, ON_HOLD: 1 });
});

test('an account shows its filings by status and how polling stands', async () => {
  await api.createAccount('polled');
  await api.putFilings('polled', [
    { id: 'a', status: 'PENDING' },
    { id: 'b', status: 'PENDING' },
    { id: 'c', status: 'COMPLETED' },
    { id: 'd', status: 'ON_HOLD' },
  ]);
  const at = Date.UTC(2026, 10, 21, 10);
  await api.stored.of('polled').setPolling({
    baselined: 'true',
    lastPollAt: at,
    lastCompletePollAt: at - 1000,
    consecutiveFailures: 2,
    backoffUntil: at + 1000,
    lastError: 'timeout',
    authFailed: 'true',
    requestsTotal: 12,
    requestsLastPoll: 3,
  });
  expect(await api.ok('GET', '/v1/accounts/polled')).toMatchObject({
    counts: { UNPAID: 0, PAID: 0, PENDING: 2, COMPLETED: 1, REJECTED: 0, ON_HOLD: 1 },
    health: {
      state: 'auth_failed',
      lastPollAt: '2026-11-21T10:00:00.000Z',
      lastCompletePollAt: '2026-11-21T09:59:59.000Z',
      lastSweepAt: null,
      consecutiveFailures: 2,
      backoffUntil: '2026-11-21T10:00:01.000Z',
      lastError: 'timeout',
    },
    requests: { total: 12, lastPoll: 3, budget: 150 },
  });
});

test('accounts are listed by name, page by page', async () => {
  for (const name of ['page-c', 'page-a', 'page-b']) {
    await api.createAccount(name);
  }
  const { items } = await api.listAll<{ account: string }>('/v1/accounts', { limit: '1' });
  const names = items.map(({ account }) => account);
  expect(names.filter((name) => name.startsWith('page-'))).toEqual(['page-a', 'page-b', 'page-c']);
  expect(names).toEqual(names.toSorted());
});

test('removing an account removes everything below it and ends its polling', async () => {
  const path = await api.createAccount('removed');
  await api.putFilings('removed', [{ id: 'f', status: 'PAID', type: 'filing.paid' }]);
  await api.ok('POST', `${path}/subscriptions`, { url: hookUrl });
  const { token } = await api.ok('POST', `${path}/tokens`, { name: 'x' });
  expect((await api.call('DELETE', path)).status).toBe(204);
  expect(api.calls).toContainEqual(['accountRemoved', 'removed']);
  const after = [
    await api.call('GET', path),
    await api.call('DELETE', path),
    await api.call('GET', `${path}/subscriptions`),
    await api.call('GET', `${path}/events`),
    await api.call('POST', `${path}/poll`),
  ];
  expect(after.map(({ status, body }) => [status, body['code']])).toEqual(
    after.map(() => [404, 'account_not_found']),
  );
  expect((await api.call('GET', path, undefined, { token: String(token) })).status).toBe(401);

  await api.createAccount('removed');
  expect((await api.ok('GET', `${path}/subscriptions`)).items).toEqual([]);
  expect((await api.ok('GET', `${path}/events`)).items).toEqual([]);
});

test.each([
  ['', 'delta'],
  ['?mode=delta', 'delta'],
  ['?mode=sweep', 'sweep'],
])('POST poll%s asks for a %s', async (query, mode) => {
  const path = await api.createAccount('asked');
  const answer = await api.call('POST', `${path}/poll${query}`);
  expect([answer.status, answer.body]).toEqual([202, { account: 'asked', mode }]);
  expect(api.calls.at(-1)).toEqual(['pollNow', 'asked', mode]);
});

test('an account whose key does not open is shown as any other and can be set anew', async () => {
  const path = await api.createAccount('sealed');
  await api.stored.setAccount(
    'sealed',
    JSON.stringify({
      incarnation: '',
      baseUrl: 'http://a',
      sealedKey: 'v1.lost.AAAA',
      pollIntervalMs: null,
      sweepIntervalMs: null,
      createdAt: 1,
      updatedAt: 1,
    }),
  );
  expect((await api.call('GET', path)).body).toMatchObject({ account: 'sealed', baseUrl: 'http://a' });
  await expect(api.deps.accounts.getKeyed('sealed')).rejects.toThrow(SealError);
  expect((await api.call('PUT', path, accountInput)).status).toBe(200);
});

test('a check of the key that fails while the polls are scheduled fails that request alone', async () => {
  const path = await api.createAccount('unchecked');
  const { hooks } = api.deps;
  const { accountSaved, checkPartner } = hooks;
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', note);
  // Node reports a rejection before the next turn.
  hooks.accountSaved = () => nextTurn();
  hooks.checkPartner = async () => Promise.reject(new SealError('lost'));
  try {
    expect((await api.call('PATCH', path, { pollIntervalMs: 20_000 })).status).toBe(503);
  } finally {
    Object.assign(hooks, { accountSaved, checkPartner });
    process.off('unhandledRejection', note);
  }
  expect(unhandled).toEqual([]);
});

test('a token is shown once, listed without its text, and stored as a digest', async () => {
  const path = await api.createAccount('tokens');
  const made = await api.call('POST', `${path}/tokens`, {
    name: 'billing',
    readOnly: true,
    expiresAt: '2099-01-01T00:00:00+01:00',
  });
  expect(made.status).toBe(201);
  const { token, warnings, ...shown } = made.body;
  expect(warnings).toEqual([]);
  expect(token).toMatch(/^fwa_[A-Za-z0-9_-]{43}\.tokens$/);
  expect(shown).toMatchObject({
    name: 'billing',
    readOnly: true,
    expiresAt: '2098-12-31T23:00:00.000Z',
    lastUsedAt: null,
  });
  const list = await api.call('GET', `${path}/tokens`);
  expect(list.body).toEqual({ items: [shown], nextCursor: null });
  const dump = JSON.stringify(await api.stored.of('tokens').tokenTexts());
  expect(dump).not.toContain(String(token).slice(4, 40));
});

test('the use of a token is noted, at most once in five minutes', async () => {
  let now = Date.UTC(2026, 0, 1);
  const timed = await createApiFixture(redis.connect(), redis.prefix, { now: () => now });
  const path = await timed.createAccount('used');
  const { token } = await timed.ok('POST', `${path}/tokens`, { name: 'a' });
  const use = async () => {
    await timed.call('GET', path, undefined, { token: String(token) });
    const [one] = (await timed.ok('GET', `${path}/tokens`))['items'] as { lastUsedAt: string | null }[];
    return one?.lastUsedAt;
  };
  expect(await use()).toBe('2026-01-01T00:00:00.000Z');
  now += 299_000;
  expect(await use()).toBe('2026-01-01T00:00:00.000Z');
  now += 1_000;
  expect(await use()).toBe('2026-01-01T00:05:00.000Z');
  await timed.app.close();
});

test('noting the use of a token does not bring back one that is revoked meanwhile', async () => {
  await api.createAccount('raced');
  const settings = { name: 'a', right: 'manage', expiresAt: null } as const;
  const made = await api.deps.tokens.create('raced', settings, 1);
  if (made.kind !== 'made') throw new Error(made.kind);
  const { token, text } = made;
  const client = redis.connect();
  const revoking = new Proxy(client, {
    get(target, name) {
      if (name !== 'hget') return Reflect.get(target, name, target) as unknown;
      return async (key: string, field: string) => {
        const found = await target.hget(key, field);
        await api.deps.tokens.remove('raced', token.id, 'revoke');
        return found;
      };
    },
  });
  await createTokenStore(revoking, api.keys).touch(token, 10_000_000);
  expect(await api.deps.tokens.find(text, 10_000_000)).toBeNull();
});
