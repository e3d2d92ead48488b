import { setTimeout as sleep } from 'node:timers/promises';
import { createProbes } from '../../src/daemon/parts/api-deps.ts';
import { createProduct, testConfig } from '../support/daemon/product.ts';
import { writeAccounts } from '../support/daemon/written-accounts.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { median, print } from './support/statistics.ts';

const accounts = Number(process.env['BENCH_ACCOUNTS'] ?? 10_000);
const scrapes = 20;
const firstMsMax = 120_000;

/**
 * A scrape of a process beside 10 000 accounts (`BENCH_ACCOUNTS`) with a subscription each: the worst named,
 * then all of them; and the processor time of a process that is scraped every fifteen seconds.
 */
export async function run(): Promise<void> {
  await using redis = await startPrivateRedis('in memory');
  const config = testConfig('bench', redis.url);
  await using product = await createProduct(config, {});
  await writeAccounts(product.parts, accounts);
  const scrape = scraperOf(product);
  await measureScrapes('the worst named', scrape, '0');
  await measureMinute(scrape);
  await using all = await createProduct({ ...config, metricsPerAccount: 'true' }, {});
  await measureScrapes('METRICS_PER_ACCOUNT=true', scraperOf(all), '1');
}

function scraperOf({ parts }: Awaited<ReturnType<typeof createProduct>>): () => Promise<string> {
  const { beforeScrape, metrics } = createProbes(parts);
  return async () => {
    await beforeScrape();
    return metrics.metrics();
  };
}

async function measureScrapes(label: string, scrape: () => Promise<string>, ready: string): Promise<void> {
  const begun = performance.now();
  const before = process.cpuUsage();
  let text = await scrape();
  // A scrape does not wait for the first round over the accounts for longer than two seconds.
  while (!text.includes(`filing_webhooks_series_per_account ${ready}\n`)) {
    if (performance.now() - begun > firstMsMax) throw new Error(`${label}: no round is over`);
    await sleep(200);
    text = await scrape();
  }
  const firstMs = performance.now() - begun;
  const first = process.cpuUsage(before);
  const durations: number[] = [];
  for (let i = 0; i < scrapes; i += 1) {
    await sleep(1_100);
    const at = performance.now();
    text = await scrape();
    durations.push(performance.now() - at);
  }
  const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  print(label, {
    series: String(series),
    'median ms': median(durations),
    'max ms': Math.max(...durations),
    'first s': firstMs / 1_000,
    'CPU s': (first.user + first.system) / 1e6,
  });
}

async function measureMinute(scrape: () => Promise<string>): Promise<void> {
  const before = process.cpuUsage();
  const begun = performance.now();
  for (let n = 0; n < 4; n += 1) {
    await scrape();
    await sleep(15_000);
  }
  const { user, system } = process.cpuUsage(before);
  print('a scrape every 15 s', { 'CPU ms a second': (user + system) / (performance.now() - begun) });
}
