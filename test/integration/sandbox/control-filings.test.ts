import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Filing } from '../../../src/sandbox/filings/filing.ts';
import type { ListBody } from '../../../src/sandbox/lists/list-page.ts';
import { secondKey, startSandbox } from './sandbox-client.ts';
import type { TestSandbox } from './sandbox-client.ts';

let sandbox: TestSandbox;
let nowMs = 0;

beforeEach(async () => {
  nowMs = Date.parse('2026-11-21T10:00:00Z');
  sandbox = await startSandbox({ now: () => nowMs });
});
afterEach(async () => sandbox[Symbol.asyncDispose]());

const put = async (id: string, body: unknown) =>
  sandbox.control<Filing>('PUT', `/filings/${encodeURIComponent(id)}`, body);

describe('PUT /_sandbox/filings/{id}', () => {
  it('makes a filing with the chosen id that the service then serves', async () => {
    const made = await put('f_123', { status: 'PENDING' });
    expect(made).toMatchObject({ status: 201, body: { id: 'f_123', status: 'PENDING', userId: 'default' } });
    expect((await sandbox.call<Filing>('GET', '/f_123')).body).toEqual(made.body);
  });

  it('changes only the status of a filing that exists', async () => {
    const { body: before } = await put('f_1', { status: 'UNPAID' });
    const { status, body: after } = await put('f_1', { status: 'PAID' });
    expect(status).toBe(200);
    expect(after).toEqual({ ...before, status: 'PAID' });
  });

  it('sets completedAt when COMPLETED and keeps it while it stays COMPLETED', async () => {
    const first = await put('f_1', { status: 'COMPLETED' });
    nowMs += 60_000;
    const again = await put('f_1', { status: 'COMPLETED' });
    expect(first.body.completedAt).toBe('2026-11-21T10:00:00.000Z');
    expect(again.body.completedAt).toBe(first.body.completedAt);
  });

  it('clears what no longer applies', async () => {
    await put('f_1', { status: 'COMPLETED' });
    const rejected = await put('f_1', { status: 'REJECTED', rejectionReason: 'Not signed' });
    const paid = await put('f_1', { status: 'PAID' });
    expect(rejected.body).toMatchObject({ completedAt: null, rejectionReason: 'Not signed' });
    expect(paid.body).toMatchObject({ completedAt: null, rejectionReason: null });
  });

  it('gives a reason when none is given, and takes an edited one', async () => {
    expect((await put('f_1', { status: 'REJECTED' })).body.rejectionReason).toEqual(expect.any(String));
    const edited = await put('f_1', { status: 'REJECTED', rejectionReason: 'Edited' });
    expect(edited.body.rejectionReason).toBe('Edited');
  });

  it('takes a given completedAt, whatever the status', async () => {
    const completedAt = '2025-01-01T00:00:00.000Z';
    expect((await put('f_1', { status: 'COMPLETED', completedAt })).body.completedAt).toBe(completedAt);
    expect((await put('f_1', { status: 'PENDING', completedAt })).body.completedAt).toBe(completedAt);
    expect((await put('f_1', { status: 'COMPLETED', completedAt: null })).body.completedAt).toBeNull();
  });

  it('takes any status, also an unknown one', async () => {
    await put('f_1', { status: 'ON_HOLD' });
    expect((await sandbox.call<Filing>('GET', '/f_1')).body.status).toBe('ON_HOLD');
    expect((await sandbox.call<ListBody>('GET', '/filings')).body.items).toHaveLength(1);
  });

  it('merges further fields as they are, even wrong ones', async () => {
    const { body } = await put('f_1', {
      status: 'PAID',
      premium: 'much',
      agent: { name: 'Ann' },
      userFiles: null,
    });
    expect(body).toMatchObject({ premium: 'much', agent: { name: 'Ann' }, userFiles: null });
  });

  it('gives a filing to another account', async () => {
    await put('f_1', { status: 'PAID' });
    await put('f_1', { status: 'PAID', owner: 'second' });
    expect((await sandbox.call('GET', '/f_1')).status).toBe(404);
    expect((await sandbox.call('GET', '/f_1', { key: secondKey })).status).toBe(200);
  });

  it('places a filing by a given createdAt', async () => {
    await put('f_new', { status: 'PAID' });
    await put('f_old', { status: 'PAID', createdAt: '2020-01-01T00:00:00.000Z' });
    await put('f_newest', { status: 'PAID', createdAt: '2030-01-01T00:00:00.000Z' });
    const { body } = await sandbox.call<ListBody>('GET', '/filings');
    expect(body.items.map(({ id }) => id)).toEqual(['f_newest', 'f_new', 'f_old']);
  });

  it.each(['__proto__', 'constructor', 'a/b', 'ü 1', 'x'.repeat(10_000)])('takes the id %s', async (id) => {
    await put(id, { status: 'PAID' });
    const { body } = await sandbox.call<Filing>('GET', `/${encodeURIComponent(id)}`);
    expect(body).toMatchObject({ id, status: 'PAID' });
  });

  it('refuses an id that is an endpoint', async () => {
    expect(await put('filings', { status: 'PAID' })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST' },
    });
  });

  it.each([
    ['status', {}],
    ['status', { status: '' }],
    ['status', { status: 5 }],
    ['rejectionReason', { status: 'REJECTED', rejectionReason: 5 }],
    ['completedAt', { status: 'COMPLETED', completedAt: 5 }],
    ['owner', { status: 'PAID', owner: '' }],
    ['id', { status: 'PAID', id: 'other' }],
    ['userId', { status: 'PAID', userId: 'other' }],
  ])('refuses a wrong %s: %o', async (field, body) => {
    expect(await put('f_1', body)).toMatchObject({
      status: 422,
      body: { code: 'INVALID_INPUT', details: [{ field }] },
    });
  });
});

