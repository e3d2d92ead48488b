import { afterAll, expect, it } from 'vitest';
import { createReportStanding } from '../../../src/redis/unreadable-record.ts';
import { partnerRow, startHostilePartner } from '../../support/partner/hostile-partner.ts';
import { watchAccount } from '../../support/partner/watched-account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

it('of a script that failed is the key of a wrong type, and no other one', async () => {
  const client = redis.connect();
  await using partner = await startHostilePartner();
  partner.rows = [partnerRow('a', 'REJECTED', { policyNumber: 'P-1' }), partnerRow('b', 'PENDING')];
  const watched = await watchAccount(client, redis.prefix, partner, { retries: false });
  await watched.poll();
  partner.put('b', { status: 'PAID' });
  await watched.poll();

  const keys = (await client.keys(`${redis.prefix}*`)).filter((key) => key.includes(`{${watched.account}}:`));
  const named = [':look-alikes', ':created', ':effective', ':index', ':filings', ':details', ':log'];
  for (const name of named) expect(keys.some((key) => key.endsWith(name))).toBe(true);
  const report = createReportStanding(client, () => undefined);
  const details = keys.find((key) => key.endsWith(':details')) ?? '';
  await client.set(details, 'garbage');
  const script = "for _, key in ipairs(KEYS) do if key == ARGV[1] then redis.call('HLEN', key) end end";
  const failed = client.eval(script, keys.length, ...keys, details);
  const error: unknown = await failed.catch((reason: unknown) => reason);
  expect(await report(watched.account, error)).toMatchObject({ key: details });
});
