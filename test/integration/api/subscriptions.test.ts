import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseSecret } from '../../../src/subscriptions/signing-secret.ts';
import { ReplayRefusedError } from '../../../src/delivery/replay/replay.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createApiFixture, hookUrl, type ApiFixture } from '../../support/api/api-fixture.ts';

const redis = testRedis();
let api: ApiFixture;
let path: string;
let account: string;
let accounts = 0;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
});

beforeEach(async () => {
  account = `a${(accounts += 1)}`;
  path = `${await api.createAccount(account)}/subscriptions`;
  api.calls.length = 0;
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

const register = (body: object = {}) => api.ok('POST', path, { url: hookUrl, ...body });
const idempotent = (body: object, key: string) =>
  api.call('POST', path, body, { headers: { 'idempotency-key': key } });

test('a registration answers 201 with its place, its secret and the documented defaults', async () => {
  const { status, headers, body } = await api.call('POST', path, { url: hookUrl });
  expect(status).toBe(201);
  expect(headers['location']).toBe(`${path}/${String(body['id'])}`);
  expect(() => parseSecret(String(body['secret']))).not.toThrow();
  expect(body).toMatchObject({
    id: expect.stringMatching(/^sub_[0-9a-f]{32}$/),
    account,
    url: hookUrl,
    eventTypes: ['filing.*'],
    states: null,
    statuses: null,
    description: null,
    headers: {},
    format: 'standard',
    payload: 'full',
    enabled: true,
    state: 'active',
    disabledReason: null,
    from: 'now',
    lag: 0,
    consecutiveFailures: 0,
    nextAttemptAt: null,
    lastSuccessAt: null,
  });
});

test('statuses are taken in any case, and shown in upper case', async () => {
  const { id, statuses } = await register({ statuses: ['rejected', 'Rejected', 'PENDING'] });
  expect(statuses).toEqual(['REJECTED', 'PENDING']);
  const changed = await api.ok('PATCH', `${path}/${String(id)}`, { statuses: ['unpaid'] });
  expect(changed).toMatchObject({ statuses: ['UNPAID'] });
  expect(await api.ok('PATCH', `${path}/${String(id)}`, { statuses: null })).toMatchObject({
    statuses: null,
  });
});

test('a status that the account never had is refused with the one that was meant', async () => {
  const refused = await api.call('POST', path, { url: hookUrl, statuses: ['PAID', 'rejcted'] });
  expect(refused).toMatchObject({
    status: 422,
    body: {
      errors: [{ path: 'statuses.1', message: expect.stringContaining('did you mean REJECTED?') }],
    },
  });
  // The partner service may send others.
  await api.stored.of(account).setCount('On hold', 1);
  expect(await register({ statuses: ['on hold'] })).toMatchObject({ statuses: ['ON HOLD'] });
});

test('a subscription may begin disabled, and ask for everything', async () => {
  const { id, ...shown } = await register({ enabled: false, eventTypes: ['*'] });
  expect(shown).toMatchObject({ enabled: false, state: 'disabled', disabledReason: 'by request' });
  expect(await api.ok('GET', `${path}/${String(id)}`)).toMatchObject({
    eventTypes: ['*'],
    state: 'disabled',
  });
  expect(await api.ok('PATCH', `${path}/${String(id)}`, { enabled: true })).toMatchObject({
    state: 'active',
  });
});

test('everything that was registered is shown, but no secret and no header value', async () => {
  const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
  const given = {
    eventTypes: ['filing.completed', 'account.*'],
    states: ['TX', 'CA'],
    description: 'Status page',
    format: 'cloudevents',
    payload: 'thin',
  };
  const { id, secret: told } = await register({
    ...given,
    headers: { authorization: 'Bearer hidden' },
    secret,
  });
  expect(told).toBe(secret);
  const one = await api.call('GET', `${path}/${String(id)}`);
  expect(one.body).toMatchObject({ ...given, headers: { authorization: '***' } });
  const list = await api.call('GET', path);
  for (const { text } of [one, list]) {
    expect(text).not.toContain('hidden');
    expect(text).not.toContain('whsec_');
  }
  const stored = await api.deps.subscriptions.get(account, String(id));
  expect(stored?.subscription.headers).toEqual({ authorization: 'Bearer hidden' });
});

test('from "earliest" begins at the start of the log and wakes the subscription', async () => {
  await api.putFilings(account, [{ id: 'f', status: 'PAID', type: 'filing.paid' }]);
  const { lag, from } = await register({ from: 'earliest' });
  expect([lag, from]).toEqual([1, 'earliest']);
  expect(api.calls).toContainEqual(['wake', account]);
  expect((await register({})).lag).toBe(0);
});

test('from "earliest" waits for what is still in the log, not for what was gone before', async () => {
  const filings = ['a', 'b', 'c'].map((id) => ({ id, status: 'PAID', type: 'filing.paid' }));
  await api.putFilings(account, filings);
  await api.stored.of(account).dropEventsBelow(3);
  expect((await register({ from: 'earliest' })).lag).toBe(1);
});

test('the lag counts the events that the subscription asked for, and no others', async () => {
  const { id } = await register({ eventTypes: ['filing.completed'], states: ['TX'] });
  const inState = (filing: string, type: string, stateAbbr: string) => ({
    id: filing,
    status: type,
    type: `filing.${type.toLowerCase()}`,
    document: { id: filing, filingState: { stateAbbr } },
  });
  await api.putFilings(account, [
    inState('lag-1', 'COMPLETED', 'TX'),
    inState('lag-2', 'PAID', 'TX'),
    inState('lag-3', 'COMPLETED', 'FL'),
  ]);
  const one = await api.call('GET', `/v1/accounts/${account}/subscriptions/${String(id)}`);
  const all = await api.call('GET', `/v1/accounts/${account}/subscriptions?limit=100`);
  const items = all.body['items'] as { id: string; lag: number }[];
  expect([one.body['lag'], items.find((item) => item.id === id)?.lag]).toEqual([1, 1]);
});

test('the same idempotency key and request register once and get the same answer', async () => {
  const body = { url: hookUrl, description: 'once', states: ['TX'] };
  const first = await idempotent(body, 'key-1');
  const second = await idempotent({ states: ['TX'], description: 'once', url: hookUrl }, 'key-1');
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body).toEqual(first.body);
  expect(second.headers['location']).toBe(first.headers['location']);
  expect([first.headers['idempotency-replayed'], second.headers['idempotency-replayed']]).toEqual([
    undefined,
    'true',
  ]);
  expect((await api.ok('GET', path)).items).toHaveLength(1);
});

test('a repeated registration gets the same answer although the subscription has changed since', async () => {
  const first = await idempotent({ url: hookUrl }, 'key-2');
  await api.ok('PATCH', `${path}/${String(first.body['id'])}`, { enabled: false, description: 'changed' });
  expect((await idempotent({ url: hookUrl }, 'key-2')).body).toEqual(first.body);
});

test('an idempotency key of another request is refused', async () => {
  await idempotent({ url: hookUrl }, 'key-3');
  const answer = await idempotent({ url: `${hookUrl}2` }, 'key-3');
  expect([answer.status, answer.body['code']]).toEqual([422, 'idempotency_key_reused']);
});

test('requests at once under one idempotency key register once', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => idempotent({ url: hookUrl }, 'key-4')));
  expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1);
  expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
});

