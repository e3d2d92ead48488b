import { afterAll, expect, it } from 'vitest';
import type { Parts } from '../../../src/daemon/parts.ts';
import { decodeState } from '../../../src/filings/detection/filing-state.ts';
import { loadFilings } from '../../bench/support/load-filings.ts';
import { startPartnerProcess } from '../../bench/support/partner-process.ts';
import { createProduct, testConfig } from '../../support/daemon/product.ts';
import { watchAccount } from '../../support/partner/watched-account.ts';
import { storedAccount } from '../../support/redis/stored-account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

const [filings, unsettled] = [250, 30];

/** Everything that is stored of an account's filings, without the times of reads. */
async function storedOf({ stores, keys }: Parts, name: string) {
  const account = storedAccount(client, keys.account(name));
  const states = Object.entries(await account.filingTexts()).map(([id, text]) => {
    const { since, readFrom, readAt, ...state } = decodeState(text);
    return [id, { ...state, isTimed: since === readAt && readFrom <= readAt && readFrom > 0 }] as const;
  });
  const counts = await stores.snapshot.counts(name);
  const idsIn = async (status: string) => (await stores.snapshot.idsIn(name, status)).toSorted();
  return {
    states: new Map(states),
    counts,
    index: await Promise.all(Object.keys(counts).toSorted().map(idsIn)),
    details: await account.details(),
    keys: await account.keys(),
  };
}

it('loads what the baseline of the same filings stores, so that a sweep finds no change', async () => {
  await using partner = await startPartnerProcess(filings, unsettled);
  const service = { baseUrl: partner.baseUrl, key: 'k' };
  await using product = await createProduct(testConfig(redis.prefix, redis.url), {});
  const polled = await watchAccount(client, redis.prefix, service, { account: 'polled' });
  await polled.poll();
  await loadFilings(product.parts, { account: 'loaded', filings, unsettled });

  const loaded = await storedOf(product.parts, 'loaded');
  expect(loaded.states.size).toBe(filings);
  expect(loaded).toEqual(await storedOf(product.parts, 'polled'));

  const watched = await watchAccount(client, redis.prefix, service, { account: 'loaded' });
  const { filingTexts } = storedAccount(client, product.parts.keys.account('loaded'));
  const before = await filingTexts();
  expect(await watched.poll('sweep')).toMatchObject({ kind: 'complete', mode: 'sweep', events: 0 });
  expect(await filingTexts()).toEqual(before);
});