describe('GET and DELETE /_sandbox/filings', () => {
  it('reads any account’s filing, or answers 404', async () => {
    await put('f_1', { status: 'PAID', owner: 'second' });
    expect((await sandbox.control('GET', '/filings/f_1')).status).toBe(200);
    expect(await sandbox.control('GET', '/filings/f_2')).toMatchObject({
      body: { code: 'FILING_NOT_FOUND' },
    });
  });

  it('removes a filing: from then on the service answers 404 and lists one less', async () => {
    await put('f_1', { status: 'PAID' });
    expect((await sandbox.control('DELETE', '/filings/f_1')).status).toBe(204);
    expect((await sandbox.call('GET', '/f_1')).status).toBe(404);
    expect((await sandbox.call<ListBody>('GET', '/filings?status=PAID')).body).toMatchObject({
      items: [],
      total: 0,
    });
    expect((await sandbox.control('DELETE', '/filings/f_1')).status).toBe(404);
  });

  it('lists everybody’s filings, or those of one owner and status', async () => {
    await put('f_1', { status: 'PAID' });
    await put('f_2', { status: 'ON_HOLD', owner: 'second' });
    const totals = await Promise.all(
      ['', '?owner=second', '?status=ON_HOLD', '?owner=default&status=ON_HOLD', '?q=f_1'].map(
        async (query) => {
          const { body } = await sandbox.control<ListBody>('GET', `/filings${query}`);
          return body.total;
        },
      ),
    );
    expect(totals).toEqual([2, 1, 1, 0, 1]);
  });

  it('removes everything', async () => {
    await sandbox.control('POST', '/seed', { count: 10 });
    expect((await sandbox.control('DELETE', '/filings')).status).toBe(204);
    expect((await sandbox.call<ListBody>('GET', '/filings')).body.total).toBe(0);
  });
});

describe('POST /_sandbox/seed', () => {
  it('makes thousands of filings in every status, most of them COMPLETED', async () => {
    const seeded = await sandbox.control('POST', '/seed', { count: 5000, seed: 1 });
    expect(seeded).toMatchObject({ status: 201, body: { created: 5000, owner: 'default', total: 5000 } });
    const counts = await Promise.all(
      ['UNPAID', 'PAID', 'PENDING', 'COMPLETED', 'REJECTED'].map(async (status) =>
        Number((await sandbox.call<ListBody>('GET', `/filings?status=${status}`)).body.total),
      ),
    );
    expect(Math.min(...counts)).toBeGreaterThan(50);
    expect(counts[3]).toBeGreaterThan(4000);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5000);
  });

  it('makes filings of one status for one owner', async () => {
    await sandbox.control('POST', '/seed', { count: 3, status: 'PENDING', owner: 'second' });
    const { body } = await sandbox.call<ListBody>('GET', '/filings?status=PENDING', { key: secondKey });
    expect(body.total).toBe(3);
    for (const { filingState } of body.items) expect(['OR', 'TX']).toContain(filingState.stateAbbr);
  });

  it('makes the same filings for the same seed, and others when they are there already', async () => {
    const seeds = [
      { count: 20, seed: 7 },
      { count: 20, seed: 7 },
    ];
    await sandbox.control('POST', '/seed', seeds[0]);
    const { body: before } = await sandbox.call<ListBody>('GET', '/filings');
    const second = await sandbox.control('POST', '/seed', seeds[1]);
    expect(second.body).toMatchObject({ total: 40 });
    const { body: both } = await sandbox.call<ListBody>('GET', '/filings?limit=100');
    expect(new Set(both.items.map(({ id }) => id)).size).toBe(40);
    await sandbox.control('DELETE', '/filings');
    await sandbox.control('POST', '/seed', seeds[0]);
    expect((await sandbox.call<ListBody>('GET', '/filings')).body).toEqual(before);
  });

  it.each([
    ['count', {}],
    ['count', { count: 0 }],
    ['count', { count: 1.5 }],
    ['count', { count: 1_000_001 }],
    ['status', { count: 1, status: 5 }],
    ['owner', { count: 1, owner: '' }],
    ['seed', { count: 1, seed: 'x' }],
    ['counts', { count: 1, counts: 1 }],
  ])('refuses a wrong %s: %o', async (field, body) => {
    expect(await sandbox.control('POST', '/seed', body)).toMatchObject({
      status: 422,
      body: { details: [{ field }] },
    });
  });
});

describe('The control interface', () => {
  it('needs no key', async () => {
    const paths = ['/filings', '/faults', '/simulation', '/requests'];
    const answers = await Promise.all(paths.map(async (path) => sandbox.control('GET', path)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('answers unknown paths and methods with the documented body', async () => {
    expect(await sandbox.control('GET', '/nothing')).toMatchObject({
      status: 404,
      body: { code: 'ROUTE_NOT_FOUND' },
    });
    expect(await sandbox.control('POST', '/faults', {})).toMatchObject({
      status: 405,
      body: { code: 'METHOD_NOT_ALLOWED' },
    });
  });
});
