import { afterAll, beforeAll, expect, test } from 'vitest';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createApiFixture, operatorToken, type ApiFixture } from '../../support/api/api-fixture.ts';

const redis = testRedis();
let api: ApiFixture;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

async function listAll(account: string, query: Record<string, string>) {
  const { items, lengths } = await api.listAll<{ filingId: string }>(
    `/v1/accounts/${account}/filings`,
    query,
  );
  return { ids: items.map(({ filingId }) => filingId), pages: lengths.length };
}

async function fill(account: string, count: number, status: (i: number) => string): Promise<string[]> {
  await api.createAccount(account);
  const filings = Array.from({ length: count }, (_, i) => ({
    id: `f_${String(i).padStart(5, '0')}`,
    status: status(i),
  }));
  for (let i = 0; i < filings.length; i += 500) {
    await api.putFilings(account, filings.slice(i, i + 500));
  }
  return filings.map(({ id }) => id);
}

test('a filing is shown as last seen, with what people recognise it by', async () => {
  await api.createAccount('shown');
  await api.putFilings('shown', [{ id: 'f_1', status: 'REJECTED', type: 'filing.rejected' }]);
  const expected = {
    filingId: 'f_1',
    status: 'REJECTED',
    since: expect.any(String),
    completedAt: null,
    rejectionReason: null,
    sequence: 1,
    removed: false,
    policyNumber: 'P-f_1',
    insuredsName: 'Acme',
    stateAbbr: 'TX',
    filingType: 'NEW_BUSINESS',
    premium: 12.5,
    carriersName: 'Harbor',
    createdAt: '2026-01-02T03:04:05.000Z',
    policyEffectiveDate: '2026-01-01T00:00:00.000Z',
    sinceIsFirstRead: false,
    dueAt: null,
    seen: null,
    answeredBy: null,
    answers: null,
    told: [],
    assignee: null,
    note: null,
  };
  expect(await api.ok('GET', '/v1/accounts/shown/filings')).toEqual({ items: [expected], nextCursor: null });
  const one = await api.ok('GET', '/v1/accounts/shown/filings/f_1');
  const { items } = await api.ok('GET', '/v1/accounts/shown/events?filingId=f_1');
  expect(one).toEqual({ ...expected, userId: null, documents: null, events: items });
  expect(one['events']).toHaveLength(1);
});

test('a filing is shown with who filed it and its documents, by the newest event that has it', async () => {
  await api.createAccount('filed');
  const path = '/v1/accounts/filed/filings/f_1';
  const put = (userFiles: unknown, type = 'filing.rejected') =>
    api.putFilings('filed', [
      { id: 'f_1', status: 'REJECTED', type, document: { id: 'f_1', userId: 'user_42', userFiles } },
    ]);
  await put([{ name: 'Old' }], 'filing.created');
  await put([{ name: 'Affidavit' }, { name: '', fileName: 'policy.pdf' }, null, { name: 7 }]);
  await api.ok('PUT', `${path}/seen`, { by: 'Dana' });
  const filed = { userId: 'user_42', documents: ['Affidavit', 'policy.pdf'] };
  expect(await api.ok('GET', path)).toMatchObject(filed);
  await put('none');
  expect(await api.ok('GET', path)).toMatchObject({ userId: 'user_42', documents: null });
});

test('a completed filing is shown without details', async () => {
  await api.createAccount('done');
  await api.putFilings('done', [{ id: 'f_1', status: 'COMPLETED' }]);
  expect(await api.ok('GET', '/v1/accounts/done/filings/f_1')).toMatchObject({
    status: 'COMPLETED',
    policyNumber: null,
    premium: null,
    events: [],
  });
});

test('a removed filing is shown by its id and is in no list', async () => {
  await api.createAccount('removed');
  await api.putFilings('removed', [{ id: 'f_1', status: 'PAID' }]);
  await api.putFilings('removed', [{ id: 'f_1', status: 'PAID', removed: true, type: 'filing.removed' }]);
  expect(await api.ok('GET', '/v1/accounts/removed/filings/f_1')).toMatchObject({
    removed: true,
    status: 'PAID',
  });
  expect((await listAll('removed', {})).ids).toEqual([]);
  expect((await listAll('removed', { status: 'PAID' })).ids).toEqual([]);
});

test('a filing that was never seen is not there', async () => {
  await api.createAccount('unknown');
  const answer = await api.call('GET', '/v1/accounts/unknown/filings/f_9');
  expect([answer.status, answer.body['code']]).toEqual([404, 'filing_not_found']);
});

