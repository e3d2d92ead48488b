import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
  type PartnerRequest,
} from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount } from '../../support/partner/watched-account.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

let partner: HostilePartner;
let tests = 0;
beforeEach(async () => {
  tests += 1;
  partner = await startHostilePartner();
});
afterEach(() => partner[Symbol.asyncDispose]());

const statuses = ['UNPAID', 'PAID', 'PENDING', 'COMPLETED', 'REJECTED'];
const mixed = (count: number) =>
  Array.from({ length: count }, (_, i) => partnerRow(`f${i}`, statuses[i % statuses.length]));
const watch = (largeFrom: number) =>
  watchAccount(client, `${redis.prefix}${tests}`, partner, { retries: false, largeFrom });
const rowsOf = ({ status }: PartnerRequest) =>
  partner.rows.filter((row) => status === null || row.status === status).length;
const isBehind = (request: PartnerRequest) => request.offset > 0 && request.offset >= rowsOf(request);
const created = async (watched: Awaited<ReturnType<typeof watch>>) =>
  (await watched.events()).map(({ filingId, type }) => `${filingId} ${type}`);

describe.each([
  ['delta', 1],
  ['full reads', 1_000],
])('polled by %s', (_name, largeFrom) => {
  it.each([0, 3, 100, 200, 250, 500])(
    'a list of %i is asked for nothing at or behind its total, in the baseline and after',
    async (count) => {
      partner.rows = mixed(count);
      const watched = await watch(largeFrom);
      expect((await watched.poll()).kind).toBe('complete');
      expect(await watched.polling.read('acme')).toMatchObject({ baselined: true, lastError: '' });
      for (const mode of ['delta', 'sweep'] as const)
        expect(await watched.poll(mode)).toMatchObject({ kind: 'complete', events: 0 });
      for (const row of partner.rows.slice(0, 60))
        partner.put(String(row.id), { status: 'REJECTED', rejectionReason: 'unsigned' });
      partner.put('born', { status: 'COMPLETED' });
      for (const mode of ['delta', 'sweep'] as const) await watched.poll(mode);
      expect(await created(watched)).toContain('born filing.created');
      expect(partner.requests.filter(({ endpoint }) => endpoint === 'filings').filter(isBehind)).toEqual([]);
    },
  );

  it.each([
    [20, false],
    [50, true],
  ])('so is one whose pages are cut to %i, untold: %s', async (clamp, silentClamp) => {
    partner.rows = mixed(200);
    Object.assign(partner, { clamp, silentClamp });
    const watched = await watch(largeFrom);
    await watched.poll();
    await watched.poll('sweep');
    expect(await watched.snapshot.known('acme')).toBe(200);
    expect(partner.requests.filter(isBehind)).toEqual([]);
  });

  it.each([400, 404, 416])(
    'a list without a total ends where the service answers %i behind a short page',
    async (status) => {
      partner.rows = mixed(130);
      partner.misbehave = (request) =>
        request.endpoint !== 'filings'
          ? undefined
          : isBehind(request)
            ? { status }
            : { edit: ({ items }) => ({ items }) };
      const watched = await watch(largeFrom);
      for (let polls = 0; polls < 4; polls += 1) expect((await watched.poll()).kind).toBe('complete');
      partner.put('born', { status: 'PAID' });
      await watched.poll();
      expect(await created(watched)).toEqual(['born filing.created']);
    },
  );

  it('a list whose total is too low ends where the service refuses to go on', async () => {
    partner.rows = mixed(330);
    partner.misbehave = (request) =>
      request.status !== null
        ? undefined
        : isBehind(request)
          ? { status: 404 }
          : { edit: (page) => ({ ...page, total: 110 }) };
    const watched = await watch(largeFrom);
    for (let polls = 0; polls < 4; polls += 1) expect((await watched.poll()).kind).toBe('complete');
    expect(await watched.snapshot.known('acme')).toBe(330);
    expect(await watched.polling.read('acme')).toMatchObject({ baselined: true });
  });

  it('a list that ends at a total too low is noticed by the ids known, which are asked for', async () => {
    partner.rows = mixed(100);
    const watched = await watch(largeFrom);
    await watched.poll();
    partner.put('f90', { status: 'PAID' });
    partner.misbehave = ({ endpoint, status }) =>
      endpoint === 'filings' && status === null
        ? { edit: (page) => ({ ...page, items: (page.items as unknown[]).slice(0, 20), total: 20 }) }
        : undefined;
    await watched.poll('sweep');
    expect(await created(watched)).toEqual(['f90 filing.paid']);
    partner.misbehave = () => undefined;
    expect(await watched.poll('sweep')).toMatchObject({ kind: 'complete', events: 0 });
    expect(await watched.snapshot.known('acme')).toBe(100);
  });

  it.each([
    ['that of the page', (shown: number) => shown],
    ['one that ends with a page', () => 200],
    ['one that ends within the first page', () => 20],
  ])('a baseline whose total is %s finds the rest on the lists by status', async (_title, totalOf) => {
    partner.rows = mixed(330);
    partner.misbehave = ({ endpoint, status }) =>
      endpoint === 'filings' && status === null
        ? {
            edit: (page) => {
              const items = page.items as unknown[];
              const total = totalOf(items.length);
              return { ...page, items: items.slice(0, total), total };
            },
          }
        : undefined;
    const watched = await watch(largeFrom);
    await watched.poll();
    expect(await watched.snapshot.known('acme')).toBe(330);
    expect(await watched.polling.read('acme')).toMatchObject({ baselined: true });
    partner.misbehave = () => undefined;
    for (const mode of ['delta', 'sweep'] as const) await watched.poll(mode);
    expect(await watched.events()).toEqual([]);
  });

  it('a filing behind a total that lags is announced once the total has moved', async () => {
    partner.rows = mixed(200);
    const watched = await watch(largeFrom);
    await watched.poll();
    partner.rows = [...partner.rows, partnerRow('born', 'COMPLETED')];
    partner.misbehave = ({ status }) =>
      status === null ? { edit: (page) => ({ ...page, total: 200 }) } : undefined;
    await watched.poll('sweep');
    partner.misbehave = () => undefined;
    await watched.poll();
    expect(await created(watched)).toEqual(['born filing.created']);
  });
});
