import { startPartnerProcess } from '../support/partner-process.ts';
import { costOfPolls, quickPollMs } from './polled.ts';
import { accountName, addAccounts, addSubscriptions, untilBaselined } from './prepare.ts';
import { latency, timeMetrics, timePage } from './probes.ts';
import { record, sizesOf } from './results.ts';
import { startStage } from './stage.ts';

const filings = 10;
const account = accountName(0);

/**
 * More and more subscriptions of one account, of which one matches what changes: what the idle ones cost, and
 * how much later the one is called.
 */
export async function measure(): Promise<void> {
  await using stage = await startStage('everysec');
  await using partner = await startPartnerProcess(filings, filings);
  await using daemon = await stage.startDaemon();
  await addAccounts(stage, { from: 0, to: 1, baseUrl: partner.baseUrl, pollIntervalMs: quickPollMs });
  await untilBaselined(stage, 1);
  const empty = await stage.redisBytes();
  let from = 0;
  for (const subscriptions of sizesOf([100, 1_000, 10_000])) {
    // oxlint-disable no-await-in-loop
    const startedAt = performance.now();
    await addSubscriptions(stage, from, subscriptions, (number) => ({
      account,
      url: `${stage.receiver.url}/${number}`,
      matching: number === 0,
    }));
    const createMs = (performance.now() - startedAt) / (subscriptions - from);
    const bytes = (await stage.redisBytes()) - empty;
    const cost = await costOfPolls(stage, daemon);
    const late = await latency(stage, account);
    const page = await timePage(daemon, `/v1/accounts/${account}/subscriptions?limit=100`);
    const own = await timePage(daemon, `/v1/accounts/${account}`);
    const metrics = await timeMetrics(daemon);
    // oxlint-enable no-await-in-loop
    await record('subscriptions', {
      subscriptions,
      'Redis KiB each': bytes / subscriptions / 1_024,
      'store ms each': createMs,
      'daemon CPU ms a second': cost.daemonMs,
      'Redis CPU ms a second': cost.redisMs,
      'delivery p50 ms': late.p50,
      'delivery p99 ms': late.p99,
      'page of 100 ms': page.ms,
      'account ms': own.ms,
      '/metrics ms': metrics.metricsMs,
      series: metrics.series,
    });
    from = subscriptions;
  }
}
