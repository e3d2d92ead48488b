import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { noteFilings } from '../../../src/filings/note-filings.ts';
import { createApiFixture, type ApiFixture, type PutFiling } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;
let accounts = 0;
let account: string;
let path: string;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
});

beforeEach(async () => {
  account = `triage-${(accounts += 1)}`;
  path = await api.createAccount(account);
  api.calls.length = 0;
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

interface Noted {
  readonly type: string;
  readonly data: {
    readonly sequence: number;
    readonly note?: Readonly<Record<string, unknown>>;
  } & Readonly<Record<string, unknown>>;
}

const put = (...filings: readonly PutFiling[]) => api.putFilings(account, filings);
const reject = (...ids: readonly string[]) =>
  put(...ids.map((id) => ({ id, status: 'REJECTED', type: 'filing.rejected', rejectionReason: 'Form' })));
const shown = (id: string) => api.ok('GET', `${path}/filings/${id}`);
const eventsOf = async (id: string) => (await shown(id))['events'] as readonly Noted[];
const notesOf = async (id: string) =>
  (await eventsOf(id)).flatMap(({ data: { note } }) => (note === undefined ? [] : [note]));
const idsOf = async (url: string) =>
  ((await api.ok('GET', url))['items'] as { filingId: string }[]).map(({ filingId }) => filingId).toSorted();

test('each thing that is noted is one event of the filing, which wakes the deliverer, and stands beside it', async () => {
  await reject('f_1');
  const marked = await api.ok('PUT', `${path}/filings/f_1/seen`, { by: ' Dana ', note: 'called the broker' });
  await api.ok('POST', `${path}/filings/f_1/notes`, { by: 'Lee', text: 'the broker signs today' });
  await api.ok('PUT', `${path}/filings/f_1/assignee`, { by: 'Dana', assignee: 'Lee' });
  expect((await api.call('DELETE', `${path}/filings/f_1/seen?by=Dana`)).status).toBe(204);
  const events = await eventsOf('f_1');
  expect(events.map(({ type, data }) => [type, data.sequence, data.note])).toEqual([
    ['filing.rejected', 1, undefined],
    ['filing.noted', 2, { by: 'Dana', kind: 'seen', text: 'called the broker', assignee: null }],
    ['filing.noted', 3, { by: 'Lee', kind: 'note', text: 'the broker signs today', assignee: null }],
    ['filing.noted', 4, { by: 'Dana', kind: 'assigned', text: null, assignee: 'Lee' }],
    ['filing.noted', 5, { by: 'Dana', kind: 'undone', text: null, assignee: 'Lee' }],
  ]);
  expect(events[1]?.data).toMatchObject({
    status: 'REJECTED',
    previousStatus: 'REJECTED',
    rejectionReason: 'Form',
    changed: [],
    omitted: 'not_kept',
    details: { policyNumber: 'P-f_1', stateAbbr: 'TX' },
  });
  const at = expect.any(String);
  expect(marked).toMatchObject({
    seen: { by: 'Dana', note: 'called the broker', at },
    assignee: null,
    note: { by: 'Dana', text: 'called the broker', at },
  });
  expect(await shown('f_1')).toMatchObject({
    sequence: 5,
    seen: null,
    assignee: 'Lee',
    note: { by: 'Lee', text: 'the broker signs today', at },
  });
  expect(api.calls).toEqual(Array.from({ length: 4 }, () => ['wake', account]));
});

test('a request that names no person is by the holder of its token', async () => {
  await reject('f_1', 'f_2');
  const { token } = await api.ok('POST', `${path}/tokens`, { name: 'Kim', right: 'triage' });
  const asKim = { token: String(token) };
  const requests = [
    ['PUT', 'f_1/seen', undefined],
    ['PUT', 'seen', { ids: ['f_2'] }],
    ['POST', 'f_1/notes', { text: 'called' }],
    ['PUT', 'f_1/assignee', { assignee: 'Lee' }],
  ] as const;
  for (const [method, at, body] of requests)
    expect((await api.call(method, `${path}/filings/${at}`, body, asKim)).status).toBe(200);
  expect((await notesOf('f_1')).map(({ kind, by }) => [kind, by])).toEqual([
    ['seen', 'Kim'],
    ['note', 'Kim'],
    ['assigned', 'Kim'],
  ]);
  expect(await notesOf('f_2')).toMatchObject([{ kind: 'seen', by: 'Kim' }]);
  expect(await api.ok('POST', `${path}/filings/f_2/notes`, { text: 'ours' })).toMatchObject({
    note: { by: 'the operator' },
  });
});

test('what is so already is not noted again, so a request may be repeated', async () => {
  await reject('f_1');
  const requests = [
    ['PUT', 'seen', { by: 'Dana' }],
    ['POST', 'notes', { by: 'Dana', text: 'asked' }],
    ['PUT', 'assignee', { by: 'Dana', assignee: 'Lee' }],
  ] as const;
  for (const [method, name, body] of requests)
    for (let times = 0; times < 2; times += 1) await api.ok(method, `${path}/filings/f_1/${name}`, body);
  for (let times = 0; times < 2; times += 1) await api.ok('DELETE', `${path}/filings/f_1/seen`);
  expect((await notesOf('f_1')).map(({ kind }) => kind)).toEqual(['seen', 'note', 'assigned', 'undone']);
  expect(api.calls).toHaveLength(4);
});

test('a mark stands as long as status, since and reason do; notes and assignee outlast them', async () => {
  await reject('f_1');
  await api.ok('PUT', `${path}/filings/f_1/seen`, { by: 'Dana', note: 'asked' });
  await api.ok('PUT', `${path}/filings/f_1/assignee`, { by: 'Dana', assignee: 'Lee' });
  expect(await shown('f_1')).toMatchObject({ seen: { by: 'Dana' } });
  await reject('f_1');
  expect(await shown('f_1')).toMatchObject({ seen: null, assignee: 'Lee', note: { text: 'asked' } });
  await api.ok('PUT', `${path}/filings/f_1/seen`, { by: 'Lee' });
  await put({ id: 'f_1', status: 'COMPLETED', type: 'filing.completed' });
  expect(await shown('f_1')).toMatchObject({
    seen: null,
    assignee: 'Lee',
    note: { by: 'Dana', text: 'asked' },
  });
});

test('a rejection of the first read stays one whose beginning is not known', async () => {
  await put({ id: 'f_1', status: 'REJECTED' });
  expect(await shown('f_1')).toMatchObject({ sinceIsFirstRead: true });
  await api.ok('PUT', `${path}/filings/f_1/seen`, { by: 'Dana' });
  expect(await shown('f_1')).toMatchObject({ sequence: 1, sinceIsFirstRead: true, seen: { by: 'Dana' } });
});

test('only a filing that is REJECTED is marked as seen, and any known one gets notes', async () => {
  await put({ id: 'f_1', status: 'PENDING' }, { id: 'f_2', status: 'COMPLETED' });
  const refused = await api.call('PUT', `${path}/filings/f_1/seen`, { by: 'Dana' });
  expect([refused.status, refused.body['code']]).toEqual([409, 'filing_not_rejected']);
  for (const id of ['f_1', 'f_2'])
    expect(await api.ok('POST', `${path}/filings/${id}/notes`, { by: 'Dana', text: 'ours' })).toMatchObject({
      note: { by: 'Dana', text: 'ours' },
    });
  expect((await eventsOf('f_2'))[0]?.data).toMatchObject({ status: 'COMPLETED', details: null });
  for (const [method, name, body] of [
    ['PUT', 'seen', { by: 'Dana' }],
    ['DELETE', 'seen', undefined],
    ['POST', 'notes', { by: 'Dana', text: 'ours' }],
    ['PUT', 'assignee', { by: 'Dana', assignee: null }],
  ] as const) {
    const { status, body: problem } = await api.call(method, `${path}/filings/nosuch/${name}`, body);
    expect([status, problem['code']]).toEqual([404, 'filing_not_found']);
  }
});

test('many are marked at once, and those that cannot be are named', async () => {
  const ids = Array.from({ length: 300 }, (_, i) => `f_${i}`);
  await reject(...ids);
  await put({ id: 'f_paid', status: 'PAID' });
  const asked = [...ids, 'f_0', 'f_paid', 'nosuch'];
  const { marked, refused } = await api.ok('PUT', `${path}/filings/seen`, { ids: asked, by: 'Dana' });
  expect(marked).toEqual(ids);
  expect(refused).toEqual([
    { filingId: 'f_paid', code: 'filing_not_rejected', detail: expect.any(String) },
    { filingId: 'nosuch', code: 'filing_not_found', detail: expect.any(String) },
  ]);
  expect(await idsOf(`/v1/rejections?account=${account}&seen=false`)).toEqual([]);
  expect(await notesOf('f_299')).toEqual([{ by: 'Dana', kind: 'seen', text: null, assignee: null }]);
  expect(api.calls).toEqual([['wake', account]]);
  const many = { ids: Array.from({ length: 501 }, (_, i) => `f_${i}`), by: 'Dana' };
  expect((await api.call('PUT', `${path}/filings/seen`, many)).status).toBe(422);
});

test('the path of many has its own methods alone', async () => {
  expect((await api.call('GET', `${path}/filings/seen`)).headers['allow']).toBe('PUT');
});

describe('writers at the same time', () => {
  test('people', async () => {
    await reject('f_1');
    const names = Array.from({ length: 8 }, (_, i) => `Person ${i}`);
    await Promise.all(
      names.map((by) => api.ok('POST', `${path}/filings/f_1/notes`, { by, text: `from ${by}` })),
    );
    const events = await eventsOf('f_1');
    expect(events.map(({ data }) => data.sequence)).toEqual(events.map((_, i) => i + 1));
    expect(new Set((await notesOf('f_1')).map(({ by }) => by))).toEqual(new Set(names));
    const last = (await notesOf('f_1')).at(-1);
    expect(await shown('f_1')).toMatchObject({ note: { by: last?.['by'], text: last?.['text'] } });
  });

  test('a poll: what it finds is noted too, and the step is decided on that', async () => {
    await reject('f_1', 'f_2');
    let polled = false;
    const { snapshot } = api.deps;
    const deps = {
      ...api.deps,
      snapshot: {
        ...snapshot,
        // A poll commits between the read and the commit of the note.
        read: async (...args: Parameters<typeof snapshot.read>) => {
          const states = await snapshot.read(...args);
          if (!polled) {
            polled = true;
            await put({ id: 'f_1', status: 'PENDING', type: 'filing.pending' });
            await reject('f_2');
          }
          return states;
        },
      },
    };
    const results = await noteFilings(deps, account, ['f_1', 'f_2'], {
      kind: 'seen',
      by: 'Dana',
      text: null,
    });
    expect(Object.fromEntries(results)).toEqual({ f_1: 'not_rejected', f_2: 'noted' });
    const typesOf = async (id: string) => (await eventsOf(id)).map(({ type, data }) => [type, data.sequence]);
    expect(await typesOf('f_1')).toEqual([
      ['filing.rejected', 1],
      ['filing.pending', 2],
    ]);
    expect(await typesOf('f_2')).toEqual([
      ['filing.rejected', 1],
      ['filing.rejected', 2],
      ['filing.noted', 3],
    ]);
    expect(await shown('f_2')).toMatchObject({ seen: { by: 'Dana' } });
  });
});

test('lists are filtered by mark and person, and tables have them', async () => {
  await reject('f_1', 'f_2', 'f_3');
  await put({ id: 'f_4', status: 'PENDING' });
  await api.ok('PUT', `${path}/filings/f_1/assignee`, { by: 'Dana', assignee: 'Dana Reyes' });
  await api.ok('PUT', `${path}/filings/f_4/assignee`, { by: 'Dana', assignee: 'dana reyes' });
  await api.ok('PUT', `${path}/filings/f_2/seen`, { by: '=Dana', note: 'asked' });
  const board = (query: string) => idsOf(`/v1/rejections?account=${account}&${query}`);
  expect(await board('assignee=DANA%20REYES')).toEqual(['f_1']);
  expect(await board('assignee=none')).toEqual(['f_2', 'f_3']);
  expect(await board('assignee=none&seen=false')).toEqual(['f_3']);
  expect(await idsOf(`${path}/filings?assignee=Dana%20Reyes`)).toEqual(['f_1', 'f_4']);
  expect(await idsOf(`${path}/filings?assignee=Dana%20Reyes&status=PENDING`)).toEqual(['f_4']);
  expect(await idsOf(`${path}/filings?seen=true`)).toEqual(['f_2']);
  const completed = await api.call('GET', `${path}/filings?status=COMPLETED&seen=false`);
  expect([completed.status, completed.body['errors']]).toMatchObject([422, [{ path: 'seen' }]]);
  const { text } = await api.call('GET', `/v1/rejections?account=${account}`, undefined, {
    headers: { accept: 'text/csv' },
  });
  const lines = text.split('\r\n');
  expect(lines[0]).toMatch(/,seenBy,seenNote,seenAt,assignee,note,/);
  expect(lines.find((line) => line.includes(',f_1,'))).toMatch(/,,,,Dana Reyes,,/);
  expect(lines.find((line) => line.includes(',f_2,'))).toMatch(/,'=Dana,asked,[^,]+,,asked,/);
});

test('none is nobody, and no name', async () => {
  await reject('f_1');
  const { status, body } = await api.call('PUT', `${path}/filings/f_1/assignee`, {
    by: 'A',
    assignee: 'None ',
  });
  expect([status, body['errors']]).toMatchObject([422, [{ path: 'assignee' }]]);
});

test('where there is no room, finished filings make way, and then nothing more is noted', async () => {
  const finished = Array.from({ length: 4_000 }, (_, i) => `done_${i}`);
  await api.stored.of(account).addTriage(finished);
  await reject('f_1');
  await api.ok('PUT', `${path}/filings/f_1/seen`, { by: 'Dana' });
  const open = Array.from({ length: 4_000 }, (_, i) => `f_${i}`);
  await put(...open.map((id) => ({ id, status: 'PENDING' })));
  await api.stored.of(account).addTriage(open);
  await api.stored.of(account).dropTriage(finished);
  await put({ id: 'f_new', status: 'REJECTED' });
  const refused = await api.call('PUT', `${path}/filings/f_new/seen`, { by: 'Dana' });
  expect([refused.status, refused.body['code']]).toEqual([409, 'account_quota_exceeded']);
  // What has a record already may change.
  await api.ok('POST', `${path}/filings/f_1/notes`, { by: 'Dana', text: 'asked' });
});

test('an account that was removed has nothing noted', async () => {
  await reject('f_1');
  const { snapshot } = api.deps;
  const deps = {
    ...api.deps,
    snapshot: {
      ...snapshot,
      async read(...args: Parameters<typeof snapshot.read>) {
        const states = await snapshot.read(...args);
        await api.ok('DELETE', path);
        return states;
      },
    },
  };
  const results = await noteFilings(deps, account, ['f_1'], { kind: 'note', by: 'Dana', text: 'asked' });
  expect(Object.fromEntries(results)).toEqual({ f_1: 'unknown' });
});

test('the tokens of an account note so much in an hour, and the operator more', async () => {
  const limited = await createApiFixture(redis.connect(), redis.prefix, {
    limits: { notes: { max: 2, windowMs: 3_600_000 } },
  });
  await reject('f_1');
  const { token } = await limited.ok('POST', `${path}/tokens`, { name: 'clerk', right: 'triage' });
  const note = (text: string, as = {}) =>
    limited.call('POST', `${path}/filings/f_1/notes`, { by: 'Dana', text }, as);
  const statuses: number[] = [];
  // What changes nothing does not count.
  for (const text of ['1', '1', '2', '3']) statuses.push((await note(text, { token: String(token) })).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect((await note('4')).status).toBe(200);
  await limited.app.close();
});
