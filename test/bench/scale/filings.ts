import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '../../support/daemon/process-usage.ts';
import { loadFilings } from '../support/load-filings.ts';
import { startPartnerProcess, type PartnerProcess } from '../support/partner-process.ts';
import { longestOfBeginning, longestOfMetrics, longestOfReads } from './long-reads.ts';
import { accountName, addAccounts, quickPollMs } from './prepare.ts';
import { spentOnPage } from './probes.ts';
import { record, sizesOf, type Row } from './results.ts';
import { eachOf, figures, longest, spentIdle, spentOn, type Spent } from './spent.ts';
import { startStage, untilFreed, type Stage, type StageDaemon } from './stage.ts';

const account = accountName(0);
const base = `/v1/accounts/${account}`;
const unsettled = 300;
const seconds = 10;
const changes = 10;

/**
 * One account with more and more filings, three hundred of them unsettled, in a Redis without persistence:
 * what a poll, a change, a sweep, the lists and the removal of the account cost. Each size has a store and a
 * partner service of its own.
 */
export async function measure(): Promise<void> {
  // One after the other: they would disturb each other.
  // oxlint-disable-next-line no-await-in-loop
  for (const filings of sizesOf([10_000, 100_000, 1_000_000, 10_000_000])) await measureOne(filings);
}

async function measureOne(filings: number): Promise<void> {
  await using stage = await startStage('in memory');
  await using partner = await startPartnerProcess(filings, unsettled);
  const empty = await stage.redisBytes();
  await addAccounts(stage, { from: 0, to: 1, baseUrl: partner.baseUrl, pollIntervalMs: quickPollMs });
  await loadFilings(stage.parts, { account, filings, unsettled });
  const bytes = (await stage.redisBytes()) - empty;
  await using daemon = await stage.startDaemon({ PARTNER_MAX_RPS: '1000' });
  // The order of half a million rejections is made beside the first polls.
  await daemon.api.ok('GET', `${base}/filings?status=REJECTED&order=newest&limit=1`);
  // Warm from here on.
  await changeOften(partner);
  const changed = await spentOn(stage, daemon, () => changeOften(partner));
  await sleep(2 * quickPollMs);
  const polls = await countPolls(daemon);
  const idle = await spentIdle(stage, daemon, seconds);
  const poll = eachOf((await countPolls(daemon)) - polls, idle);
  const change = eachOf(changes, changed, idle);
  const swept = await sweep(stage, daemon, filings, idle);
  const lists = { ...(await spentOnLists(stage, daemon)), ...(await longestCommands(stage, daemon)) };
  const { rssMiB, peakMiB } = await usageOf(daemon.pid);
  const removal = await spentOn(stage, daemon, async () => {
    await daemon.api.ok('DELETE', base);
    await untilFreed(stage, stage.parts.keys.account(account).filings);
  });
  await record('filings', {
    filings,
    'Redis MiB': bytes / 2 ** 20,
    'Redis bytes a filing': bytes / filings,
    ...figures('poll', poll),
    ...figures('poll with 4 changes, more', change),
    ...longest('poll', idle),
    ...longest('poll with 4 changes', changed),
    ...swept,
    ...lists,
    ...figures('removal', removal),
    ...longest('removal', removal),
    'daemon MiB': rssMiB,
    'daemon MiB, most': peakMiB,
  });
}

function countPolls(daemon: StageDaemon): Promise<number> {
  return daemon.metric('filing_webhooks_poll_duration_seconds_count');
}

async function changeOften(partner: PartnerProcess): Promise<void> {
  for (let i = 0; i < changes; i += 1) {
    // oxlint-disable no-await-in-loop
    await partner.change();
    await sleep(1.5 * quickPollMs);
    // oxlint-enable no-await-in-loop
  }
}

async function sweep(stage: Stage, daemon: StageDaemon, filings: number, idle: Spent): Promise<Row> {
  const { polling } = stage.parts.stores;
  const sweptAt = async () => (await polling.read(account)).lastSweepAt;
  const spent = await spentOn(stage, daemon, async () => {
    const before = await sweptAt();
    await daemon.api.ok('POST', `${base}/poll?mode=sweep`);
    while ((await sweptAt()) === before) await sleep(100);
  });
  const each = eachOf(filings / 1_000, spent, idle);
  return {
    ...figures('sweep of a thousand', each),
    ...longest('sweep', spent),
    'sweep: seconds, beside other load': spent.seconds,
  };
}

async function longestCommands(stage: Stage, daemon: StageDaemon): Promise<Row> {
  const list = `${base}/filings?limit=100`;
  const reads = {
    'COMPLETED, page by page': { path: `${list}&status=COMPLETED`, as: 'pages' },
    'REJECTED, page by page': { path: `${list}&status=REJECTED&order=newest`, as: 'pages' },
    'search that finds many': { path: `${list}&q=bluebonnet`, as: 'pages' },
    'search that finds nothing': { path: `${list}&q=nowhere&status=REJECTED`, as: 'pages' },
    'board, page by page': { path: '/v1/rejections?limit=100', as: 'pages' },
    'table of COMPLETED': { path: `${list}&status=COMPLETED`, as: 'table' },
    'table of the board': { path: '/v1/rejections', as: 'table' },
  } as const;
  return {
    ...(await longestOfReads(stage, daemon, reads)),
    'subscription from the state: longest command ms': await longestOfBeginning(
      stage,
      daemon,
      account,
      'state',
    ),
    ...(await longestOfMetrics(stage, daemon)),
  };
}

async function spentOnLists(stage: Stage, daemon: StageDaemon): Promise<Row> {
  const lists = {
    'newest PENDING, first time': 'filings?status=PENDING&order=newest&limit=100',
    'PENDING page': 'filings?status=PENDING&limit=100',
    'newest PENDING': 'filings?status=PENDING&order=newest&limit=100',
    'newest REJECTED': 'filings?status=REJECTED&order=newest&limit=100',
    'COMPLETED page': 'filings?status=COMPLETED&limit=100',
    account: '',
  };
  let row: Row = {};
  for (const [name, path] of Object.entries(lists)) {
    const asked = name.endsWith('first time') ? 1 : 10;
    // oxlint-disable-next-line no-await-in-loop
    row = { ...row, ...(await spentOnPage(stage, daemon, name, `${base}${path && '/'}${path}`, { asked })) };
  }
  return row;
}
