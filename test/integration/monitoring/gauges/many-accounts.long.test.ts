import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProbes } from '../../../../src/daemon/parts/api-deps.ts';
import type { Parts } from '../../../../src/daemon/parts.ts';
import { createGauges } from '../../../../src/monitoring/gauges/gauges.ts';
import { createSubscriptionReads } from '../../../../src/subscriptions/store/subscription-reads.ts';
import { createProduct, testConfig } from '../../../support/daemon/product.ts';
import { accountName, writeAccounts } from '../../../support/daemon/written-accounts.ts';
import { storedAccount, storedRecords } from '../../../support/redis/stored-account.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
const many = 120;
const config = testConfig(redis.prefix, redis.url);
const stack = new AsyncDisposableStack();
let parts: Parts;
let scrape: () => Promise<ReadonlyMap<string, number>>;

beforeAll(async () => {
  ({ parts } = stack.use(await createProduct(config, {})));
  await writeAccounts(parts, many);
  scrape = scraperOf(parts);
});
afterAll(async () => {
  await stack.disposeAsync();
  await redis.cleanup();
});

function scraperOf(of: Parts): typeof scrape {
  const { beforeScrape, metrics } = createProbes(of);
  return async () => {
    await beforeScrape();
    const lines = (await metrics.metrics()).split('\n').filter((line) => line.startsWith('filing_webhooks_'));
    return new Map(
      lines.map((line) => [
        line.slice('filing_webhooks_'.length, line.lastIndexOf(' ')),
        Number(line.split(' ').at(-1)),
      ]),
    );
  };
}

const storedIn = ({ redis: client, keys }: Parts, i: number) =>
  storedAccount(client, keys.account(accountName(i)));
const namesOf = (samples: ReadonlyMap<string, number>, metric: string) =>
  [...samples.keys()].filter((name) => name.startsWith(`${metric}{`)).toSorted();
const sample = async (name: string) => (await scrape()).get(name);
const eventually = (name: string) => expect.poll(async () => sample(name), { timeout: 10_000 });

test('beyond a hundred accounts there are totals, and series of the worst only', async () => {
  await eventually('accounts{state="stale"}').toBe(3);
  const samples = await scrape();
  expect(Object.fromEntries(samples)).toMatchObject({
    series_per_account: 0,
    'accounts{state="ok"}': many - 3,
    'all_filings{status="REJECTED"}': many,
    'all_filings{status="COMPLETED"}': 6 * many,
    'subscriptions{state="failing"}': 2,
    'subscriptions{state="active"}': many - 2,
    all_subscription_lag: 4,
    'subscription_lags_bucket{le="0"}': many - 2,
    subscription_lags_count: many,
    'poll_age_seconds_bucket{le="1800"}': many - 3,
    poll_age_seconds_count: many,
  });
  expect(samples.get('all_oldest_filing_seconds{status="REJECTED"}')).toBeGreaterThan(86_400);
  expect(namesOf(samples, 'account_health')).toEqual(
    [0, 50, 100].map((i) => `account_health{account="${accountName(i)}",state="stale"}`),
  );
  const failing = [0, 100].map((i) => `{account="${accountName(i)}",subscription="sub_${i}"}`);
  expect(namesOf(samples, 'subscription_lag')).toEqual(failing.map((labels) => `subscription_lag${labels}`));
  expect(namesOf(samples, 'subscription_failing_seconds')).toEqual(
    failing.map((labels) => `subscription_failing_seconds${labels}`),
  );
  expect(namesOf(samples, 'last_complete_poll_timestamp_seconds')).toHaveLength(100);
  expect(namesOf(samples, 'oldest_filing_seconds')).toHaveLength(100);
  expect(namesOf(samples, 'filings')).toHaveLength(50);
});

test('what has changed shows at a later scrape, and an account that is gone does not', async () => {
  const { stores } = parts;
  await eventually('accounts{state="stale"}').toBe(3);
  const account = accountName(7);
  const { generation } = await stores.polling.read(account);
  await stores.polling.correct(account, generation, { authFailed: true });
  await eventually('accounts{state="auth_failed"}').toBe(1);
  expect(await sample(`account_health{account="${account}",state="auth_failed"}`)).toBe(1);
  await storedIn(parts, 7).of('sub_7').setState({ parked: 40 });
  await eventually('all_subscription_lag').toBe(44);
  await stores.accounts.remove(account);
  await eventually('all_subscription_lag').toBe(4);
  const samples = await scrape();
  expect([...samples.keys()].filter((name) => name.includes(account))).toEqual([]);
  expect(samples.get('accounts{state="auth_failed"}')).toBe(0);
});

