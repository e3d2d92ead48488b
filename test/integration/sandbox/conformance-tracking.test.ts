import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Filing } from '../../../src/sandbox/filings/filing.ts';
import { filingStatuses } from '../../../src/sandbox/filings/filing.ts';
import type { ListBody } from '../../../src/sandbox/lists/list-page.ts';
import { secondKey, startSandbox } from './sandbox-client.ts';
import type { TestSandbox } from './sandbox-client.ts';

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
  await sandbox.control('POST', '/seed', { count: 250 });
  await sandbox.control('POST', '/seed', { count: 30, owner: 'second' });
});
afterAll(async () => sandbox[Symbol.asyncDispose]());

const list = async (query = '', key?: string) =>
  sandbox.call<ListBody>('GET', `/filings${query}`, key === undefined ? {} : { key });
const ids = ({ body }: { body: ListBody }): string[] => body.items.map(({ id }) => id);

describe('GET /partner/{id}', () => {
  it.each(filingStatuses)('returns the filing with its current status %s', async (status) => {
    const { id } = await sandbox.createFiling();
    await sandbox.control('PUT', `/filings/${id}`, { status });
    expect((await sandbox.call<Filing>('GET', `/${id}`)).body).toMatchObject({ id, status });
  });

  it('completedAt is set when and only when the status is COMPLETED', async () => {
    const { id } = await sandbox.createFiling();
    const completedAts = [];
    for (const status of filingStatuses) {
      // oxlint-disable-next-line no-await-in-loop -- one status after the other is the case
      const { body } = await sandbox.control<Filing>('PUT', `/filings/${id}`, { status });
      completedAts.push(body.completedAt);
    }
    expect(completedAts).toEqual([null, null, null, expect.stringMatching(/^\d{4}-.*Z$/), null]);
  });

  it('rejectionReason explains a REJECTED status', async () => {
    const { id } = await sandbox.createFiling();
    await sandbox.control('PUT', `/filings/${id}`, { status: 'REJECTED', rejectionReason: 'Not signed' });
    const { body } = await sandbox.call<Filing>('GET', `/${id}`);
    expect(body).toMatchObject({ status: 'REJECTED', rejectionReason: 'Not signed' });
  });

  it('statuses do not follow a fixed order', async () => {
    const { id } = await sandbox.createFiling();
    await sandbox.control('PUT', `/filings/${id}`, { status: 'REJECTED' });
    await sandbox.control('PUT', `/filings/${id}`, { status: 'UNPAID' });
    expect((await sandbox.call<Filing>('GET', `/${id}`)).body).toMatchObject({
      status: 'UNPAID',
      rejectionReason: null,
    });
  });

  it('a foreign filing looks like an unknown one', async () => {
    const { id } = await sandbox.createFiling();
    const foreign = await sandbox.call('GET', `/${id}`, { key: secondKey });
    const unknown = await sandbox.call('GET', '/f_none');
    expect(foreign).toMatchObject({ status: 404, body: { code: 'FILING_NOT_FOUND' } });
    expect(unknown).toMatchObject({ status: 404, body: { code: 'FILING_NOT_FOUND' } });
  });
});

describe('GET /partner/filings', () => {
  it('answers items, total, offset and limit, by default the first 20', async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['items', 'total', 'offset', 'limit']);
    expect(body).toMatchObject({ offset: 0, limit: 20 });
    expect(body.items).toHaveLength(20);
  });

  it('an element of items is the filing as GET /partner/{id} returns it', async () => {
    const [first] = (await list('?limit=1')).body.items;
    expect((await sandbox.call<Filing>('GET', `/${first?.id}`)).body).toEqual(first);
  });

  it('increasing offset by limit until offset + limit >= total reads each filing once, newest first', async () => {
    const read: Filing[] = [];
    let offset = 0;
    let total = Infinity;
    while (offset < total) {
      // oxlint-disable-next-line no-await-in-loop -- pages are read one after the other
      const { body } = await list(`?offset=${offset}&limit=100`);
      read.push(...body.items);
      total = Number(body.total);
      offset += body.limit;
    }
    expect(new Set(read.map(({ id }) => id)).size).toBe(total);
    const created = read.map(({ createdAt }) => createdAt);
    expect(created).toEqual(created.toSorted().toReversed());
  });

  it('offset skips filings before the page', async () => {
    const [whole, rest] = await Promise.all([list('?limit=10'), list('?offset=4&limit=6')]);
    expect(ids(rest)).toEqual(ids(whole).slice(4));
  });

  it('an offset beyond the end gives an empty page', async () => {
    const { status, body } = await list('?offset=100000');
    expect(status).toBe(200);
    expect(body).toMatchObject({ items: [], offset: 100_000 });
  });

  it.each(filingStatuses)('status=%s gives only filings in that status', async (status) => {
    const { body } = await list(`?status=${status}&limit=100`);
    expect(new Set(body.items.map((filing) => filing.status))).toEqual(new Set([status]));
  });

  it('the totals of the statuses add up to the total', async () => {
    const totals = await Promise.all(filingStatuses.map(async (status) => list(`?status=${status}&limit=1`)));
    const sum = totals.reduce((left, { body }) => left + Number(body.total), 0);
    expect(sum).toBe((await list()).body.total);
  });

  it.each([
    ['policyNumber', 'sl-tx-needle'],
    ['insuredsName', 'NEEDLE & söns'],
    ['carriersName', 'needle mutual'],
  ])('q finds text in %s, whatever the case', async (field, text) => {
    await sandbox.control('PUT', `/filings/q_${field}`, { status: 'PAID', [field]: `The ${text} of ours` });
    const found = await list(`?q=${encodeURIComponent(text.toUpperCase())}`);
    expect(ids(found)).toEqual([`q_${field}`]);
    expect(found.body.total).toBe(1);
  });

  it('q and status narrow the list together', async () => {
    await sandbox.control('PUT', '/filings/q_both', { status: 'PAID', policyNumber: 'both-of-them' });
    expect(ids(await list('?q=both-of&status=PAID'))).toEqual(['q_both']);
    expect(ids(await list('?q=both-of&status=UNPAID'))).toEqual([]);
  });

  it.each(['', '%20'])('an empty q (%j) leaves the list as it is', async (q) => {
    const [searched, whole] = await Promise.all([list(`?limit=100&q=${q}`), list('?limit=100')]);
    expect(searched.body).toEqual(whole.body);
  });

  it('only the caller’s own filings are listed', async () => {
    const own = await list('?limit=100', secondKey);
    expect(own.body.total).toBe(30);
    expect(new Set(own.body.items.map(({ userId }) => userId))).toEqual(new Set(['second']));
  });

  it.each(['?limit=1', '?limit=100', '?offset=0', '?unknown=1', '?q='])('%s is accepted', async (query) => {
    expect((await list(query)).status).toBe(200);
  });

  it.each([
    ['limit', '?limit=0'],
    ['limit', '?limit=101'],
    ['limit', '?limit=-1'],
    ['limit', '?limit=2.5'],
    ['limit', '?limit='],
    ['limit', '?limit=1e1'],
    ['limit', '?limit=5&limit=6'],
    ['offset', '?offset=-1'],
    ['offset', '?offset=x'],
    ['status', '?status=paid'],
    ['status', '?status='],
    ['q', '?q=a&q=b'],
  ])('a wrong %s is refused: %s', async (field, query) => {
    expect(await sandbox.call('GET', `/filings${query}`)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST', details: [{ field }] },
    });
  });
});
