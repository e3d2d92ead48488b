import { setTimeout as sleep } from 'node:timers/promises';
import { createProbes } from '../../src/daemon/parts/api-deps.ts';
import { createProduct, testConfig } from '../support/daemon/product.ts';
import { accountName, writeAccounts } from './support/metrics-world.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { median, print } from './support/statistics.ts';

const accounts = Number(process.env['BENCH_ACCOUNTS'] ?? 10_000);
const scrapes = 20;
// Polls a second at one poll a minute each, and changes a second beside them.
const polls = accounts / 60;
const changes = 50;
const followedMs = 20_000;

/**
 * A scrape of a process beside 10 000 accounts (`BENCH_ACCOUNTS`) with a subscription each: the worst named,
 * then all of them; and the processor time of following what changes between scrapes, with accounts at rest,
 * with a poll of each a minute, and with fifty changes a second.
 */
export async function run(): Promise<void> {
  await using redis = await startPrivateRedis('in memory');
  const config = testConfig('bench', redis.url);
  await using product = await createProduct(config, {});
  await writeAccounts(product.parts, accounts);
  const { scrape, marks } = probesOf(product);
  await measureScrapes('the worst named', scrape, 120_000);
  await measureFollowing('at rest', () => undefined);
  await measureFollowing('a poll of each a minute', (n) => {
    for (let i = 0; i < polls / 10; i += 1) marks.polled(accountName(Math.floor(n * (polls / 10) + i) % accounts));
  });
  await measureFollowing('fifty changes a second', (n) => {
    for (let i = 0; i < changes / 10; i += 1) marks.changed(accountName((n * (changes / 10) + i) % accounts));
  });
  await using all = await createProduct({ ...config, metricsPerAccount: 'true' }, {});
  await measureScrapes('METRICS_PER_ACCOUNT=true', probesOf(all).scrape, 120_000);
}

function probesOf({ parts }: Awaited<ReturnType<typeof createProduct>>) {
  const { beforeScrape, metrics } = createProbes(parts);
  return {
    marks: parts.accountMarks,
    async scrape(): Promise<string> {
      await beforeScrape();
      return metrics.metrics();
    },
  };
}

async function measureScrapes(label: string, scrape: () => Promise<string>, waitMs: number): Promise<void> {
  const begun = performance.now();
  const before = process.cpuUsage();
  let text = await scrape();
  // A scrape does not wait for the first read of every account for longer than three seconds.
  while (!text.includes('filing_webhooks_accounts{') && performance.now() - begun < waitMs) {
    await sleep(200);
    text = await scrape();
  }
  const firstMs = performance.now() - begun;
  const first = process.cpuUsage(before);
  const durations: number[] = [];
  for (let i = 0; i < scrapes; i += 1) {
    // What was collected is shown again for a second.
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

// Nobody scrapes meanwhile: what is measured goes on between scrapes.
async function measureFollowing(label: string, tick: (n: number) => void): Promise<void> {
  const before = process.cpuUsage();
  const begun = performance.now();
  for (let n = 0; performance.now() - begun < followedMs; n += 1) {
    tick(n);
    await sleep(100);
  }
  const { user, system } = process.cpuUsage(before);
  print(`following, ${label}`, { 'CPU ms a second': (user + system) / (performance.now() - begun) });
}
