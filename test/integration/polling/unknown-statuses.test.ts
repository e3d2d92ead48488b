import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
  type Misbehaviour,
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

const rows = (count: number, status: string) =>
  Array.from({ length: count }, (_, i) => partnerRow(`${status}${i}`, status));

async function watch() {
  const watched = await watchAccount(client, `${redis.prefix}${tests}`, partner, { retries: false });
  await watched.poll();
  return watched;
}

async function requestsOf(work: () => Promise<unknown>): Promise<number> {
  const before = partner.requests.length;
  await work();
  return partner.requests.length - before;
}

const onHold: [string, Misbehaviour | undefined][] = [
  ['lists them', undefined],
  ['refuses to list them', { status: 400 }],
  ['fails when asked to list them', { status: 500 }],
  ['lists all filings instead', { body: 'all' }],
];

describe.each(onHold)('unknown statuses, at a service that %s', (_title, odd) => {
  const answerWith = (misbehaviour: Misbehaviour | undefined) => {
    partner.misbehave = ({ status, offset, limit }) => {
      if (status !== 'ON_HOLD' || misbehaviour === undefined) return undefined;
      if (misbehaviour.body !== 'all') return misbehaviour;
      return {
        edit: () => ({ items: partner.rows.slice(offset, offset + limit), total: partner.rows.length }),
      };
    };
  };

  it('are told verbatim, and left within a poll while they are few', async () => {
    partner.rows = [...rows(5, 'PENDING'), ...rows(900, 'COMPLETED')];
    answerWith(odd);
    const watched = await watch();
    partner.put('PENDING0', { status: 'ON_HOLD' });
    partner.put('PENDING1', { status: 'ON_HOLD' });
    const [first] = await watched.pollFor();
    expect(first).toMatchObject({ type: 'filing.status_changed', status: 'ON_HOLD' });
    expect(await watched.pollFor()).toEqual([]);
    partner.put('PENDING0', { status: 'REJECTED', rejectionReason: 'late' });
    partner.put('PENDING1', { status: 'PAID' });
    expect((await watched.pollFor()).map(({ type }) => type).toSorted()).toEqual([
      'filing.paid',
      'filing.rejected',
    ]);
    expect((await watched.poll()).kind).toBe('complete');
  });

  it('cost little however many filings are in them', async () => {
    partner.rows = [...rows(1000, 'ON_HOLD'), ...rows(5, 'PENDING'), ...rows(200, 'ARCHIVED')];
    answerWith(odd);
    const watched = await watch();
    for (let polls = 0; polls < 3; polls += 1)
      expect(await requestsOf(() => watched.poll())).toBeLessThanOrEqual(30);
    partner.put('ON_HOLD7', { status: 'PENDING' });
    expect((await watched.pollFor()).map(({ type }) => type)).toEqual(['filing.pending']);
    partner.put('ON_HOLD8', { status: 'COMPLETED' });
    expect((await watched.pollFor('sweep')).map(({ type }) => type)).toEqual(['filing.completed']);
  });
});

describe('a service that refuses the list of a status', () => {
  const refuse = (refused: string, code = 400) => {
    partner.misbehave = ({ status }) => (status === refused ? { status: code } : undefined);
  };
  const asked = (status: string) => partner.requests.filter((request) => request.status === status).length;

  it('has its filings read by their ids, and is asked for it once a poll', async () => {
    partner.rows = [...rows(3, 'ON_HOLD'), ...rows(5, 'PENDING')];
    refuse('ON_HOLD');
    const watched = await watch();
    await watched.poll();
    const before = asked('ON_HOLD');
    for (let polls = 0; polls < 3; polls += 1) await watched.poll();
    expect(asked('ON_HOLD') - before).toBe(3);
    partner.put('ON_HOLD1', { status: 'PAID' });
    expect((await watched.pollFor()).map(({ type }) => type)).toEqual(['filing.paid']);
  });

  it('and fails to list it is asked for it by the next poll', async () => {
    partner.rows = [...rows(3, 'ON_HOLD'), ...rows(5, 'PENDING')];
    refuse('ON_HOLD', 500);
    const watched = await watch();
    const before = asked('ON_HOLD');
    for (let polls = 0; polls < 3; polls += 1) await watched.poll();
    expect(asked('ON_HOLD') - before).toBe(3);
  });

  it.each(['UNPAID', 'PAID', 'PENDING'])('%s, is polled by its whole list', async (status) => {
    partner.rows = [...rows(150, status), ...rows(200, 'COMPLETED')];
    refuse(status);
    const watched = await watch();
    expect(await watched.poll()).toMatchObject({ kind: 'complete', mode: 'sweep' });
    partner.put(`${status}7`, { status: 'REJECTED', rejectionReason: 'late' });
    partner.put('COMPLETED7', { status, completedAt: null });
    partner.put('born', { status });
    const events = await watched.pollFor();
    expect(events.map(({ filingId }) => filingId).toSorted()).toEqual(
      ['COMPLETED7', `${status}7`, 'born'].toSorted(),
    );
  });

  it('REJECTED, is polled as ever but for its count', async () => {
    partner.rows = [...rows(50, 'PENDING'), ...rows(200, 'COMPLETED')];
    refuse('REJECTED');
    const watched = await watch();
    for (let i = 0; i < 9; i += 1) partner.put(`PENDING${i}`, { status: 'REJECTED' });
    expect(await watched.poll()).toMatchObject({ kind: 'complete', mode: 'delta', events: 9 });
    const before = asked('REJECTED');
    expect(await watched.poll()).toMatchObject({ kind: 'complete', mode: 'delta', events: 0 });
    expect(asked('REJECTED') - before).toBe(1);
  });

  it('but for its first page, is asked for it again by the next poll', async () => {
    partner.rows = [...rows(250, 'PENDING'), ...rows(200, 'COMPLETED')];
    const watched = await watch();
    partner.misbehave = ({ status, offset }) =>
      status === 'PENDING' && offset >= 100 ? { status: 400 } : undefined;
    expect(await watched.poll()).toMatchObject({ kind: 'complete', mode: 'delta' });
    expect((await watched.polling.read('acme')).lastError).toContain(
      'from offset 100 of the list of PENDING on',
    );
    partner.misbehave = () => undefined;
    expect(await watched.poll()).toMatchObject({ kind: 'complete', mode: 'delta' });
  });

  it('because it refuses everything, is asked for it again as soon as it serves the others', async () => {
    partner.rows = [...rows(50, 'PENDING'), ...rows(200, 'COMPLETED')];
    const watched = await watch();
    partner.misbehave = () => ({ status: 404 });
    expect(await watched.poll()).toMatchObject({ kind: 'failed', reason: 'unexpected_status' });
    partner.misbehave = () => undefined;
    expect(await watched.poll()).toMatchObject({ kind: 'complete', mode: 'delta' });
  });
});