test('a change touches only what it names, and null clears', async () => {
  const { id } = await register({ states: ['TX'], description: 'a', headers: { 'x-a': '1', 'x-b': '2' } });
  const one = `${path}/${String(id)}`;
  expect(await api.ok('PATCH', one, { description: 'b' })).toMatchObject({
    description: 'b',
    states: ['TX'],
  });
  expect(await api.ok('PATCH', one, { states: null, description: null })).toMatchObject({
    states: null,
    description: null,
  });
  expect(await api.ok('PATCH', one, { headers: { 'x-c': '3' } })).toMatchObject({
    headers: { 'x-c': '***' },
  });
  expect(await api.ok('PATCH', one, { headers: {} })).toMatchObject({ headers: {} });
  const changed = await api.ok('PATCH', one, {
    url: `${hookUrl}2`,
    eventTypes: ['filing.paid'],
    format: 'slack',
    payload: 'thin',
  });
  expect(changed).toMatchObject({
    url: `${hookUrl}2`,
    eventTypes: ['filing.paid'],
    format: 'slack',
    payload: 'thin',
  });
  expect(await api.ok('PATCH', one, {})).toMatchObject({ url: `${hookUrl}2` });
});

test('a change of "from" to "earliest" replays the log, and nothing twice', async () => {
  const { id } = await register();
  const one = `${path}/${String(id)}`;
  const replays = () => api.calls.filter(([name]) => name === 'replay').length;
  expect(await api.ok('PATCH', one, { from: 'now' })).toMatchObject({ from: 'now' });
  expect(replays()).toBe(0);
  expect(await api.ok('PATCH', one, { from: 'earliest', states: ['TX'] })).toMatchObject({
    from: 'earliest',
    states: ['TX'],
  });
  const open = { after: null, before: null, eventTypes: null, filingId: null, deadLettersOnly: false };
  expect(api.calls).toContainEqual(['replay', account, id, open]);
  expect(await api.ok('PATCH', one, { from: 'earliest' })).toMatchObject({ from: 'earliest' });
  expect(await api.ok('PATCH', one, { from: 'now' })).toMatchObject({ from: 'now' });
  expect(await api.ok('PATCH', one, { description: 'x' })).toMatchObject({ from: 'now' });
  expect(replays()).toBe(1);
});

