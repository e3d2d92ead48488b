import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiFixture, hookUrl, type ApiFixture } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

/** Notes that a subscription has acknowledged the newest event of a filing. */
async function acknowledge(account: string, id: string, filingId: string): Promise<string> {
  const positions = await api.deps.log.positionsOf(account, filingId);
  const [event] = await api.deps.log.outlineAt(account, positions.slice(-1));
  const at = Date.now();
  const attempt = { eventId: event?.id, eventType: event?.type, filingId, attempt: 1, outcome: 'delivered' };
  const rest = { statusCode: 200, durationMs: 3, response: '', at, replay: null };
  await api.stored
    .of(account)
    .of(id)
    .setState({ cursor: event?.position ?? 0 });
  await api.stored
    .of(account)
    .of(id)
    .addAttempts([{ ...attempt, ...rest }]);
  return new Date(at).toISOString();
}

async function subscribe(path: string, settings: Record<string, unknown> = {}): Promise<string> {
  const { id } = await api.ok('POST', `${path}/subscriptions`, { url: hookUrl, ...settings });
  return String(id);
}

test('rejections show who was told, in lists, on the board and in tables', async () => {
  const path = await api.createAccount('told');
  const id = await subscribe(path, { description: 'Claims desk' });
  await api.putFilings('told', [{ id: 'first', status: 'REJECTED' }]);
  await api.putFilings('told', [
    { id: 'heard', status: 'REJECTED', type: 'filing.rejected' },
    { id: 'paid', status: 'PAID', type: 'filing.paid' },
  ]);
  const at = await acknowledge('told', id, 'heard');
  const told = [{ subscription: id, description: 'Claims desk', at }];
  expect(await api.ok('GET', `${path}/filings/heard`)).toMatchObject({ told });
  expect(await api.ok('GET', `${path}/filings/first`)).toMatchObject({ told: [] });
  expect(await api.ok('GET', `${path}/filings/paid`)).toMatchObject({ told: null });
  const listed = await api.listAll<{ filingId: string; told: unknown }>(`${path}/filings`);
  expect(Object.fromEntries(listed.items.map((each) => [each.filingId, each.told]))).toEqual({
    heard: told,
    first: [],
    paid: null,
  });
  const board = (query: string) => api.ok('GET', `/v1/rejections?account=told&${query}`);
  expect(await board('')).toMatchObject({ total: 2 });
  expect(await board('told=nobody')).toMatchObject({ items: [{ filingId: 'first', told: [] }], total: 1 });
  expect(await board('told=somebody')).toMatchObject({ items: [{ filingId: 'heard', told }], total: 1 });
  const table = async (url: string) => (await api.call('GET', url, undefined, csv)).text.split('\r\n');
  const csv = { headers: { accept: 'text/csv' } };
  const columns = 'filingId,told';
  expect((await table(`${path}/filings?columns=${columns}`)).toSorted()).toEqual(
    ['', columns, 'first,nobody', `heard,${id} ${at}`, 'paid,'].toSorted(),
  );
  expect(await table('/v1/rejections?account=told&told=nobody')).toMatchObject([
    expect.stringMatching(/,told$/),
    expect.stringMatching(/^told,first,.*,nobody$/),
    '',
  ]);
});

test('a token that manages only its own subscriptions sees of those alone who was told', async () => {
  const path = await api.createAccount('own');
  const id = await subscribe(path);
  await api.putFilings('own', [{ id: 'f', status: 'REJECTED', type: 'filing.rejected' }]);
  await acknowledge('own', id, 'f');
  const { token } = await api.ok('POST', `${path}/tokens`, { name: 'a', subscriptions: 'own' });
  const seen = await api.call('GET', `${path}/filings/f`, undefined, { token: String(token) });
  expect(seen.body).toMatchObject({ told: [] });
});
