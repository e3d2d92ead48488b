import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
  type PartnerRequest,
} from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount, type SeenEvent, type WatchOptions } from '../../support/partner/watched-account.ts';

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

const watch = (options: WatchOptions = {}) =>
  watchAccount(client, `${redis.prefix}${tests}`, partner, { retries: false, largeFrom: 1, ...options });
const rows = (count: number, status: string) =>
  Array.from({ length: count }, (_, i) => partnerRow(`${status}${i}`, status));
const brief = (events: readonly SeenEvent[]) =>
  events.map(({ filingId, type }) => `${filingId} ${type}`).toSorted();

const endsBehind = (window: number) => (request: PartnerRequest) => request.offset + request.limit > window;
const beginsBehind = (window: number) => (request: PartnerRequest) => request.offset >= window;

function refuse(isBeyond: (request: PartnerRequest) => boolean, status = 400): void {
  partner.misbehave = (request) =>
    request.endpoint === 'filings' && isBeyond(request) ? { status } : undefined;
}

const refusals: [string, (request: PartnerRequest) => boolean, number][] = [
  ['400 where a page would end behind 300', endsBehind(300), 400],
  ['422 where a page would end behind 250', endsBehind(250), 422],
  ['416 from offset 300 on', beginsBehind(300), 416],
  ['404 from offset 250 on', beginsBehind(250), 404],
  ['500 where a page would end behind 300', endsBehind(300), 500],
  ['500 from offset 250 on', beginsBehind(250), 500],
];

describe.each(refusals)('a service that answers %s', (_title, isBeyond, status) => {
  it('is read by the lists of each status while these are whole, and nothing is missing', async () => {
    partner.rows = [...rows(230, 'COMPLETED'), ...rows(120, 'PENDING'), ...rows(90, 'REJECTED')];
    refuse(isBeyond, status);
    const watched = await watch();
    expect((await watched.poll()).kind).toBe('complete');
    expect(await watched.snapshot.known('acme')).toBe(440);
    expect(await watched.polling.read('acme')).toMatchObject({ baselined: true, hidden: 0, lastError: '' });
    partner.put('PENDING119', { status: 'COMPLETED' });
    partner.put('REJECTED80', { rejectionReason: 'late' });
    partner.put('born', { status: 'COMPLETED' });
    for (let polls = 0; polls < 3; polls += 1) await watched.poll();
    expect((await watched.poll('sweep')).kind).toBe('complete');
    expect(brief(await watched.events())).toEqual([
      'PENDING119 filing.completed',
      'REJECTED80 filing.rejected',
      'born filing.created',
    ]);
    expect(await watched.polling.read('acme')).toMatchObject({ lastError: '', consecutiveFailures: 0 });
  });

  it('is watched as far as it goes where the list of COMPLETED is cut, and its account says so', async () => {
    partner.rows = [
      ...rows(900, 'COMPLETED'),
      ...rows(120, 'PENDING'),
      ...rows(30, 'UNPAID'),
      ...rows(90, 'REJECTED'),
    ];
    refuse(isBeyond, status);
    const watched = await watch();
    expect((await watched.poll()).kind).toBe('complete');
    const cut = isBeyond === refusals[0]?.[1] ? '300' : '';
    const saysSo = async () =>
      expect((await watched.polling.read('acme')).lastError).toMatch(
        new RegExp(
          `GET filings answered ${status}.*; nothing is shown from offset ${cut}\\d* of the list of COMPLETED on: filings`,
        ),
      );
    await saysSo();
    expect(await watched.polling.read('acme')).toMatchObject({ baselined: true });
    partner.put('PENDING3', { status: 'COMPLETED' });
    partner.put('UNPAID3', { status: 'REJECTED', rejectionReason: 'late' });
    // One that no list has shown yet.
    partner.put('COMPLETED800', { status: 'PENDING' });
    partner.put('born', { status: 'PAID', createdAt: new Date().toISOString() });
    for (let polls = 0; polls < 2; polls += 1) expect((await watched.poll()).kind).toBe('complete');
    await saysSo();
    partner.put('COMPLETED800', { status: 'REJECTED', rejectionReason: 'late' });
    partner.put('REJECTED80', { rejectionReason: 'later' });
    expect((await watched.poll('sweep')).kind).toBe('complete');
    expect(brief(await watched.events())).toEqual([
      'COMPLETED800 filing.rejected',
      'PENDING3 filing.completed',
      'REJECTED80 filing.rejected',
      'UNPAID3 filing.rejected',
      'born filing.created',
    ]);
    await saysSo();
    partner.misbehave = () => undefined;
    await watched.poll('sweep');
    expect(await watched.polling.read('acme')).toMatchObject({ lastError: '', leftOut: '' });
    expect(await watched.snapshot.known('acme')).toBe(1_141);
    expect(await watched.events()).toHaveLength(5);
  });
});

