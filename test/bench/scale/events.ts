import { usageOf } from '../../support/daemon/process-usage.ts';
import { fillLog } from '../support/delivery-rig.ts';
import { startPartnerProcess } from '../support/partner-process.ts';
import { longestOfBeginning, longestOfMetrics, longestOfReads } from './long-reads.ts';
import { accountName, addAccounts, addSubscriptions, untilBaselined, quickPollMs } from './prepare.ts';
import { spentOnPage } from './probes.ts';
import { record, sizesOf, type Row } from './results.ts';
import { eachOf, figures, longest, spentIdle, spentOn, type Spent } from './spent.ts';
import { startStage, untilFreed, type Stage, type StageDaemon } from './stage.ts';
import { deliverSome } from './wake.ts';

const filings = 10;
const account = accountName(0);
const base = `/v1/accounts/${account}`;
// Makes bodies of about 500 bytes.
const notesBytes = 1;
const chunk = 5_000;
const seconds = 10;
const trimmed = 1_000;
const delivered = 50;
// An event further back is found only with its filing.
const soughtMax = 400_000;

/**
 * A longer and longer log of one account, in a Redis without persistence: what an append, a poll, a callback,
 * pages, replays and the trim cost.
 */
export async function measure(): Promise<void> {
  await using stage = await startStage('in memory');
  await using partner = await startPartnerProcess(filings, filings);
  await addAccounts(stage, { from: 0, to: 1, baseUrl: partner.baseUrl, pollIntervalMs: quickPollMs });
  {
    await using daemon = await stage.startDaemon();
    void daemon;
    await untilBaselined(stage, 1);
  }
  const empty = await stage.redisBytes();
  let from = 0;
  const sizes = sizesOf([10_000, 100_000, 1_000_000, 10_000_000]);
  for (const events of sizes) {
    // oxlint-disable no-await-in-loop
    const filled = await spentOn(stage, null, () => fill(stage, events - from - chunk));
    const append = eachOf(chunk / 1_000, await spentOn(stage, null, () => fill(stage, chunk)));
    const bytes = (await stage.redisBytes()) - empty;
    await record('events', {
      events,
      'Redis MiB': bytes / 2 ** 20,
      'Redis bytes an event': bytes / events,
      'append of a thousand: Redis ms': append.redisMs,
      'append of two hundred: longest command ms': Math.max(filled.longestMs, append.longestMs),
      ...(await measureOne(stage, events)),
      ...(events === sizes.at(-1) ? await removal(stage) : {}),
    });
    // oxlint-enable no-await-in-loop
    from = events;
  }
}

async function fill({ parts: { redis, keys } }: Stage, events: number): Promise<void> {
  for (let left = events; left > 0; left -= chunk)
    // In the order of the log.
    await fillLog(redis, keys.account(account), account, Math.min(chunk, left), notesBytes);
}

async function measureOne(stage: Stage, events: number): Promise<Row> {
  await using daemon = await stage.startDaemon();
  const started = (await usageOf(daemon.pid)).cpuSeconds;
  const idle = await spentIdle(stage, daemon, seconds);
  const url = `${stage.receiver.url}/${events}`;
  const [id = ''] = await addSubscriptions(stage, 0, 1, () => ({ account, url, matching: true }));
  const callback = await spentOn(stage, daemon, () => deliverSome(stage, account, delivered));
  const replays = await spentOnReplays(stage, daemon, id);
  await daemon.api.ok('DELETE', `${base}/subscriptions/${id}`);
  const earliest = await longestOfBeginning(stage, daemon, account, 'earliest');
  const pages = { ...(await spentOnPages(stage, daemon)), ...(await longestOfMetrics(stage, daemon)) };
  const nothing = await spentOn(stage, null, () => stage.parts.stores.log.trim(account, 1));
  const trim = await spentOn(stage, null, () => trimSome(stage));
  return {
    'start: daemon CPU s': started,
    'idle, a poll a second: daemon ms a second': idle.daemonMs / idle.seconds,
    'idle, a poll a second: Redis ms a second': idle.redisMs / idle.seconds,
    ...figures('callback', eachOf(delivered, callback, idle)),
    ...longest('callback', callback),
    ...replays,
    'subscription from the earliest: longest command ms': earliest,
    ...pages,
    'trim of nothing: Redis ms': nothing.redisMs,
    'trim of a thousand: Redis ms': trim.redisMs,
    ...longest('trim', trim),
    'daemon MiB': (await usageOf(daemon.pid)).rssMiB,
  };
}

// Replays that select no or few events: what is counted at their beginning. The first one of a kind learns
// what the sections of the log hold.
async function spentOnReplays(stage: Stage, { pid, api }: StageDaemon, id: string): Promise<Row> {
  const begin = (request: object) =>
    spentOn(stage, { pid }, () => api.ok('POST', `${base}/subscriptions/${id}/replay`, request));
  const typed = { eventTypes: ['filing.rejected'] };
  const row = (name: string, spent: Spent) => ({
    [`${name}: daemon ms`]: spent.daemonMs,
    [`${name}: Redis ms`]: spent.redisMs,
    ...longest(name, spent),
  });
  return {
    ...row('replay of a type, first time', await begin(typed)),
    ...row('replay of a type', await begin(typed)),
    ...row('replay of a filing', await begin({ filingId: 'filing_00000042' })),
  };
}

async function spentOnPages(stage: Stage, daemon: StageDaemon): Promise<Row> {
  const { log } = stage.parts.stores;
  const { position: head } = await log.head(account);
  const [early] = await log.outlineAfter(account, Math.max(0, head - soughtMax), 1);
  const pages = {
    'oldest page': 'events?limit=100',
    'newest page': 'events?limit=100&order=newest',
    'page of a type that none has': 'events?limit=100&types=filing.rejected',
    'page of a filing': 'events?limit=100&filingId=filing_00000042',
    'early event by its id': `events/${early?.id}`,
  };
  let row: Row = {};
  for (const [name, path] of Object.entries(pages))
    // oxlint-disable-next-line no-await-in-loop
    row = { ...row, ...(await spentOnPage(stage, daemon, name, `${base}/${path}`)) };
  const reads = {
    'oldest first, page by page': { path: `${base}/events?limit=100`, as: 'pages' },
    'newest first, page by page': { path: `${base}/events?limit=100&order=newest`, as: 'pages' },
    'a type that none has, page by page': {
      path: `${base}/events?limit=100&types=filing.rejected`,
      as: 'pages',
    },
  } as const;
  return { ...row, ...(await longestOfReads(stage, daemon, reads)) };
}

// The last thing that is done with the account.
async function removal(stage: Stage): Promise<Row> {
  await using daemon = await stage.startDaemon();
  const spent = await spentOn(stage, daemon, async () => {
    await daemon.api.ok('DELETE', base);
    await untilFreed(stage, stage.parts.keys.account(account).events);
  });
  return { ...figures('removal', spent), ...longest('removal', spent) };
}

async function trimSome({ parts: { stores } }: Stage): Promise<void> {
  const outline = await stores.log.outlineAfter(account, 0, trimmed + 1);
  const gone = await stores.log.trim(account, outline.at(-1)?.recordedAt ?? 0);
  if (gone.removed === 0) throw new Error('nothing was trimmed');
}