test('the first end of a certificate is shown of the accounts that use any, and over all', async () => {
  expect(await sample('all_certificate_end_timestamp_seconds')).toBeNaN();
  for (const i of [11, 12]) {
    const [later, first] = [3_000_000_000_000 + i, 2_000_000_000_000 + i * 1_000];
    await storedIn(parts, i).addCertificates({ [`sub_${i} ca`]: later, [`sub_${i} cert`]: first });
  }
  await eventually('all_certificate_end_timestamp_seconds').toBe(2_000_000_011);
  const samples = await scrape();
  expect(namesOf(samples, 'certificate_end_timestamp_seconds').map((name) => samples.get(name))).toEqual([
    2_000_000_011, 2_000_000_012,
  ]);
  for (const i of [11, 12]) await storedIn(parts, i).dropCertificates();
  await eventually('all_certificate_end_timestamp_seconds').toBeNaN();
});

test('METRICS_PER_ACCOUNT=true names every account at any number', async () => {
  await using product = await createProduct({ ...config, metricsPerAccount: 'true' }, {});
  const all = scraperOf(product.parts);
  await expect.poll(async () => (await all()).get('series_per_account')).toBe(1);
  const samples = await all();
  const accounts = samples.get('poll_age_seconds_count');
  expect(namesOf(samples, 'subscription_lag')).toHaveLength(accounts ?? 0);
  expect(namesOf(samples, 'account_health')).toHaveLength(6 * (accounts ?? 0));
});

test('METRICS_PER_ACCOUNT=false names the worst of a few accounts, which are read before the scrape', async () => {
  await using own = await createProduct(
    { ...testConfig(`${redis.prefix}-few`, redis.url), metricsPerAccount: 'false' },
    {},
  );
  await writeAccounts(own.parts, 2);
  const samples = await scraperOf(own.parts)();
  expect(samples.get('series_per_account')).toBe(0);
  expect(namesOf(samples, 'account_health')).toEqual([
    `account_health{account="${accountName(0)}",state="stale"}`,
  ]);
  await own.parts.stores.accounts.remove(accountName(0));
  await own.parts.stores.accounts.remove(accountName(1));
});

test('a scrape waits for a short round over the accounts only, and one round serves all who ask', async () => {
  const { promptStores: stores, connections } = parts;
  const held: PromiseWithResolvers<void>[] = [];
  const refresh = createGauges({
    ...parts,
    ...stores,
    reads: createSubscriptionReads(connections.failFast(), parts.keys, parts.sealer),
    perAccount: 'auto',
    requestsInTurn: () => 0,
    now: Date.now,
    accounts: {
      async slice() {
        const round = Promise.withResolvers<void>();
        held.push(round);
        await round.promise;
        return { accounts: [], leaving: [], unreadable: 0, next: '0' };
      },
    },
  });
  parts.metrics.accounts.reset();
  const begunAt = performance.now();
  await Promise.all([refresh(), refresh()]);
  expect(performance.now() - begunAt).toBeGreaterThan(1_900);
  expect(held).toHaveLength(1);
  const { values } = await parts.metrics.accounts.get();
  expect(values).toEqual([]);
  const age = await parts.metrics.gaugesAge.get();
  expect(age.values[0]?.value).toBeGreaterThan(1.9);
  held[0]?.resolve();
  await expect.poll(async () => (await parts.metrics.accounts.get()).values).not.toEqual([]);
  // The round rests for four times as long as it took, and a scrape shows what it has found.
  await refresh();
  expect(held).toHaveLength(1);
});

test('a key of one account that cannot be read stops the gauges of no other', async () => {
  await using own = await createProduct(testConfig(`${redis.prefix}-unreadable`, redis.url), {});
  const { stores, keys, redis: client } = own.parts;
  const stored = storedRecords(client, keys);
  await writeAccounts(own.parts, 2);
  const { beforeScrape } = createProbes(own.parts);
  await stored.of(accountName(0)).spoilSubscriptions();
  await stored.spoilPollTimes();
  await expect(beforeScrape()).resolves.toBeUndefined();
  const samples = await scraperOf(own.parts)();
  expect(namesOf(samples, 'last_complete_poll_timestamp_seconds')).toHaveLength(2);
  await stored.dropPollTimes();
  for (const i of [0, 1]) await stores.accounts.remove(accountName(i));
});
