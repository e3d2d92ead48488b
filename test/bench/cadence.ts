import { setTimeout as sleep } from 'node:timers/promises';
import { startPartnerProcess } from './support/partner-process.ts';
import { percentile, print } from './support/statistics.ts';
import { addAccounts, untilBaselined } from './scale/prepare.ts';
import { cpuOf, startStage } from './scale/stage.ts';

const accounts = Number(process.env['BENCH_ACCOUNTS'] ?? 10_000);
const filings = 10;
const pollIntervalMs = 30_000;
// Two whole intervals, so that each account has a gap.
const seconds = 75;

/**
 * How punctual one process polls ten thousand accounts of ten filings every thirty seconds, without looks;
 * `BENCH_ACCOUNTS` is another number of them.
 */
export async function run(): Promise<void> {
  await using stage = await startStage('everysec');
  await using partner = await startPartnerProcess(filings, 3);
  await addAccounts(stage, { from: 0, to: accounts, baseUrl: partner.baseUrl, pollIntervalMs });
  await using daemon = await stage.startDaemon({ REJECTION_LOOK_MS: '0', METRICS_PER_ACCOUNT: 'false' });
  const started = performance.now();
  await untilBaselined(stage, accounts);
  const baselineSeconds = (performance.now() - started) / 1_000;
  await sleep(pollIntervalMs);
  await partner.traffic();
  const pids = { daemon: daemon.pid, redis: stage.redis.pid, partner: partner.pid };
  const used: Record<string, number> = await cpuOf(pids, () => sleep(seconds * 1_000));
  const { polls } = await partner.traffic();
  const gaps = Object.values(polls).flatMap((starts) =>
    starts.slice(1).map((start, i) => start - (starts[i] ?? 0)),
  );
  print(`${accounts} accounts`, {
    'baseline of all s': baselineSeconds,
    polls: Object.values(polls).flat().length.toString(),
    'gap p50 s': percentile(gaps, 0.5) / 1_000,
    'p99 s': percentile(gaps, 0.99) / 1_000,
    'max s': Math.max(...gaps) / 1_000,
    'cores of the daemon': (used['daemon'] ?? 0) / seconds,
    'of Redis': (used['redis'] ?? 0) / seconds,
    'of the service': (used['partner'] ?? 0) / seconds,
  });
}
