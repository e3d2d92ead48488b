import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
  type Misbehaviour,
  type PartnerRequest,
} from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount, type WatchOptions } from '../../support/partner/watched-account.ts';

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
const watch = (options: WatchOptions = {}) =>
  watchAccount(client, `${redis.prefix}${tests}`, partner, { retries: false, largeFrom: 1_000, ...options });

const unavailable: Misbehaviour = { status: 500, body: '{}' };

/** Whatever would show one of these filings is answered so, on lists of any limit and alone. */
function spoil(ids: readonly string[], odd: Misbehaviour = unavailable): void {
  partner.misbehave = (request) => {
    const shown = request.endpoint === 'filing' ? [request.id] : pageOf(request);
    return shown.some((id) => ids.includes(id)) ? odd : undefined;
  };
}

function pageOf({ endpoint, status, offset, limit }: PartnerRequest): string[] {
  if (endpoint !== 'filings') return [];
  const rows = partner.rows.filter((row) => status === null || row.status === status);
  return rows.slice(offset, offset + Math.min(limit, partner.clamp)).map(({ id }) => String(id));
}

const ids = (...numbers: number[]) => numbers.map((number) => `f${number}`);

describe.each<[string, string[], number]>([
  ['the first of a page', ids(0), 60],
  ['one of a page', ids(3), 60],
  ['the last of a page', ids(59), 60],
  ['the only one of the last page', ids(200), 201],
  ['the only one', ids(0), 1],
  ['all there are', ids(0, 1, 2), 3],
  ['two side by side on two pages', ids(99, 100), 250],
  ['a dozen side by side', ids(...Array.from({ length: 12 }, (_, i) => 120 + i)), 250],
  ['every tenth of a page', ids(...Array.from({ length: 10 }, (_, i) => i * 10)), 100],
  ['some on each page', ids(0, 50, 51, 133, 199, 249), 250],
])('filings that no page can show, %s', (_title, spoilt, count) => {
  it('keep nothing of the others back, in a new account', async () => {
    partner.rows = mixed(count);
    spoil(spoilt);
    const watched = await watch();
    expect((await watched.poll()).kind).toBe('complete');
    expect(await watched.snapshot.known('acme')).toBe(count - spoilt.length);
    const marks = await watched.polling.read('acme');
    expect(marks.baselined).toBe(true);
    const offsets = spoilt.slice(0, 5).map((id) => id.slice(1));
    expect(marks.lastError).toContain(
      `unavailable: GET filings answered 500; ${spoilt.length} record${spoilt.length === 1 ? '' : 's'} left out, at offset ${offsets.join(', ')}`,
    );
    expect(watched.quarantined[0]).toBe(spoilt.length);
    partner.put('born', { status: 'PAID' });
    await watched.poll();
    partner.misbehave = () => undefined;
    for (let polls = 0; polls < 2; polls += 1) expect((await watched.poll()).kind).toBe('complete');
    // They were there before the baseline.
    expect((await watched.events()).map(({ filingId, type }) => `${filingId} ${type}`)).toEqual([
      'born filing.created',
    ]);
    expect(await watched.polling.read('acme')).toMatchObject({ lastError: '', leftOut: '' });
  });

  it.each([
    ['full reads', 1_000],
    ['delta', 1],
  ])('keep nothing of the others back, polled by %s', async (_how, largeFrom) => {
    partner.rows = mixed(count);
    const watched = await watch({ largeFrom });
    await watched.poll();
    spoil(spoilt);
    const others = partner.rows.map(({ id }) => String(id)).filter((id) => !spoilt.includes(id));
    const changed = others.filter((_, i) => i % 7 === 2);
    for (const id of changed) partner.put(id, { status: 'ON_HOLD' });
    for (let polls = 0; polls < 3; polls += 1)
      for (const mode of ['delta', 'sweep'] as const)
        expect((await watched.poll(mode)).kind).toBe('complete');
    const events = await watched.events();
    expect(events.map(({ filingId }) => filingId).toSorted()).toEqual(changed.toSorted());
    expect((await watched.polling.read('acme')).lastError).toContain('left out');
  });
});

