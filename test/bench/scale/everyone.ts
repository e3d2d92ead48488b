import { setTimeout as sleep } from 'node:timers/promises';
import { startPartnerProcess } from '../support/partner-process.ts';
import { accountName, addAccounts, addSubscriptions, untilBaselined } from './prepare.ts';
import { latency, timeMetrics } from './probes.ts';
import { record, sizesOf } from './results.ts';
import { cpuOf, startStage } from './stage.ts';

const filings = 10;
// Polled once: the polls are the matter of `accounts`.
const pollIntervalMs = 3_600_000;
const seconds = 10;

/** An account and one subscription for each agency: what the subscriptions add. */
export async function measure(): Promise<void> {
  await using stage = await startStage('everysec');
  await using partner = await startPartnerProcess(filings, filings);
  await using daemon = await stage.startDaemon();
  let from = 0;
  for (const agencies of sizesOf([100, 1_000, 10_000])) {
    // oxlint-disable no-await-in-loop
    await addAccounts(stage, { from, to: agencies, baseUrl: partner.baseUrl, pollIntervalMs });
    await untilBaselined(stage, agencies);
    await sleep(1_000);
    const before = await stage.redisBytes();
    await addSubscriptions(stage, from, agencies, (number) => ({
      account: accountName(number),
      url: `${stage.receiver.url}/${number}`,
      matching: true,
    }));
    const bytes = (await stage.redisBytes()) - before;
    const used = await cpuOf({ daemon: daemon.pid, redis: stage.redis.pid }, () => sleep(seconds * 1_000));
    const late = await latency(stage, accountName(agencies - 1));
    const metrics = await timeMetrics(daemon);
    // oxlint-enable no-await-in-loop
    await record('everyone', {
      agencies,
      'Redis KiB a subscription': bytes / (agencies - from) / 1_024,
      'idle daemon %': (100 * used.daemon) / seconds,
      'idle Redis %': (100 * used.redis) / seconds,
      'delivery p50 ms': late.p50,
      'delivery p99 ms': late.p99,
      '/metrics ms': metrics.metricsMs,
      series: metrics.series,
    });
    from = agencies;
  }
}