test('a change of "from" whose replay cannot begin may be asked for again', async () => {
  let tries = 0;
  const busy = await createApiFixture(redis.connect(), redis.prefix, {
    replayer: {
      ...api.deps.replayer,
      async start() {
        tries += 1;
        if (tries === 1) throw new ReplayRefusedError('too_many');
        return { id: 'rpl_1', matched: 0 };
      },
    },
  });
  const { id } = await register();
  const one = `${path}/${String(id)}`;
  const refused = await busy.call('PATCH', one, { from: 'earliest' });
  expect([refused.status, refused.body['code']]).toEqual([429, 'too_many_replays']);
  expect(await busy.ok('GET', one)).toMatchObject({ from: 'now' });
  expect(await busy.ok('PATCH', one, { from: 'earliest' })).toMatchObject({ from: 'earliest' });
  expect(tries).toBe(2);
  await busy.app.close();
});

test('disabling says why; enabling wakes it and releases what waits', async () => {
  const { id } = await register();
  const one = `${path}/${String(id)}`;
  expect(await api.ok('PATCH', one, { enabled: false })).toMatchObject({
    enabled: false,
    state: 'disabled',
    disabledReason: 'by request',
  });
  api.calls.length = 0;
  expect(await api.ok('PATCH', one, { enabled: true })).toMatchObject({
    enabled: true,
    state: 'active',
    disabledReason: null,
  });
  expect(api.calls).toEqual([['wake', account]]);
  expect((await api.deps.subscriptions.get(account, String(id)))?.delivery.release).toBe(true);
});

test.each([
  [{ url: `${hookUrl}2` }, true],
  [{ headers: { 'x-a': '1' } }, true],
  [{ secret: `whsec_${Buffer.alloc(32, 9).toString('base64')}` }, true],
  [{ description: 'only words' }, false],
  [{ url: hookUrl }, false],
  [{ enabled: true }, false],
])('a change to %j releases what waits: %s', async (patch, release) => {
  const { id } = await register();
  await api.ok('PATCH', `${path}/${String(id)}`, patch);
  expect((await api.deps.subscriptions.get(account, String(id)))?.delivery.release).toBe(release);
});

test('a stored change is answered although its wake-up failed', async () => {
  const deaf = await createApiFixture(redis.connect(), redis.prefix, {
    hooks: { ...api.deps.hooks, wake: () => Promise.reject(new Error('queue away')) },
  });
  const { id } = await register();
  expect((await deaf.call('PATCH', `${path}/${String(id)}`, { description: 'x' })).status).toBe(200);
  await deaf.app.close();
});

test('a rotated secret releases what waits, and wakes it', async () => {
  const { id } = await register();
  api.calls.length = 0;
  await api.ok('POST', `${path}/${String(id)}/rotate-secret`);
  expect(api.calls).toEqual([['wake', account]]);
  expect((await api.deps.subscriptions.get(account, String(id)))?.delivery.release).toBe(true);
});

test('a patched secret counts at once and alone', async () => {
  const { id } = await register();
  const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  await api.ok('PATCH', `${path}/${String(id)}`, { secret });
  const stored = await api.deps.subscriptions.get(account, String(id));
  expect(stored?.subscription.secrets).toEqual([{ text: secret, expiresAt: null }]);
});

test('rotating a secret keeps the former one for the grace', async () => {
  const { id, secret: former } = await register();
  const one = `${path}/${String(id)}`;
  const before = Date.now();
  const { secret, previousExpiresAt } = await api.ok('POST', `${one}/rotate-secret`);
  expect(secret).not.toBe(former);
  const expiry = Date.parse(String(previousExpiresAt));
  expect(expiry - before).toBeGreaterThanOrEqual(86_400_000);
  expect(expiry - Date.now()).toBeLessThanOrEqual(86_400_000);
  const stored = await api.deps.subscriptions.get(account, String(id));
  expect(stored?.subscription.secrets).toEqual([
    { text: secret, expiresAt: null },
    { text: former, expiresAt: expiry },
  ]);
  expect((await api.ok('GET', one)).previousSecretExpiresAt).toBe(previousExpiresAt);
});