describe.each<[string, Misbehaviour, string]>([
  ['answers 503', { status: 503 }, 'unavailable: GET filings answered 503'],
  ['answers 422', { status: 422 }, 'unexpected_status: GET filings answered 422'],
  [
    'writes NaN',
    { replace: ['1200.5', 'NaN'] },
    'invalid_response: GET filings answered with a body that is not JSON',
  ],
  ['cuts its JSON', { body: '{"items":[{"id":"a"' }, 'invalid_response'],
  ['breaks off', { cutAfter: 40 }, 'network'],
  ['answers with HTML', { body: '<html>' }, 'invalid_response'],
  ['hangs up', { destroy: true }, 'network'],
  ['does not end', { after: new Promise(() => undefined) }, 'timeout'],
])('a service that %s where it should show one filing', (_title, odd, error) => {
  it('has all others read, and the offset of that one named', async () => {
    partner.rows = mixed(130);
    spoil(ids(7), odd);
    const watched = await watch({ timeoutMs: 300 });
    expect((await watched.poll()).kind).toBe('complete');
    const { lastError, baselined } = await watched.polling.read('acme');
    expect({ baselined, known: await watched.snapshot.known('acme') }).toEqual({
      baselined: true,
      known: 129,
    });
    expect(lastError.startsWith(error), lastError).toBe(true);
    expect(lastError).toContain('at offset 7 of the list of all filings');
  });
});

describe('what it costs', () => {
  const requestsOf = async (work: () => Promise<unknown>) => {
    const before = partner.requests.length;
    await work();
    return partner.requests.length - before;
  };

  it('a record in the way takes about two dozen requests', async () => {
    partner.rows = mixed(60);
    const watched = await watch();
    await watched.poll();
    spoil(ids(13));
    expect(await requestsOf(() => watched.poll())).toBeLessThan(25);
  });

  it.each<[string, Misbehaviour]>([
    ['fails', unavailable],
    ['answers with HTML', { body: '<html>' }],
    ['hangs up', { destroy: true }],
  ])('a service that %s altogether is asked for three records, and then left alone', async (_title, odd) => {
    partner.rows = mixed(330);
    const watched = await watch();
    await watched.poll();
    partner.misbehave = () => odd;
    let outcome;
    expect(await requestsOf(async () => (outcome = await watched.poll()))).toBeLessThan(6);
    expect(outcome).toMatchObject({ kind: 'failed' });
    expect((await watched.polling.read('acme')).backoffUntil).toBeGreaterThan(0);
  });

  it('one that fails from the second page on is asked for little more', async () => {
    partner.rows = mixed(2_000);
    const watched = await watch();
    let asked = 0;
    partner.misbehave = ({ endpoint }) =>
      endpoint === 'filings' && (asked += 1) > 1 ? unavailable : undefined;
    expect(await requestsOf(() => watched.poll())).toBeLessThan(30);
    expect(await watched.polling.read('acme')).toMatchObject({ baselined: false });
  });

  it('one that fails for every other record is asked for a bounded number of them in each list', async () => {
    partner.rows = mixed(1_000);
    spoil(partner.rows.flatMap(({ id }, i) => (i % 2 === 0 ? [] : [String(id)])));
    const watched = await watch();
    expect(await requestsOf(() => watched.poll())).toBeLessThan(6 * 250);
  });

  it('trouble with one record slows down nothing: it is asked for its parts once, and not at a lower pace', async () => {
    partner.rows = mixed(60);
    const watched = await watch({ retries: true });
    await watched.poll();
    spoil(ids(13));
    partner.requests.length = 0;
    await watched.poll();
    const parts = partner.requests.filter(({ endpoint, limit }) => endpoint === 'filings' && limit < 100);
    const asked = parts.map(({ offset, limit }) => `${offset} ${limit}`);
    expect(new Set(asked).size).toBeGreaterThanOrEqual(asked.length - 1);
  });
});
