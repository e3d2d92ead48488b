import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { appendEvent, paidEvent } from '../../support/redis/append-script.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createApiFixture, type ApiFixture } from '../../support/api/api-fixture.ts';

interface Page {
  readonly items: { readonly id: string; readonly type: string; readonly data: Record<string, unknown> }[];
  readonly nextCursor: string | null;
  readonly resumeCursor: string;
}

const redis = testRedis();
const client = redis.connect();
let api: ApiFixture;

beforeAll(async () => {
  api = await createApiFixture(client, redis.prefix);
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

const read = async (account: string, query: Record<string, string> = {}) =>
  (await api.ok(
    'GET',
    `/v1/accounts/${account}/events?${new URLSearchParams(query).toString()}`,
  )) as unknown as Page;

const readAll = (account: string, query: Record<string, string>) =>
  api.listAll<Page['items'][number]>(`/v1/accounts/${account}/events`, query);

test('events are listed oldest first, as they were stored', async () => {
  await api.createAccount('stored');
  const body =
    '{"id":"evt_1","type":"filing.paid","timestamp":"2026-11-21T10:00:03.120Z","data":{"premium":1200.10,"n":12345678901234567890,"s":"\u202e</script>"}}';
  const event = { id: 'evt_1', type: 'filing.paid', filingId: 'f', state: 'TX', status: '', body };
  await appendEvent(client, api.keys.account('stored'), event, 1);
  const answer = await api.call('GET', '/v1/accounts/stored/events');
  expect(answer.text).toContain(body);
  expect(answer.body['nextCursor']).toBeNull();
});

test('an empty log is an empty list, and its cursor goes on from there', async () => {
  await api.createAccount('empty');
  const { items, nextCursor, resumeCursor } = await read('empty');
  expect([items, nextCursor]).toEqual([[], null]);
  await api.putFilings('empty', [{ id: 'f', status: 'PAID', type: 'filing.paid' }]);
  const later = await read('empty', { cursor: resumeCursor });
  expect(later.items.map(({ type }) => type)).toEqual(['filing.paid']);
  expect((await read('empty', { cursor: later.resumeCursor })).items).toEqual([]);
});

test('paging gives every event once, also when the last page is full', async () => {
  await api.createAccount('paged');
  const filings = Array.from({ length: 6 }, (_, i) => ({
    id: `f_${i}`,
    status: 'PAID',
    type: 'filing.paid',
  }));
  await api.putFilings('paged', filings);
  const { items, lengths } = await readAll('paged', { limit: '2' });
  expect(items.map(({ data }) => data['filingId'])).toEqual(filings.map(({ id }) => id));
  expect(lengths).toEqual([2, 2, 2]);
});

test('types and filingId leave out the rest, alone and together', async () => {
  await api.createAccount('filtered');
  await api.putFilings('filtered', [
    { id: 'a', status: 'PAID', type: 'filing.paid' },
    { id: 'b', status: 'PAID', type: 'filing.paid' },
  ]);
  await api.putFilings('filtered', [{ id: 'a', status: 'REJECTED', type: 'filing.rejected' }]);
  await appendEvent(
    client,
    api.keys.account('filtered'),
    {
      id: 'evt_op',
      type: 'account.stale',
      filingId: '',
      state: '',
      status: '',
      body: '{"type":"account.stale","timestamp":"2026-11-21T10:00:03.120Z","data":{}}',
    },
    1,
  );
  const types = async (query: Record<string, string>) =>
    (await readAll('filtered', { limit: '1', ...query })).items.map(({ type }) => type);
  expect(await types({ types: 'filing.rejected' })).toEqual(['filing.rejected']);
  expect(await types({ types: 'account.*, filing.rejected' })).toEqual(['filing.rejected', 'account.stale']);
  expect(await types({ filingId: 'a' })).toEqual(['filing.paid', 'filing.rejected']);
  expect(await types({ filingId: 'a', types: 'filing.rejected' })).toEqual(['filing.rejected']);
  expect(await types({ filingId: 'unknown' })).toEqual([]);
});

test('a filter that excludes thousands still reaches the end, a bounded step at a time', async () => {
  await api.createAccount('rare');
  const many = Array.from({ length: 4500 }, (_, i) => ({
    id: `f_${i}`,
    status: 'PAID',
    type: 'filing.paid',
  }));
  for (let i = 0; i < many.length; i += 500) {
    await api.putFilings('rare', many.slice(i, i + 500));
  }
  await api.putFilings('rare', [{ id: 'x', status: 'REJECTED', type: 'filing.rejected' }]);
  const { items, lengths } = await readAll('rare', { types: 'filing.rejected' });
  expect(items).toHaveLength(1);
  expect(lengths).toEqual([0, 0, 1]);
});

test('a cursor older than what is kept goes on with the oldest that is left', async () => {
  await api.createAccount('trimmed');
  await api.putFilings('trimmed', [{ id: 'a', status: 'PAID', type: 'filing.paid' }]);
  const { resumeCursor } = await read('trimmed', { limit: '1' });
  await api.putFilings('trimmed', [{ id: 'b', status: 'PAID', type: 'filing.paid' }]);
  await api.putFilings('trimmed', [{ id: 'c', status: 'PAID', type: 'filing.paid' }]);
  await api.stored.of('trimmed').dropEventsBelow(3);
  const { items } = await read('trimmed', { cursor: resumeCursor });
  expect(items.map(({ data }) => data['filingId'])).toEqual(['c']);
});

describe('newest first', () => {
  const steps = Array.from({ length: 5 }, (_, i) => ({
    id: `f_${i % 2}`,
    type: i === 3 ? 'filing.rejected' : 'filing.paid',
  }));
  const numbered = async (query: Record<string, string>) => {
    const { items, lengths } = await readAll('backwards', { order: 'newest', ...query });
    return {
      sequences: items.map(({ data }) => `${String(data['filingId'])} ${String(data['sequence'])}`),
      lengths,
    };
  };
  beforeAll(async () => {
    await api.createAccount('backwards');
    for (const step of steps) await api.putFilings('backwards', [{ ...step, status: 'PAID' }]);
  });

  test('paging gives every event once, from the latest to the oldest', async () => {
    expect(await numbered({ limit: '2' })).toEqual({
      sequences: ['f_0 3', 'f_1 2', 'f_0 2', 'f_1 1', 'f_0 1'],
      lengths: [2, 2, 1],
    });
  });

  test('types and filingId leave out the rest', async () => {
    expect((await numbered({ types: 'filing.rejected' })).sequences).toEqual(['f_1 2']);
    expect(await numbered({ filingId: 'f_0', limit: '2' })).toEqual({
      sequences: ['f_0 3', 'f_0 2', 'f_0 1'],
      lengths: [2, 1],
    });
  });

  test('the resume cursor stands behind the latest event, whatever page it comes with', async () => {
    const { nextCursor, resumeCursor } = await read('backwards', { order: 'newest', limit: '1' });
    expect((await read('backwards', { cursor: resumeCursor })).items).toEqual([]);
    const second = await read('backwards', { order: 'newest', limit: '1', cursor: nextCursor ?? '' });
    expect(second.resumeCursor).toBe(resumeCursor);
  });

  test('a cursor of one order is none of the other', async () => {
    const { nextCursor, resumeCursor } = await read('backwards', { order: 'newest', limit: '1' });
    for (const query of [`cursor=${nextCursor}`, `order=newest&cursor=${resumeCursor}`])
      expect((await api.call('GET', `/v1/accounts/backwards/events?${query}`)).body['code']).toBe(
        'invalid_cursor',
      );
  });

  test('an empty log is an empty list', async () => {
    await api.createAccount('empty-backwards');
    expect(await read('empty-backwards', { order: 'newest' })).toMatchObject({ items: [], nextCursor: null });
  });
});

describe('after Redis was set back', () => {
  // Not by way of the snapshot, which would make up for what was lost.
  async function put(account: string, ...ids: readonly string[]): Promise<void> {
    for (const id of ids) await appendEvent(client, api.keys.account(account), paidEvent(id), 1);
  }
  const filings = ({ items }: Page) => items.map(({ data }) => data['filingId']);

  test('a cursor goes on where the logs part, so that nothing is skipped', async () => {
    await api.createAccount('parted');
    await put('parted', 'a', 'b');
    const setBack = await api.stored.of('parted').remember();
    await put('parted', 'lost1', 'lost2');
    const { resumeCursor } = await read('parted');
    const { nextCursor } = await read('parted', { order: 'newest', limit: '1' });
    await setBack();
    await put('parted', 'c', 'd', 'e');
    expect(filings(await read('parted', { cursor: resumeCursor }))).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(filings(await read('parted', { cursor: resumeCursor, filingId: 'c' }))).toEqual(['c']);
    const newest = await read('parted', { order: 'newest', cursor: nextCursor ?? '' });
    expect(filings(newest)).toEqual([]);
  });

  test('one of an older version, which knows no timeline, is believed as long as the log goes so far', async () => {
    await api.createAccount('believed');
    await put('believed', 'a', 'b', 'c');
    const text = (position: string, sum: string) =>
      Buffer.from(JSON.stringify([1, position, sum])).toString('base64url');
    const sumOf = (position: string) =>
      createHash('sha256').update(`1 events ${position}`).digest('base64url').slice(0, 8);
    const old = (position: string) => text(position, sumOf(position));
    expect(filings(await read('believed', { cursor: old('2') }))).toEqual(['c']);
    expect(filings(await read('believed', { cursor: old('9') }))).toEqual(['a', 'b', 'c']);
  });
});

test('events between two times are found in either order, with types and of a filing', async () => {
  const path = await api.createAccount('times');
  const times: number[] = [];
  for (let i = 0; i < 40; i += 1) {
    const from = Date.now();
    // oxlint-disable no-await-in-loop
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(from + 1);
    const [status, type] = i % 2 === 0 ? ['PAID', 'filing.paid'] : ['PENDING', 'filing.pending'];
    await api.putFilings('times', [{ id: `f_${i % 3}`, status: status ?? '', type: type ?? '' }]);
    // oxlint-enable no-await-in-loop
    times.push((await api.deps.log.outlineBefore('times', i + 2, 1))[0]?.recordedAt ?? 0);
  }
  const wanted = (i: number) => i >= 10 && i < 30;
  const after = new Date(times[10] ?? 0).toISOString();
  const before = new Date(times[30] ?? 0).toISOString();
  const all = (await api.listAll<{ id: string; type: string; data: { filingId: string } }>(`${path}/events`))
    .items;
  const inTime = all.filter((_, i) => wanted(i));
  const list = async (query: Record<string, string>) =>
    (await api.listAll<{ id: string }>(`${path}/events`, { after, before, limit: '3', ...query })).items.map(
      ({ id }) => id,
    );
  const ids = inTime.map(({ id }) => id);
  expect(await list({})).toEqual(ids);
  expect(await list({ order: 'newest' })).toEqual(ids.toReversed());
  const paid = inTime.filter(({ type }) => type === 'filing.paid').map(({ id }) => id);
  expect(await list({ types: 'filing.paid' })).toEqual(paid);
  expect(await list({ types: 'filing.paid', order: 'newest' })).toEqual(paid.toReversed());
  const one = inTime.filter(({ data }) => data.filingId === 'f_1').map(({ id }) => id);
  expect(await list({ filingId: 'f_1' })).toEqual(one);
  expect(await list({ filingId: 'f_1', order: 'newest' })).toEqual(one.toReversed());
  expect(await list({ after: before, before: after })).toEqual([]);
  expect(await list({ before: '2020-01-01T00:00:00Z', after: '2019-01-01T00:00:00Z' })).toEqual([]);
});