test('rotating without grace drops the former secret', async () => {
  const { id } = await register();
  const secret = `whsec_${Buffer.alloc(64, 3).toString('base64')}`;
  const answer = await api.ok('POST', `${path}/${String(id)}/rotate-secret`, { secret, graceMs: 0 });
  expect(answer).toEqual({ secret, previousExpiresAt: null });
  const stored = await api.deps.subscriptions.get(account, String(id));
  expect(stored?.subscription.secrets).toEqual([{ text: secret, expiresAt: null }]);
});

test('the list shows all of them once, oldest first, however it is paged', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i += 1) {
    // In order, so that their ages differ as their numbers do.
    ids.push(String((await register({ description: String(i) }))['id']));
  }
  const { items, lengths } = await api.listAll<{ id: string; createdAt: string }>(path, { limit: '2' });
  expect(items.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expect(lengths).toEqual([2, 2, 1]);
  const ages = items.map(({ createdAt }) => createdAt);
  expect(ages).toEqual(ages.toSorted());
});

test('a removed subscription is gone', async () => {
  const { id } = await register();
  const one = `${path}/${String(id)}`;
  expect((await api.call('DELETE', one)).status).toBe(204);
  const answers = await Promise.all([
    api.call('GET', one),
    api.call('DELETE', one),
    api.call('PATCH', one, {}),
    api.call('POST', `${one}/rotate-secret`),
    api.call('POST', `${one}/test`),
    api.call('POST', `${one}/replay`),
    api.call('GET', `${one}/attempts`),
    api.call('GET', `${one}/dead-letters`),
  ]);
  expect(answers.map(({ status, body }) => [status, body['code']])).toEqual(
    answers.map(() => [404, 'subscription_not_found']),
  );
});

test('a subscription of one account is not there in another', async () => {
  const { id } = await register();
  const other = await api.createAccount(`${account}-other`);
  expect((await api.call('GET', `${other}/subscriptions/${String(id)}`)).status).toBe(404);
});

test('limits of delivery are taken at registration and by PATCH, and null gives back what the operator has set', async () => {
  const limits = { timeoutMs: 5_000, retryMs: [1_000, 60_000], maxInFlight: 1, rate: 0.5 };
  const { id, ...registered } = await register(limits);
  expect(registered).toMatchObject({ ...limits, throttled: false });
  const at = `${path}/${String(id)}`;
  expect(await api.ok('PATCH', at, { rate: 5, retryMs: null })).toMatchObject({
    ...limits,
    rate: 5,
    retryMs: null,
  });
  expect(await api.ok('GET', at)).toMatchObject({ timeoutMs: 5_000, rate: 5, retryMs: null });
  expect(await register()).toMatchObject({ timeoutMs: null, retryMs: null, maxInFlight: null, rate: null });
});

test('limits beyond their bounds are refused with the field', async () => {
  const wrong = {
    timeoutMs: [99, 60_001, 1.5],
    retryMs: [[], [9], [604_800_001], Array(21).fill(1_000)],
    maxInFlight: [0, 65, 1_001],
    rate: [0, 0.009, 1_001, '5'],
  };
  for (const [field, values] of Object.entries(wrong))
    for (const value of values) {
      const { status, body } = await api.call('POST', path, { url: hookUrl, [field]: value });
      expect({ status, value }).toEqual({ status: 422, value });
      expect(body).toMatchObject({ errors: [{ path: expect.stringMatching(new RegExp(`^${field}`)) }] });
    }
});

test('a subscription that waits for its turn says so, and when that is', async () => {
  const { id } = await register({ rate: 0.1 });
  const at = `${path}/${String(id)}`;
  const turnAt = Date.now() + 9_000;
  await api.stored.of(account).of(String(id)).setState({ throttledUntil: turnAt, parked: 2 });
  const shown = { throttled: true, nextAttemptAt: new Date(turnAt).toISOString(), state: 'active' };
  expect(await api.ok('GET', at)).toMatchObject(shown);
  expect(await api.ok('PATCH', at, { rate: null })).toMatchObject({ throttled: false, nextAttemptAt: null });
});
