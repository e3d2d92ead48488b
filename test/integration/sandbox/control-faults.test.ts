import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Faults } from '../../../src/sandbox/faults.ts';
import type { ListBody } from '../../../src/sandbox/filings/filing-list.ts';
import { createRandom } from '../../../src/sandbox/random.ts';
import { createSandbox } from '../../../src/sandbox/sandbox.ts';
import { firstKey, startSandbox } from './sandbox-client.ts';
import type { TestSandbox } from './sandbox-client.ts';

let sandbox: TestSandbox;
let nowMs = Date.parse('2026-11-21T10:00:00Z');

beforeEach(async () => {
  sandbox = await startSandbox({ random: createRandom(1), now: () => nowMs });
  await sandbox.control('POST', '/seed', { count: 250, seed: 1 });
});
afterEach(async () => sandbox[Symbol.asyncDispose]());

const setFaults = async (faults: Faults): Promise<void> => {
  expect((await sandbox.control('PUT', '/faults', faults)).status).toBe(200);
};
const list = async (query = '') => sandbox.call<ListBody>('GET', `/filings${query}`);
const ids = async (query: string): Promise<string[]> => (await list(query)).body.items.map(({ id }) => id);
const statuses = async (count: number): Promise<number[]> => {
  const seen: number[] = [];
  // oxlint-disable-next-line no-await-in-loop -- the order of the requests is what is tested
  for (let n = 0; n < count; n += 1) seen.push((await list('?limit=1')).status);
  return seen;
};

describe('PUT /_sandbox/faults', () => {
  it('shows what is set; {} clears', async () => {
    await setFaults({ errorRate: 1, errorStatuses: [500] });
    expect(await statuses(2)).toEqual([500, 500]);
    const shown = { faults: { errorRate: 1, errorStatuses: [500] } };
    expect((await sandbox.control('GET', '/faults')).body).toEqual(shown);
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
    ['latencyMs', { latencyMs: -1 }],
    ['rateLimit.requests', { rateLimit: { requests: -1 } }],
    ['list.limitMax', { list: { limitMax: 0 } }],
    ['errorate', { errorate: 1 }],
  ])('refuses a wrong %s: %o', async (field, body) => {
    expect(await sandbox.control('PUT', '/faults', body)).toMatchObject({
      status: 422,
      body: { details: [{ field }] },
    });
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

  it('429 beyond a rate, with Retry-After in seconds until the window ends', async () => {
    await setFaults({ rateLimit: { requests: 2, windowMs: 5_000 } });
    expect(await statuses(3)).toEqual([200, 200, 429]);
    nowMs += 1_500;
    const { headers, body } = await list();
    expect(headers.get('retry-after')).toBe('4');
    expect(body).toMatchObject({ code: 'RATE_LIMITED' });
    nowMs += 3_500;
    expect(await statuses(1)).toEqual([200]);
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

  it('closing ends what is delayed', async () => {
    const app = createSandbox();
    await app.inject({ method: 'PUT', url: '/_sandbox/faults', payload: { latencyMs: 60_000 } });
    const delayed = app.inject({ url: '/v1/partner/me', headers: { PartnerKey: firstKey } });
    const [{ statusCode }] = await Promise.all([delayed, app.close()]);
    expect(statusCode).toBe(200);
  });
});

describe('Faults of the list', () => {
  it('clamps the limit', async () => {
    await setFaults({ list: { limitMax: 20 } });
    const { body } = await list('?limit=100');
    expect(body).toMatchObject({ limit: 20, total: 250 });
    expect(body.items).toHaveLength(20);
  });

  it('shuffles within the page', async () => {
    const straight = await ids('?limit=50');
    await setFaults({ list: { shuffle: 'page' } });
    const mixed = await ids('?limit=50');
    expect(mixed).not.toEqual(straight);
    expect(mixed.toSorted()).toEqual(straight.toSorted());
  });

  it('shuffles the whole list anew for every request', async () => {
    const straight = await ids('?limit=50');
    await setFaults({ list: { shuffle: 'list' } });
    const mixed = await ids('?limit=50');
    expect(mixed.toSorted()).not.toEqual(straight.toSorted());
    expect(new Set(mixed).size).toBe(50);
    expect(await ids('?offset=240&limit=50')).toHaveLength(10);
  });
});
