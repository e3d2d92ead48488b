import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '../support/daemon/process-usage.ts';
import {
  createAccounts,
  mostInASecond,
  startPollers,
  startSharedHost,
} from '../support/partner/shared-host.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { print } from './support/statistics.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 20);

/**
 * One budget for one host (`PARTNER_TOTAL_RPS`) that binds: the share of it that is used, the most requests
 * that arrive in any second, and how evenly the accounts come by it. `BENCH_SECONDS` makes it shorter.
 */
export async function run(): Promise<void> {
  for (const [totalRps, processes] of [
    [20, 1],
    [20, 4],
    [200, 4],
  ] as const)
    // One after the other: they would disturb each other.
    await measure(totalRps, processes);
}

async function measure(totalRps: number, processes: number): Promise<void> {
  const accounts = Array.from({ length: 20 }, (_, i) => `account-${i}`);
  await using redis = await startPrivateRedis('everysec');
  await using host = await startSharedHost(Object.fromEntries(accounts.map((name) => [name, 20])));
  const environment = { PARTNER_TOTAL_RPS: String(totalRps), LOG_LEVEL: 'warn' };
  const daemons = await startPollers({ ...redis, prefix: 'bench' }, processes, environment);
  await using stack = new AsyncDisposableStack();
  for (const daemon of daemons) stack.use(daemon);
  const [first] = daemons;
  if (first === undefined) throw new Error('no daemon');
  // Four times as many polls as there are turns.
  const intervalMs = Math.max(10, Math.floor((accounts.length * 1_000) / (4 * totalRps)));
  await createAccounts(first, host, accounts, intervalMs);
  await sleep(5_000);
  const from = host.arrivals.length;
  const before = await Promise.all(daemons.map(({ pid }) => usageOf(pid)));
  const since = performance.now();
  await sleep(seconds * 1_000);
  const took = (performance.now() - since) / 1_000;
  const after = await Promise.all(daemons.map(({ pid }) => usageOf(pid)));
  const during = host.arrivals.slice(from);
  const counts = accounts.map((name) => during.filter(({ account }) => account === name).length);
  const cpu = after.reduce((sum, { cpuSeconds }, i) => sum + cpuSeconds - (before[i]?.cpuSeconds ?? 0), 0);
  print(`${totalRps} a second, ${processes} processes`, {
    'share of the budget': during.length / took / totalRps,
    'most in any second': mostInASecond(during.map(({ at }) => at)),
    'fewest of an account': Math.min(...counts),
    'most of an account': Math.max(...counts),
    'cores of the daemons': cpu / took,
  });
}
