import { setTimeout as sleep } from 'node:timers/promises';
import { startPartnerProcess } from '../support/partner-process.ts';
import { median } from '../support/statistics.ts';
import { accountName, addAccounts, addSubscriptions, untilBaselined } from './prepare.ts';
import { latency, timeMetrics, timePage } from './probes.ts';
import { record, sizesOf } from './results.ts';
import { cpuOf, startStage, type StageDaemon } from './stage.ts';

const filings = 10;
const pollIntervalMs = 60_000;
const seconds = 20;
const created = 10;

/**
 * More and more accounts of ten filings, polled every minute by one daemon: what an idle one costs, what
 * creating one more takes, and the rest of what may depend on their number.
 */
export async function measure(): Promise<void> {
  await using stage = await startStage('everysec');
  await using partner = await startPartnerProcess(filings, filings);
  await using daemon = await stage.startDaemon();
  const empty = await stage.redisBytes();
  let from = 0;
  for (const accounts of sizesOf([100, 1_000, 10_000])) {
    // oxlint-disable no-await-in-loop
    await addAccounts(stage, { from, to: accounts, baseUrl: partner.baseUrl, pollIntervalMs });
    await untilBaselined(stage, accounts);
    const bytes = (await stage.redisBytes()) - empty;
    await sleep(2_000);
    const polled = () => daemon.metric('filing_webhooks_poll_duration_seconds_count');
    const before = await polled();
    const used = await cpuOf({ daemon: daemon.pid, redis: stage.redis.pid }, () => sleep(seconds * 1_000));
    const polls = (await polled()) - before;
    const page = await timePage(daemon, '/v1/accounts?limit=100');
    const last = await timePage(daemon, `/v1/accounts/${accountName(accounts - 1)}`);
    const metrics = await timeMetrics(daemon);
    const url = `${stage.receiver.url}/${accounts}`;
    const account = accountName(accounts - 1);
    await addSubscriptions(stage, 0, 1, () => ({ account, url, matching: true }));
    const late = await latency(stage, account);
    const createMs = await timeCreation(daemon, partner.baseUrl, accounts);
    // oxlint-enable no-await-in-loop
    await record('accounts', {
      accounts,
      'polls/s': polls / seconds,
      'daemon ms a poll': (used.daemon * 1_000) / polls,
      'Redis ms a poll': (used.redis * 1_000) / polls,
      'daemon CPU µs an account and second': (used.daemon * 1e6) / seconds / accounts,
      'Redis CPU µs an account and second': (used.redis * 1e6) / seconds / accounts,
      'Redis KiB an account': bytes / accounts / 1_024,
      'create ms': createMs,
      'page of 100 ms': page.ms,
      'one account ms': last.ms,
      '/metrics ms': metrics.metricsMs,
      series: metrics.series,
      'delivery p50 ms': late.p50,
    });
    from = accounts;
  }
}

// Removed again, so that the number stays.
async function timeCreation({ api }: StageDaemon, baseUrl: string, accounts: number): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < created; i += 1) {
    const path = `/v1/accounts/new-${accounts}-${i}`;
    const startedAt = performance.now();
    // oxlint-disable no-await-in-loop
    await api.ok('PUT', path, { baseUrl, partnerKey: 'k', pollIntervalMs: 3_600_000 });
    took.push(performance.now() - startedAt);
    await api.ok('DELETE', path);
    // oxlint-enable no-await-in-loop
  }
  return median(took);
}