it('a list of PENDING that is cut is followed as far as it goes, and its known filings one by one', async () => {
  partner.rows = [...rows(250, 'PENDING'), ...rows(40, 'COMPLETED')];
  const watched = await watch();
  await watched.poll();
  refuse(endsBehind(200));
  partner.put('PENDING5', { status: 'PAID' });
  partner.put('PENDING245', { status: 'COMPLETED' });
  expect((await watched.poll()).kind).toBe('complete');
  expect(brief(await watched.events())).toEqual(['PENDING245 filing.completed', 'PENDING5 filing.paid']);
  expect((await watched.polling.read('acme')).lastError).toContain(
    'from offset 200 of the list of PENDING on',
  );
});

it('a total that is never higher than the window hides nothing that the lists by status show', async () => {
  partner.rows = [...rows(280, 'COMPLETED'), ...rows(290, 'PENDING'), ...rows(400, 'REJECTED')];
  partner.misbehave = ({ endpoint, offset, limit }) =>
    endpoint !== 'filings'
      ? undefined
      : offset + limit > 300
        ? { status: 400 }
        : { edit: (page) => ({ ...page, total: Math.min(300, Number(page.total)) }) };
  const watched = await watch();
  await watched.poll();
  expect(await watched.snapshot.known('acme')).toBe(280 + 290 + 300);
  expect(await watched.polling.read('acme')).toMatchObject({ baselined: true });
  partner.put('PENDING289', { status: 'COMPLETED' });
  partner.put('REJECTED299', { rejectionReason: 'late' });
  for (const mode of ['delta', 'sweep', 'delta'] as const)
    expect((await watched.poll(mode)).kind).toBe('complete');
  expect(brief(await watched.events())).toEqual([
    'PENDING289 filing.completed',
    'REJECTED299 filing.rejected',
  ]);
});

it('a list that becomes shorter while it is read ends there, with a refusal or without', async () => {
  partner.rows = rows(310, 'COMPLETED');
  const watched = await watch({ largeFrom: 1_000 });
  await watched.poll();
  partner.misbehave = ({ endpoint, status, offset, limit }) => {
    if (endpoint !== 'filings' || status !== null) return undefined;
    if (offset === 300 && limit === 100) partner.rows = partner.rows.slice(0, 295);
    return offset > 0 && offset >= partner.rows.length ? { status: 404 } : undefined;
  };
  partner.put('COMPLETED7', { status: 'REJECTED' });
  expect((await watched.poll('sweep')).kind).toBe('complete');
  expect(brief(await watched.events())).toEqual(['COMPLETED7 filing.rejected']);
  expect((await watched.polling.read('acme')).lastError).toBe('');
});

it('a cut takes a handful of requests', async () => {
  partner.rows = [...rows(900, 'COMPLETED'), ...rows(10, 'PENDING')];
  refuse(endsBehind(300));
  const watched = await watch();
  await watched.poll();
  const before = partner.requests.length;
  await watched.poll('sweep');
  const lists = partner.requests.slice(before).filter(({ endpoint }) => endpoint === 'filings');
  // Three pages twice, and one for each other status.
  expect(lists.length).toBeLessThan(3 + 3 + 4 + 14);
});
