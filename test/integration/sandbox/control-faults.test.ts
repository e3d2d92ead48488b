import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Faults } from '../../../src/sandbox/faults/faults-schema.ts';
import type { ListBody } from '../../../src/sandbox/lists/list-page.ts';
import { createRandom } from '../../../src/sandbox/random.ts';
import { secondKey, startSandbox } from './sandbox-client.ts';
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
    ['rateLimit.requests', { rateLimit: { requests: -1 } }],
    ['list.limitMax', { list: { limitMax: 0 } }],
    ['cut', { cut: 'off' }],
    ['answer.status', { answer: { status: 101 } }],
    ['dripBytesPerSecond', { dripBytesPerSecond: 0 }],
    ['errorate', { errorate: 1 }],
  ])('refuses a wrong %s: %o', async (field, body) => {
    expect(await sandbox.control('PUT', '/faults', body)).toMatchObject({
      status: 422,
      body: { details: [{ field }] },
    });
  });
});

it('a name that is not known is answered with those that are', async () => {
  const limit = { rateLimit: { requests: 1, retryAfterSeconds: 3 } };
  expect(await sandbox.control('PUT', '/faults', limit)).toMatchObject({
    body: {
      details: [
        {
          field: 'rateLimit.retryAfterSeconds',
          message: 'is not known; there are requests, windowMs, retryAfter',
        },
      ],
    },
  });
});

it('a wrong value is explained once, by the first form that it could have', async () => {
  expect(await sandbox.control('PUT', '/faults', { latencyMs: -1 })).toMatchObject({
    body: { details: [{ field: 'latencyMs', message: 'must be >= 0' }] },
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
    expect((await sandbox.call('GET', '/me', { key: secondKey })).status).toBeGreaterThanOrEqual(500);
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

  it('any answer instead, such as a redirect or an empty list', async () => {
    await setFaults({ answer: { status: 302, headers: { location: '/elsewhere' } }, endpoints: ['me'] });
    const redirect = await fetch(`${sandbox.url}/v1/partner/me`, { redirect: 'manual' });
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, '/elsewhere']);
    await setFaults({ answer: { headers: { 'content-type': 'application/json' }, body: '[]' } });
    expect(await list()).toMatchObject({ status: 200, body: [] });
  });

  it('bodies that drip', async () => {
    await setFaults({ dripBytesPerSecond: 1000 });
    const startedMs = performance.now();
    const { body } = await sandbox.call('GET', '/me');
    expect(body).toHaveProperty('email');
    expect(performance.now() - startedMs).toBeGreaterThan(90);
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

  it('closing sends the rest of what drips', async () => {
    await using other = await startSandbox();
    await other.control('PUT', '/faults', { dripBytesPerSecond: 1 });
    const dripping = other.call('GET', '/me');
    await expect
      .poll(async () => (await other.control('GET', '/requests')).body)
      .toMatchObject({ inFlight: 1 });
    await other[Symbol.asyncDispose]();
    expect((await dripping).body).toHaveProperty('email');
  });
});
