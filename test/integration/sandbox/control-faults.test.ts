import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Faults } from '../../../src/sandbox/faults-schema.ts';
import type { ListBody } from '../../../src/sandbox/list-page.ts';
import { createRandom } from '../../../src/sandbox/random.ts';
import { SECOND_KEY, startSandbox } from './sandbox-client.ts';
import type { TestSandbox } from './sandbox-client.ts';

let sandbox: TestSandbox;

beforeEach(async () => {
  sandbox = await startSandbox({ random: createRandom(1) });
  await sandbox.control('POST', '/seed', { count: 250, seed: 1 });
});
afterEach(async () => sandbox[Symbol.asyncDispose]());

const setFaults = async (faults: Faults): Promise<void> => {
  expect((await sandbox.control('PUT', '/faults', faults)).status).toBe(200);
};
const list = async (query = '') => sandbox.call<ListBody>('GET', `/filings${query}`);
const statuses = async (count: number): Promise<number[]> => {
  const seen: number[] = [];
  // oxlint-disable-next-line no-await-in-loop -- the order of the requests is what is tested
  for (let n = 0; n < count; n += 1) seen.push((await list('?limit=1')).status);
  return seen;
};

describe('PUT /_sandbox/faults', () => {
  it('shows what is set and how many requests it has concerned; {} clears', async () => {
    await setFaults({ errorRate: 1 });
    await statuses(2);
    expect((await sandbox.control('GET', '/faults')).body).toEqual({
      faults: { errorRate: 1 },
      concerned: 2,
    });
    await setFaults({});
    expect(await statuses(2)).toEqual([200, 200]);
  });

  it('does not concern the control interface', async () => {
    await setFaults({ errorRate: 1, latencyMs: 60_000 });
    expect((await sandbox.control('GET', '/filings')).status).toBe(200);
  });

  it.each([
    ['errorRate', { errorRate: 2 }],
    ['errorStatuses.0', { errorStatuses: [200] }],
    ['endpoints.0', { endpoints: ['nothing'] }],
    ['authFailure', { authFailure: 404 }],
    ['latencyMs', { latencyMs: -1 }],
    ['rateLimit.requests', { rateLimit: {} }],
    ['list.limitMax', { list: { limitMax: 0 } }],
    ['cut', { cut: 'off' }],
    ['errorate', { errorate: 1 }],
  ])('refuses a wrong %s: %o', async (field, body) => {
    expect(await sandbox.control('PUT', '/faults', body)).toMatchObject({
      status: 422,
      body: { details: [{ field }] },
    });
  });
});

describe('Which requests', () => {
  it('those of some endpoints only', async () => {
    await setFaults({ errorRate: 1, endpoints: ['me'] });
    expect((await list()).status).toBe(200);
    expect((await sandbox.call('GET', '/me')).status).toBeGreaterThanOrEqual(500);
  });

  it('those of some accounts only', async () => {
    await setFaults({ errorRate: 1, owners: ['second'] });
    expect((await list()).status).toBe(200);
    expect((await sandbox.call('GET', '/me', { key: SECOND_KEY })).status).toBeGreaterThanOrEqual(500);
  });

  it('spares `after` requests, then hits `times`', async () => {
    await setFaults({ errorRate: 1, errorStatuses: [500], after: 2, times: 2 });
    expect(await statuses(6)).toEqual([200, 200, 500, 500, 200, 200]);
  });
});

describe('Faults of every answer', () => {
  it('latency', async () => {
    await setFaults({ latencyMs: 120 });
    const startedMs = performance.now();
    await list();
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(115);
  });

  it('errors at a rate, from a list of statuses, in the documented body', async () => {
    await setFaults({ errorRate: 0.5, errorStatuses: [500, 429] });
    expect(new Set(await statuses(40))).toEqual(new Set([200, 500, 429]));
    await setFaults({ errorRate: 1, errorStatuses: [503] });
    expect(await list()).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
  });

  it('errors with a page of HTML', async () => {
    await setFaults({ errorRate: 1, errorStatuses: [502], errorBody: 'html' });
    const { status, headers, body } = await list();
    expect({ status, type: headers.get('content-type') }).toEqual({ status: 502, type: 'text/html' });
    expect(body).toContain('<html>');
  });

  it('200 with a page of HTML', async () => {
    await setFaults({ htmlRate: 1 });
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(body).toContain('<html>');
  });

  it.each([401, 403] as const)('every key fails with %i', async (authFailure) => {
    await setFaults({ authFailure });
    expect(await list()).toMatchObject({ status: authFailure, body: { code: 'PARTNER_KEY_INVALID' } });
  });

  it('429 beyond a rate, with Retry-After in seconds', async () => {
    await setFaults({ rateLimit: { requests: 2, windowMs: 3_600_000 } });
    expect(await statuses(3)).toEqual([200, 200, 429]);
    const { headers, body } = await list();
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_500);
    expect(body).toMatchObject({ code: 'RATE_LIMITED' });
  });

  it.each(['Wed, 21 Oct 2026 07:28:00 GMT', 'soon', 1e12])('429 with Retry-After: %s', async (retryAfter) => {
    await setFaults({ rateLimit: { requests: 0, retryAfter } });
    const { status, headers } = await list();
    expect([status, headers.get('retry-after')]).toEqual([429, String(retryAfter)]);
  });

  it('bodies cut in the middle: the connection ends before the announced length', async () => {
    await setFaults({ cutRate: 1 });
    await expect(list()).rejects.toThrow('terminated');
  });

  it('bodies cut in the middle: a correct response with half of the JSON', async () => {
    await setFaults({ cutRate: 1, cut: 'json' });
    const { status, headers, body } = await list();
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body).toMatch(/^\{"items":\[/);
  });

  it('hangs until the client gives up', async () => {
    await setFaults({ hangRate: 1 });
    const hanging = sandbox.call('GET', '/filings', { signal: AbortSignal.timeout(100) });
    await expect(hanging).rejects.toThrow(/timeout/);
    await setFaults({});
    await expect
      .poll(async () => (await sandbox.control('GET', '/requests')).body)
      .toMatchObject({ inFlight: 0 });
  });

  it('closing ends what hangs and what is delayed', async () => {
    await using other = await startSandbox();
    await other.control('PUT', '/faults', { hangRate: 1, endpoints: ['filings'] });
    const hanging = other.call('GET', '/filings').catch(() => 'cut off');
    await expect
      .poll(async () => (await other.control('GET', '/requests')).body)
      .toMatchObject({ inFlight: 1 });
    await other.control('PUT', '/faults', { latencyMs: 60_000 });
    const delayed = other.call('GET', '/me').then(({ status }) => status);
    await expect
      .poll(async () => (await other.control('GET', '/requests')).body)
      .toMatchObject({ inFlight: 2 });
    await other[Symbol.asyncDispose]();
    expect(await Promise.all([hanging, delayed])).toEqual(['cut off', 200]);
  });
});

const listFaults = async (faults: NonNullable<Faults['list']>): Promise<void> => setFaults({ list: faults });
const ids = async (query: string): Promise<string[]> => (await list(query)).body.items.map(({ id }) => id);

describe('Faults of the list', () => {
  it('clamps the limit', async () => {
    await listFaults({ limitMax: 20 });
    const { body } = await list('?limit=100');
    expect(body).toMatchObject({ limit: 20, total: 250 });
    expect(body.items).toHaveLength(20);
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
