import { afterAll, expect, it } from 'vitest';
import { decodeState } from '../../../src/filings/detection/filing-state.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { loadFilings } from '../../bench/support/load-filings.ts';
import { startPartnerProcess } from '../../bench/support/partner-process.ts';
import { createProduct, testConfig } from '../../support/daemon/product.ts';
import { watchAccount } from '../../support/partner/watched-account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

const [filings, unsettled] = [250, 30];

/** Everything that is stored of an account's filings, without the times of reads. */
async function stored(account: string) {
  const key = createKeys(redis.prefix).account(account);
  const states = Object.entries(await client.hgetall(key.filings)).map(([id, text]) => {
    const { since, readFrom, readAt, ...state } = decodeState(text);
    return [id, { ...state, isTimed: since === readAt && readFrom <= readAt && readFrom > 0 }] as const;
  });
  return {
    states: new Map(states),
    index: (await client.zrange(key.index, '0', '-1'))
      .map((member) => member.replace(/\0\d+ /, '\0'))
      .toSorted(),
    details: await client.hgetall(key.details),
    counts: await client.hgetall(key.counts),
    events: await client.xlen(key.events),
    others: await client.exists(key.filingEvents, key.bodies, key.head),
  };
}

it('loads what the baseline of the same filings stores, so that a sweep finds no change', async () => {
  await using partner = await startPartnerProcess(filings, unsettled);
  const service = { baseUrl: partner.baseUrl, key: 'k' };
  await using product = await createProduct(testConfig(redis.prefix, redis.url), {});
  const polled = await watchAccount(client, redis.prefix, service, { account: 'polled' });
  await polled.poll();
  await loadFilings(product.parts, { account: 'loaded', filings, unsettled });

  const loaded = await stored('loaded');
  expect(loaded.states.size).toBe(filings);
  expect(loaded).toEqual(await stored('polled'));

  const watched = await watchAccount(client, redis.prefix, service, { account: 'loaded' });
  const before = await client.hgetall(createKeys(redis.prefix).account('loaded').filings);
  expect(await watched.poll('sweep')).toMatchObject({ kind: 'complete', mode: 'sweep', events: 0 });
  expect(await client.hgetall(createKeys(redis.prefix).account('loaded').filings)).toEqual(before);
});
