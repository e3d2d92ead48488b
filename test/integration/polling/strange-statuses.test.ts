import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
  type Misbehaviour,
} from '../../support/hostile-partner.ts';
import { testRedis } from '../../support/redis.ts';
import { watchAccount } from '../../support/watched-account.ts';

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

describe.each(onHold)('statuses beyond the specification, at a service that %s', (_title, odd) => {
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
