import { afterAll, expect, it } from 'vitest';
import { partnerRow, startHostilePartner } from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount } from '../../support/partner/watched-account.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

it('gives a key that is refused a second time an event of its own, with no complete poll in between', async () => {
  await using partner = await startHostilePartner(['a', 'b', 'c', 'd'].map((id) => partnerRow(id)));
  partner.clamp = 2;
  const options = { largeFrom: 1_000, retries: false };
  const watched = await watchAccount(redis.connect(), redis.prefix, partner, options);
  expect(await watched.poll()).toMatchObject({ kind: 'complete' });

  const seen = [];
  for (let refusals = 0; refusals < 3; refusals += 1) {
    partner.misbehave = () => ({ status: 401 });
    seen.push(...(await watched.pollFor()));
    partner.misbehave = ({ offset }) => (offset > 0 ? { status: 500 } : {});
    seen.push(...(await watched.pollFor()));
  }

  const [refused, recovered] = ['account.auth_failed', 'account.recovered'];
  expect(seen.map(({ type }) => type)).toEqual([refused, recovered, refused, recovered, refused, recovered]);
  expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
});
