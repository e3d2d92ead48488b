import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { largeAccountFilings } from '../../../src/polling/schedule/plan.ts';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
} from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount, type WatchedAccount } from '../../support/partner/watched-account.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

let partner: HostilePartner;
beforeEach(async () => {
  partner = await startHostilePartner();
});
afterEach(() => partner[Symbol.asyncDispose]());

/** What docs/polling.md says that an account of so many filings costs; null where there is no delta. */
interface Cost {
  readonly filings: number;
  readonly unsettled: number;
  readonly full: number;
  readonly delta: number | null;
  readonly perDay: number;
  readonly listedPerDay: number;
}

const costs = readTable(readFileSync(new URL('../../../docs/polling.md', import.meta.url), 'utf8'));

function readTable(text: string): Cost[] {
  const rows = text.split('\n').filter((line) => /^\|\s*\d/.test(line));
  return rows.map((row) => {
    const cells = row.split('|').map((cell) => cell.replaceAll(' ', ''));
    const [filings = 0, unsettled = 0, full = 0, delta = 0, perDay = 0, listedPerDay = 0] = cells
      .slice(1)
      .map(Number);
    return { filings, unsettled, full, delta: Number.isNaN(delta) ? null : delta, perDay, listedPerDay };
  });
}

const rows = ({ filings, unsettled }: Cost) =>
  Array.from({ length: filings }, (_, i) =>
    partnerRow(`f${i}`, i < unsettled ? ['UNPAID', 'PAID', 'PENDING'][i % 3] : 'COMPLETED'),
  );

describe('the cost model of docs/polling.md', () => {
  it('is there, and its days add up', () => {
    expect(costs.map(({ filings }) => filings)).toEqual([500, 1_000, 10_000, 100_000]);
    for (const { full, delta, perDay, listedPerDay } of costs) {
      expect(perDay).toBe(delta === null ? 5_760 * full : (5_760 - 96) * delta + 96 * full);
      expect(listedPerDay).toBe(5_760 * full);
    }
  });

  it.each(costs.filter(({ filings }) => filings <= 10_000))(
    'is what $filings filings with $unsettled unsettled ones take',
    async (cost) => {
      partner.rows = rows(cost);
      const watched = await watchAccount(client, `${redis.prefix}${cost.filings}`, partner, {
        largeFrom: largeAccountFilings,
      });
      const counted = async (mode: 'delta' | 'sweep') => {
        const before = partner.requests.length;
        expect((await watched.poll(mode)).kind).toBe('complete');
        return partner.requests.length - before;
      };
      await watched.poll();
      expect(await counted('sweep')).toBe(cost.full);
      expect(await counted('delta')).toBe(cost.delta ?? cost.full);
    },
  );

  const dated = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      partnerRow(`f${i}`, 'PENDING', {
        createdAt: new Date(Date.UTC(2026, 5, 1) - i * 60_000).toISOString(),
      }),
    );
  const counted = async (watched: WatchedAccount) => {
    const before = partner.requests.length;
    expect((await watched.poll()).kind).toBe('complete');
    return partner.requests.length - before;
  };

  it('a list that ends on a full page takes none more', async () => {
    partner.rows = dated(300);
    const watched = await watchAccount(client, `${redis.prefix}dated`, partner, {
      largeFrom: largeAccountFilings,
    });
    await watched.poll();
    expect(await counted(watched)).toBe(3);
    partner.put('born', { status: 'COMPLETED', createdAt: '2026-07-01T00:00:00Z' });
    partner.remove('f7');
    expect(await counted(watched)).toBe(4);
    expect((await watched.events()).map(({ filingId, type }) => [filingId, type])).toEqual([
      ['born', 'filing.created'],
    ]);
  });

  it('a list of several pages that has become shorter takes none more', async () => {
    partner.rows = dated(1_000).map((row, i) => (i < 150 ? row : { ...row, status: 'COMPLETED' }));
    const watched = await watchAccount(client, `${redis.prefix}shorter`, partner, {
      largeFrom: largeAccountFilings,
    });
    await watched.poll();
    // Two lists of one empty page, one of two, two counts.
    expect(await counted(watched)).toBe(6);
    partner.put('f7', { status: 'COMPLETED' });
    expect(await counted(watched)).toBe(7);
  });

  it('a filing that left its list takes one more', async () => {
    const [, cost] = costs;
    if (cost === undefined) throw new Error('no table');
    partner.rows = rows(cost);
    const watched = await watchAccount(client, `${redis.prefix}left`, partner, {
      largeFrom: largeAccountFilings,
    });
    await watched.poll();
    for (const id of ['f0', 'f1', 'f2']) partner.put(id, { status: 'COMPLETED' });
    const before = partner.requests.length;
    expect(await watched.poll()).toMatchObject({ mode: 'delta', events: 3 });
    expect(partner.requests.length - before).toBe((cost.delta ?? 0) + 3);
  });
});
