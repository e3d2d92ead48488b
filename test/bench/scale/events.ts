import { startPartnerProcess } from '../support/partner-process.ts';
import { fillLog } from '../support/delivery-rig.ts';
import { costOfPolls, quickPollMs } from './polled.ts';
import { accountName, addAccounts, addSubscriptions, untilBaselined } from './prepare.ts';
import { latency, timeMetrics, timePage } from './probes.ts';
import { record, sizesOf } from './results.ts';
import { startStage } from './stage.ts';

const filings = 10;
const account = accountName(0);
// Makes bodies of about 500 bytes.
const notesBytes = 1;
const chunk = 10_000;

/**
 * A longer and longer log of one account, in a Redis without persistence. Ten million by `BENCH_SIZES` only.
 */
export async function measure(): Promise<void> {
  await using stage = await startStage('in memory');
  await using partner = await startPartnerProcess(filings, filings);
  await using daemon = await stage.startDaemon();
  await addAccounts(stage, { from: 0, to: 1, baseUrl: partner.baseUrl, pollIntervalMs: quickPollMs });
  await untilBaselined(stage, 1);
  const { redis, keys } = stage.parts;
  const empty = await stage.redisBytes();
  let from = 0;
  for (const events of sizesOf([10_000, 100_000, 1_000_000])) {
    // oxlint-disable no-await-in-loop
    for (let at = from; at < events; at += chunk)
      await fillLog(redis, keys.account(account), account, chunk, notesBytes);
    const bytes = (await stage.redisBytes()) - empty;
    const cost = await costOfPolls(stage, daemon);
    const url = `${stage.receiver.url}/${events}`;
    await addSubscriptions(stage, 0, 1, () => ({ account, url, matching: true }));
    const late = await latency(stage, account);
    const first = await timePage(daemon, `/v1/accounts/${account}/events?limit=100`);
    const typed = await timePage(daemon, `/v1/accounts/${account}/events?limit=100&types=filing.rejected`);
    const metrics = await timeMetrics(daemon);
    // oxlint-enable no-await-in-loop
    await record('events', {
      events,
      'Redis MiB': bytes / 2 ** 20,
      'Redis bytes an event': bytes / events,
      'daemon CPU ms a second': cost.daemonMs,
      'Redis CPU ms a second': cost.redisMs,
      'delivery p50 ms': late.p50,
      'page of 100 ms': first.ms,
      'page of a type that none has ms': typed.ms,
      '/metrics ms': metrics.metricsMs,
    });
    from = events;
  }
}
