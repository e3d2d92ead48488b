import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '../../support/daemon/process-usage.ts';
import { loadFilings } from '../support/load-filings.ts';
import { startPartnerProcess } from '../support/partner-process.ts';
import { accountName, addAccounts, inTurns } from './prepare.ts';
import { record, sizesOf } from './results.ts';
import { eachOf, figures, spentIdle, spentOn } from './spent.ts';
import { startStage } from './stage.ts';

const filings = 1_000;
const unsettled = 30;
const pollIntervalMs = 60_000;
const warmMs = 20_000;
const seconds = 30;
const swept = 10;

/**
 * More and more filings in accounts of a thousand each, polled every minute by one daemon, in a Redis without
 * persistence: what a filing, a poll and a sweep cost.
 */
export async function measure(): Promise<void> {
  await using stage = await startStage('in memory');
  await using partner = await startPartnerProcess(filings, unsettled);
  const empty = await stage.redisBytes();
  let from = 0;
  for (const all of sizesOf([100_000, 1_000_000, 10_000_000])) {
    const accounts = all / filings;
    // oxlint-disable no-await-in-loop
    await addAccounts(stage, { from, to: accounts, baseUrl: partner.baseUrl, pollIntervalMs });
    await inTurns(from, accounts, (i) =>
      loadFilings(stage.parts, { account: accountName(i), filings, unsettled }),
    );
    const bytes = (await stage.redisBytes()) - empty;
    await using daemon = await stage.startDaemon();
    const started = (await usageOf(daemon.pid)).cpuSeconds;
    const polled = () => daemon.metric('filing_webhooks_poll_duration_seconds_count');
    await sleep(warmMs);
    const before = await polled();
    const idle = await spentIdle(stage, daemon, seconds);
    const poll = eachOf((await polled()) - before, idle);
    const sweep = eachOf(swept, await spentOn(stage, daemon, () => sweepSome()), idle);
    const { rssMiB } = await usageOf(daemon.pid);
    // oxlint-enable no-await-in-loop
    await record('spread', {
      filings: all,
      accounts,
      'Redis MiB': bytes / 2 ** 20,
      'Redis bytes a filing': bytes / all,
      'start: daemon CPU s': started,
      'polls/s': idle.daemonMs / poll.daemonMs / idle.seconds,
      ...figures('poll', poll),
      ...figures('sweep of an account', sweep),
      'daemon MiB': rssMiB,
    });
    from = accounts;

    async function sweepSome(): Promise<void> {
      const { polling } = stage.parts.stores;
      for (let i = 0; i < swept; i += 1) {
        const account = accountName(i);
        const { lastSweepAt } = await polling.read(account);
        await daemon.api.ok('POST', `/v1/accounts/${account}/poll?mode=sweep`);
        while ((await polling.read(account)).lastSweepAt === lastSweepAt) await sleep(20);
      }
    }
  }
}
