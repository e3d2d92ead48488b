import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ListFaults } from '../../../src/sandbox/faults/faults-schema.ts';
import type { ListBody } from '../../../src/sandbox/lists/list-page.ts';
import { createRandom } from '../../../src/sandbox/random.ts';
import { startSandbox } from './sandbox-client.ts';
import type { TestSandbox } from './sandbox-client.ts';

let sandbox: TestSandbox;

beforeEach(async () => {
  sandbox = await startSandbox({ random: createRandom(1) });
  await sandbox.control('POST', '/seed', { count: 250, seed: 1 });
});
afterEach(async () => sandbox[Symbol.asyncDispose]());

const list = async (query = '') => sandbox.call<ListBody>('GET', `/filings${query}`);
const listFaults = async (faults: ListFaults): Promise<void> => {
  expect((await sandbox.control('PUT', '/faults', { list: faults })).status).toBe(200);
};
const ids = async (query: string): Promise<string[]> => (await list(query)).body.items.map(({ id }) => id);

describe('Faults of the list', () => {
  it('clamps the limit', async () => {
    await listFaults({ limitMax: 20 });
    const { body } = await list('?limit=100');
    expect(body).toMatchObject({ limit: 20, total: 250 });
    expect(body.items).toHaveLength(20);
  });

  it('ignores the limit', async () => {
    await listFaults({ ignoreLimit: true });
    expect((await list('?limit=10')).body.items).toHaveLength(250);
    expect((await list('?limit=10&offset=200')).body.items).toHaveLength(50);
    await listFaults({ ignoreLimit: true, limitMax: 20 });
    expect((await list('?limit=10')).body.items).toHaveLength(20);
  });

  it('pads the filings of a page', async () => {
    await listFaults({ padBytes: 5_000 });
    const { items } = (await list('?limit=3')).body as { items: readonly object[] };
    expect(items.map((item) => (item as { padding?: string }).padding?.length)).toEqual([
      5_000, 5_000, 5_000,
    ]);
  });

  it('shuffles within the page', async () => {
    const straight = await ids('?limit=50');
    await listFaults({ shuffle: 'page' });
    const mixed = await ids('?limit=50');
    expect(mixed).not.toEqual(straight);
    expect(mixed.toSorted()).toEqual(straight.toSorted());
  });

  it('shuffles the whole list anew for every request', async () => {
    const straight = await ids('?limit=50');
    await listFaults({ shuffle: 'list' });
    const mixed = await ids('?limit=50');
    expect(mixed.toSorted()).not.toEqual(straight.toSorted());
    expect(new Set(mixed).size).toBe(50);
    expect(await ids('?offset=240&limit=50')).toHaveLength(10);
  });

  it.each([
    ['null' as const, null],
    ['string' as const, '250'],
    [{ add: 7 }, 257],
    [{ add: -100 }, 150],
  ])('total %o', async (total, expected) => {
    await listFaults({ total });
    expect((await list()).body.total).toBe(expected);
  });

  it('total missing', async () => {
    await listFaults({ total: 'missing' });
    expect((await list()).body).not.toHaveProperty('total');
  });

  it('the same page for ever', async () => {
    await listFaults({ ignoreOffset: true });
    expect(await ids('?offset=100')).toEqual(await ids('?offset=0'));
  });

  it('an empty page too early', async () => {
    await listFaults({ emptyFrom: 100 });
    expect(await ids('?offset=99')).toHaveLength(20);
    expect((await list('?offset=100')).body).toMatchObject({ items: [], total: 250 });
  });
});
