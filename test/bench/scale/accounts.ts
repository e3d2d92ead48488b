import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '../../support/daemon/process-usage.ts';
import { fillLog } from '../support/delivery-rig.ts';
import { startPartnerProcess } from '../support/partner-process.ts';
import { accountName, addAccounts, addSubscriptions, inTurns, untilBaselined } from './prepare.ts';
import { spentOnPage } from './probes.ts';
import { record, sizesOf } from './results.ts';
import { eachOf, figures, spentIdle, spentOn, type Spent } from './spent.ts';
import { startStage, type Stage, type StageDaemon } from './stage.ts';

const filings = 10;
const pollIntervalMs = 60_000;
const seconds = 30;
const created = 100;
const woken = 300;
const subscriptionBytesMax = 2_048;

/**
 * More and more accounts of ten filings with a subscription each, polled every minute by one daemon: what the
 * creation of one, an idle one, a callback of one, the start and the memory of a daemon cost. All but the last
 * hundred of each size are put into the stores directly; the daemon polls them all.
 */
export async function measure(): Promise<void> {
  await using stage = await startStage('in memory');
  await using partner = await startPartnerProcess(filings, filings);
  const empty = await stage.redisBytes();
  let [from, ofSubscriptions] = [0, 0];
  for (const accounts of sizesOf([1_000, 3_000, 10_000])) {
    await using daemon = await stage.startDaemon();
    const started = (await usageOf(daemon.pid)).cpuSeconds;
    const first = accounts - created;
    // oxlint-disable no-await-in-loop
    await addAccounts(stage, { from, to: first, baseUrl: partner.baseUrl, pollIntervalMs });
    await untilBaselined(stage, first);
    await sleep(5_000);
    const polled = () => daemon.metric('filing_webhooks_poll_duration_seconds_count');
    const before = await polled();
    const idle = await spentIdle(stage, daemon, seconds);
    const polls = (await polled()) - before;
    const creation = await spentOn(stage, daemon, () => createSome(stage, daemon, partner.baseUrl, first));
    const former = await stage.redisBytes();
    await addSubscriptions(stage, from, first, (number) => ({
      account: accountName(number),
      url: `${stage.receiver.url}/${number}`,
      matching: true,
    }));
    const bytesEach = ((await stage.redisBytes()) - former) / (first - from);
    ofSubscriptions += bytesEach * (accounts - from);
    const all = await stage.redisBytes();
    const wakes = await spentOn(stage, daemon, () => wakeSome(stage, first));
    const page = await spentOnPage(stage, daemon, 'page of 100', '/v1/accounts?limit=100', { idle });
    const { rssMiB } = await usageOf(daemon.pid);
    // oxlint-enable no-await-in-loop
    await record('accounts', {
      accounts,
      ...figures('creation and first poll', eachOf(created, creation, idle)),
      'polls/s': polls / seconds,
      ...figures('poll', eachOf(polls, idle)),
      ...perAccount(idle, first),
      ...figures('callback', eachOf(woken, wakes, idle)),
      'longest command ms': Math.max(idle.longestMs, creation.longestMs, wakes.longestMs),
      'start: daemon CPU s, with the accounts of the size before': started,
      ...page,
      'Redis KiB an account': (all - empty - ofSubscriptions) / accounts / 1_024,
      [`Redis bytes a subscription, at most ${subscriptionBytesMax}`]: bytesEach,
      'daemon MiB': rssMiB,
    });
    from = accounts;
  }
}

function perAccount({ daemonMs, redisMs }: Spent, accounts: number): Record<string, number> {
  const micros = 1_000 / seconds / accounts;
  return {
    'idle: daemon µs an account and second': daemonMs * micros,
    'idle: Redis µs an account and second': redisMs * micros,
  };
}

async function createSome(stage: Stage, { api }: StageDaemon, baseUrl: string, first: number): Promise<void> {
  await inTurns(first, first + created, async (i) => {
    const path = `/v1/accounts/${accountName(i)}`;
    await api.ok('PUT', path, { baseUrl, partnerKey: 'k', pollIntervalMs });
    await api.ok('POST', `${path}/subscriptions`, { url: `${stage.receiver.url}/${i}` });
  });
  await untilBaselined(stage, first + created, first);
}

// An event in each of some accounts, spread over all.
async function wakeSome({ parts, receiver }: Stage, accounts: number): Promise<void> {
  const { redis, keys, waker } = parts;
  await receiver.arrivals();
  await inTurns(0, woken, async (i) => {
    const account = accountName(Math.floor((i * accounts) / woken));
    await fillLog(redis, keys.account(account), account, 1);
    await waker.wake(account);
  });
  let missing = woken;
  while (missing > 0) {
    // oxlint-disable no-await-in-loop
    await sleep(50);
    missing -= (await receiver.arrivals()).length;
    // oxlint-enable no-await-in-loop
  }
}
