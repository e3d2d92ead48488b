import { encodeState, type FilingState } from '../../../src/filings/detection/filing-state.ts';
import type { FilingCommit } from '../../../src/filings/detection/decide-commit.ts';
import { startPartnerProcess } from '../support/partner-process.ts';
import { costOfPolls, quickPollMs } from './polled.ts';
import { accountName, addAccounts } from './prepare.ts';
import { timeMetrics, timePage } from './probes.ts';
import { record, sizesOf } from './results.ts';
import { startStage, type Stage } from './stage.ts';

const account = accountName(0);
const unsettled = 300;
const fieldsAtOnce = 1_000;
const pipelines = 4;

/**
 * One account with more and more filings, three hundred of them unsettled, in a Redis without persistence.
 * Each size has a store and a partner service of its own. Ten million by `BENCH_SIZES` only.
 */
export async function measure(): Promise<void> {
  // One after the other: they would disturb each other.
  // oxlint-disable-next-line no-await-in-loop
  for (const filings of sizesOf([10_000, 100_000, 1_000_000])) await measureOne(filings);
}

async function measureOne(filings: number): Promise<void> {
  await using stage = await startStage('in memory');
  await using partner = await startPartnerProcess(filings, unsettled);
  const empty = await stage.redisBytes();
  await addAccounts(stage, { from: 0, to: 1, baseUrl: partner.baseUrl, pollIntervalMs: quickPollMs });
  await fill(stage, filings);
  const bytes = (await stage.redisBytes()) - empty;
  await using daemon = await stage.startDaemon({ PARTNER_MAX_RPS: '1000' });
  await costOfPolls(stage, daemon);
  const cost = await costOfPolls(stage, daemon);
  const base = `/v1/accounts/${account}`;
  const page = await timePage(daemon, `${base}/filings?status=PENDING&limit=100`);
  const newest = await timePage(daemon, `${base}/filings?status=PENDING&order=newest&limit=100`);
  const completed = await timePage(daemon, `${base}/filings?status=COMPLETED&limit=100`);
  const own = await timePage(daemon, base);
  const metrics = await timeMetrics(daemon);
  await record('filings', {
    filings,
    'Redis MiB': bytes / 2 ** 20,
    'Redis bytes a filing': bytes / filings,
    'daemon CPU ms a second': cost.daemonMs,
    'Redis CPU ms a second': cost.redisMs,
    'PENDING page ms': page.ms,
    'newest page ms': newest.ms,
    'COMPLETED page ms': completed.ms,
    'account ms': own.ms,
    '/metrics ms': metrics.metricsMs,
  });
}

// As a baseline leaves it. What is not COMPLETED goes through the store; the rest, which has neither an index
// nor details, straight into the hash, as commit-changes.lua writes it.
async function fill({ parts }: Stage, filings: number): Promise<void> {
  const { redis, keys, stores } = parts;
  const { incarnation = '' } = (await stores.accounts.get(account)) ?? {};
  const { generation } = await stores.polling.begin(account, incarnation);
  const at = Date.now();
  const numbers = { commits: [] as FilingCommit[], completed: 0 };
  const workers: Promise<unknown>[] = [];
  let fields: string[] = [];
  for (let number = 0; number < filings; number += 1) {
    const next = stateOf(number, at);
    if (next.status === 'COMPLETED') {
      fields.push(idOf(number), encodeState(next));
      numbers.completed += 1;
    } else numbers.commits.push({ id: idOf(number), previous: null, next, details: null, event: null });
    if (fields.length < 2 * fieldsAtOnce && number + 1 < filings) continue;
    if (fields.length > 0) workers.push(redis.hset(keys.account(account).filings, ...fields));
    fields = [];
    // oxlint-disable-next-line no-await-in-loop
    if (workers.length >= pipelines) await workers.shift();
  }
  await Promise.all(workers);
  await stores.snapshot.commit(account, generation, numbers.commits, at);
  await redis.hincrby(keys.account(account).counts, 'COMPLETED', numbers.completed);
  const now = Date.now();
  const marks = {
    baselinedAt: now,
    lastPollAt: now,
    lastCompletePollAt: now,
    lastSweepAt: now,
    sweepTriedAt: now,
  };
  const seen = { unsettledSeenAt: now, allSeenAt: now, bornSeenAt: now, countedAt: now };
  await stores.polling.write(account, generation, { baselined: true, ...marks, ...seen }, 0);
}

// The filings of test/bench/support/partner-book.ts.
function idOf(number: number): string {
  return `5f0c9d3a-7b1e-4c55-9a60-${number.toString(16).padStart(12, '0')}`;
}

function stateOf(number: number, at: number): FilingState {
  const status =
    number < unsettled
      ? (['UNPAID', 'PAID', 'PENDING'][number % 3] ?? '')
      : number % 20 === 0
        ? 'REJECTED'
        : 'COMPLETED';
  return {
    status,
    completedAt: status === 'COMPLETED' ? new Date(1.75e12 + number * 1_000).toISOString() : null,
    rejectionReason: status === 'REJECTED' ? 'Affidavit is not signed' : null,
    sequence: 0,
    since: at,
    readFrom: at,
    readAt: at,
    removed: false,
  };
}