test.each([3, 100, 1500])('every one of %i filings is listed once, whatever the page size', async (count) => {
  const statuses = ['UNPAID', 'PENDING', 'COMPLETED'];
  const account = `many-${count}`;
  const ids = await fill(account, count, (i) => statuses[i % 3] ?? '');
  for (const limit of ['1', '7', '100'].slice(count > 1000 ? 1 : 0)) {
    const { ids: listed } = await listAll(account, { limit });
    expect(listed.toSorted()).toEqual(ids);
  }
  for (const [i, status] of statuses.entries()) {
    const { ids: listed } = await listAll(account, { limit: '10', status });
    expect(listed.toSorted()).toEqual(ids.filter((_, at) => at % 3 === i));
  }
});

test('completed filings that are rare among many are found in bounded steps', async () => {
  const ids = await fill('rare', 5000, (i) => (i === 4321 ? 'COMPLETED' : 'PAID'));
  const { ids: listed, pages } = await listAll('rare', { status: 'COMPLETED' });
  expect(listed).toEqual([ids[4321]]);
  expect(pages).toBeGreaterThan(1);
  expect(pages).toBeLessThan(10);
});

test('statuses are matched exactly, also unknown ones and those with a common beginning', async () => {
  await api.createAccount('words');
  await api.putFilings('words', [
    { id: 'a', status: 'ON' },
    { id: 'b', status: 'ON HOLD' },
    { id: 'c', status: 'ONWARD' },
    { id: 'd', status: 'été' },
  ]);
  const of = async (status: string) => (await listAll('words', { status })).ids;
  expect([await of('ON'), await of('ON HOLD'), await of('été'), await of('REJECTED')]).toEqual([
    ['a'],
    ['b'],
    ['d'],
    [],
  ]);
});

test('a cursor works with its own status only', async () => {
  await fill('bound', 4, (i) => (i % 2 === 0 ? 'PAID' : 'UNPAID'));
  const { nextCursor } = await api.ok('GET', '/v1/accounts/bound/filings?status=PAID&limit=1');
  const answer = await api.call(
    'GET',
    `/v1/accounts/bound/filings?status=UNPAID&cursor=${String(nextCursor)}`,
  );
  expect([answer.status, answer.body['code']]).toEqual([422, 'invalid_cursor']);
});

async function csv(account: string, query = '') {
  const response = await api.app.inject({
    url: `/v1/accounts/${account}/filings${query}`,
    headers: { authorization: `Bearer ${operatorToken}`, accept: 'text/csv' },
  });
  return { response, lines: response.body.split('\r\n') };
}

test('with Accept: text/csv the whole list of a status comes as a table', async () => {
  const ids = await fill('table', 230, (i) => (i % 2 === 0 ? 'REJECTED' : 'PAID'));
  const { response, lines } = await csv('table', '?status=REJECTED&limit=5');
  expect(response.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': 'attachment; filename="filings.csv"',
    vary: 'accept',
  });
  expect(lines[0]).toBe(
    'filingId,status,since,insuredsName,policyNumber,stateAbbr,filingType,premium,rejectionReason,completedAt,sequence,sinceIsFirstRead,carriersName,createdAt,policyEffectiveDate,dueAt',
  );
  expect(lines[1]).toMatch(
    /^f_00000,REJECTED,20[^,]+Z,Acme,P-f_00000,TX,NEW_BUSINESS,12\.5,,,0,true,Harbor,2026-01-02T03:04:05\.000Z,2026-01-01T00:00:00\.000Z,$/,
  );
  expect(lines.at(-1)).toBe('');
  const listed = lines.slice(1, -1).map((line) => line.slice(0, 'f_00000'.length));
  expect(listed).toEqual(ids.filter((_, i) => i % 2 === 0));
});

test('what the partner service wrote is no formula in a spreadsheet', async () => {
  await api.createAccount('formulas');
  await api.putFilings('formulas', [{ id: '=cmd|"/c calc"!A1', status: 'REJECTED' }]);
  const { lines } = await csv('formulas', '?status=REJECTED');
  expect(lines[1]).toMatch(/^"'=cmd\|""\/c calc""!A1",REJECTED,/);
});

