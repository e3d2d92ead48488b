import { usageOf } from '../../support/daemon/process-usage.ts';
import { startPartnerProcess, type PartnerProcess } from '../support/partner-process.ts';
import {
  accountName,
  addAccounts,
  addSubscriptions,
  inTurns,
  quickPollMs,
  untilBaselined,
} from './prepare.ts';
import { spentOnPage } from './probes.ts';
import { record, sizesOf } from './results.ts';
import { eachOf, figures, spentIdle, spentOn } from './spent.ts';
import { startStage, type Stage, type StageDaemon } from './stage.ts';
import { untilDrained } from './wake.ts';

const filings = 300;
const account = accountName(0);
const base = `/v1/accounts/${account}`;
const seconds = 10;
const created = 50;
const changes = 5;
// Longer than the time in which the account's subscriptions are left alone after many were woken.
const quietSeconds = 8;

/**
 * More and more subscriptions of one account, of which one matches what changes: what the creation of one and
 * the idle ones cost, and what four events for the one cost in all, until nothing waits any more.
 */
export async function measure(): Promise<void> {
  await using stage = await startStage('in memory');
  await using partner = await startPartnerProcess(filings, filings);
  await using daemon = await stage.startDaemon();
  await addAccounts(stage, { from: 0, to: 1, baseUrl: partner.baseUrl, pollIntervalMs: quickPollMs });
  await untilBaselined(stage, 1);
  const empty = await stage.redisBytes();
  let from = 0;
  for (const subscriptions of sizesOf([100, 1_000, 10_000])) {
    const first = subscriptions - created;
    // oxlint-disable no-await-in-loop
    await addSubscriptions(stage, from, first, (number) => ({
      account,
      url: `${stage.receiver.url}/${number}`,
      matching: number === 0,
    }));
    const creation = await spentOn(stage, daemon, () => createSome(stage, daemon, first));
    const bytes = (await stage.redisBytes()) - empty;
    await untilDrained(stage, quietSeconds);
    const idle = await spentIdle(stage, daemon, seconds);
    const woken = await spentOn(stage, daemon, async () => {
      for (let i = 0; i < changes; i += 1) await changeOnce(stage, partner);
    });
    const page = await spentOnPage(stage, daemon, 'page of 100', `${base}/subscriptions?limit=100`, { idle });
    const own = await spentOnPage(stage, daemon, 'account', base, { idle });
    const { rssMiB } = await usageOf(daemon.pid);
    // oxlint-enable no-await-in-loop
    await record('subscriptions', {
      subscriptions,
      'Redis bytes each': bytes / subscriptions,
      ...figures('creation', eachOf(created, creation, idle)),
      'idle, a poll a second: daemon ms a second': idle.daemonMs / idle.seconds,
      'idle, a poll a second: Redis ms a second': idle.redisMs / idle.seconds,
      ...figures('poll with 4 changes for one subscription', eachOf(changes, woken, idle)),
      'longest command ms': Math.max(creation.longestMs, idle.longestMs, woken.longestMs),
      ...page,
      ...own,
      'daemon MiB': rssMiB,
    });
    from = subscriptions;
  }
}

async function changeOnce(stage: Stage, partner: PartnerProcess): Promise<void> {
  await partner.change();
  await untilDrained(stage, quietSeconds);
}

async function createSome(stage: Stage, { api }: StageDaemon, first: number): Promise<void> {
  await inTurns(first, first + created, async (i) => {
    const url = `${stage.receiver.url}/${i}`;
    await api.ok('POST', `${base}/subscriptions`, { url, eventTypes: ['filing.removed'] });
  });
}
