import { afterAll, expect, it } from 'vitest';
import { agedSources } from '../../../src/filings/lists/walk-sources.ts';
import { partnerRow, startHostilePartner } from '../../support/partner/hostile-partner.ts';
import { watchAccount, type WatchedAccount } from '../../support/partner/watched-account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

async function rejected({ account, filings }: WatchedAccount): Promise<string[]> {
  const query = { order: 'oldest', after: null, limit: 20 } as const;
  return (await filings.walk(agedSources(account, ['REJECTED']), query)).filings.map(({ id }) => id);
}

const filed = (day: number) => ({ createdAt: `2026-01-0${day}T00:00:00.000Z` });

it('of a rejection counts since its filing was created while it is as at its first read', async () => {
  await using partner = await startHostilePartner();
  partner.rows = [
    partnerRow('b', 'REJECTED', filed(2)),
    partnerRow('a', 'REJECTED', filed(1)),
    partnerRow('c', 'REJECTED', filed(3)),
    // Whoever says so is wrong, or has no clock.
    partnerRow('future', 'REJECTED', { createdAt: '2999-01-01T00:00:00.000Z' }),
    partnerRow('none', 'REJECTED', { createdAt: '1970-01-01T00:00:00.000Z' }),
    partnerRow('paid', 'PENDING', filed(1)),
  ];
  const watched = await watchAccount(redis.connect(), redis.prefix, partner, { retries: false });
  await watched.poll();
  expect(await rejected(watched)).toEqual(['a', 'b', 'c', 'none', 'future']);

  // An event that leaves it rejected leaves its place, and one that does not gives it a time of its own.
  partner.put('b', { rejectionReason: 'Another one' });
  partner.put('a', { status: 'PENDING' });
  partner.put('paid', { status: 'REJECTED' });
  await watched.poll();
  expect(await rejected(watched)).toEqual(['b', 'c', 'none', 'future', 'paid']);
  partner.put('a', { status: 'REJECTED' });
  await watched.poll();
  expect(await rejected(watched)).toEqual(['b', 'c', 'none', 'future', 'paid', 'a']);

  partner.rows = partner.rows.filter(({ id }) => id !== 'c');
  await watched.poll('sweep');
  await watched.poll('sweep');
  expect(await rejected(watched)).toEqual(['b', 'none', 'future', 'paid', 'a']);
});