test('an empty list is a header, and errors stay problem details', async () => {
  await api.createAccount('none');
  expect((await csv('none')).lines).toHaveLength(2);
  const { response } = await csv('nowhere');
  expect(response.statusCode).toBe(404);
  expect(response.headers['content-type']).toContain('application/problem+json');
});

test('with order=newest those come first that came into their status last, page by page', async () => {
  const ids = await fill('newest', 2_300, (i) => (i % 2 === 0 ? 'REJECTED' : 'PAID'));
  const rejected = ids.filter((_, i) => i % 2 === 0);
  const again = ['f_00010', 'f_02000', 'f_00000'];
  for (const id of again) {
    // One after the other, so that each has a time of its own.
    // oxlint-disable no-await-in-loop
    await api.putFilings('newest', [{ id, status: 'PENDING' }]);
    await expect.poll(() => Date.now()).toBeGreaterThan(Date.now());
    await api.putFilings('newest', [{ id, status: 'REJECTED' }]);
    // oxlint-enable no-await-in-loop
  }
  const path = '/v1/accounts/newest/filings';
  const { items } = await api.listAll<{ filingId: string; since: string }>(path, {
    status: 'REJECTED',
    order: 'newest',
    limit: '90',
  });
  expect(items.slice(0, 3).map(({ filingId }) => filingId)).toEqual(again.toReversed());
  expect(items.map(({ filingId }) => filingId).toSorted()).toEqual(rejected);
  expect(items.map(({ since }) => since)).toEqual(
    items
      .map(({ since }) => since)
      .toSorted()
      .toReversed(),
  );
});

test('the latest completions come first with their names, each once, as long as they are COMPLETED', async () => {
  const path = await api.createAccount('completions');
  const complete = (id: string, completedAt: string, type: string | null = 'filing.completed') =>
    api.putFilings('completions', [
      {
        id,
        status: 'COMPLETED',
        completedAt,
        document: { id, insuredsName: `Insured ${id}`, policyNumber: `SL ${id}`, premium: 12.5 },
        ...(type === null ? {} : { type }),
      },
    ]);
  await complete('of-baseline', '2026-01-01', null);
  await complete('a', '2026-02-01');
  await complete('again', '2026-02-02');
  await complete('reopened', '2026-02-03');
  await complete('born', '2026-02-04', 'filing.created');
  await complete('again', '2026-02-05');
  await api.putFilings('completions', [{ id: 'reopened', status: 'PENDING', type: 'filing.reopened' }]);
  await api.putFilings('completions', [{ id: 'open', status: 'PENDING', type: 'filing.created' }]);

  const query = { status: 'completed', order: 'newest', limit: '2' };
  const { items, lengths } = await api.listAll<Record<string, unknown>>(`${path}/filings`, query);
  expect(items.map(({ filingId, completedAt }) => [filingId, completedAt])).toEqual([
    ['again', '2026-02-05'],
    ['born', '2026-02-04'],
    ['a', '2026-02-01'],
  ]);
  expect(items[0]).toMatchObject({ insuredsName: 'Insured again', policyNumber: 'SL again', premium: 12.5 });
  expect(Math.max(...lengths)).toBeLessThanOrEqual(2);
  const { items: all } = await api.listAll<unknown>(`${path}/filings`, { status: 'COMPLETED' });
  expect(all).toHaveLength(4);
});

test('an order without a status lists all filings, and those that are COMPLETED last', async () => {
  const ids = await fill('ordered', 30, (i) => ['COMPLETED', 'REJECTED', 'ON_HOLD'][i % 3] ?? '');
  const path = '/v1/accounts/ordered/filings';
  for (const query of [
    { order: 'newest' },
    { order: 'oldest' },
    { order: 'due' },
    { status: 'completed,rejected,on_hold' },
  ]) {
    // oxlint-disable-next-line no-await-in-loop
    const { items } = await api.listAll<{ filingId: string; status: string }>(path, { ...query, limit: '7' });
    expect(items.map(({ filingId }) => filingId).toSorted()).toEqual(ids);
    expect(items.findIndex(({ status: each }) => each === 'COMPLETED')).toBe(20);
  }
});

test.each(['order=due&status=COMPLETED', 'order=oldest&status=COMPLETED'])('%s is refused', async (query) => {
  await api.createAccount('unordered');
  const { status: answered, body } = await api.call('GET', `/v1/accounts/unordered/filings?${query}`);
  expect(answered).toBe(422);
  expect(body).toMatchObject({ errors: [{ path: 'order' }] });
});
