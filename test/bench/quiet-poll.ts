import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { usageOf } from '../support/daemon/process-usage.ts';
import { startLeastPoller } from './support/least-poller-process.ts';
import { startPartnerProcess, type PartnerProcess } from './support/partner-process.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { redisCommands, redisMicros } from './support/processor-time.ts';
import { median, print } from './support/statistics.ts';

const filings = 10;
const accounts = 30;
const pollIntervalMs = 1_000;
const rounds = 3;
const seconds = Number(process.env['BENCH_SECONDS'] ?? 6);
const warmSeconds = Number(process.env['BENCH_WARM'] ?? 15);

/** A poller that runs. */
interface Poller extends AsyncDisposable {
  readonly pid: number;
}

/** Of one poll: processor time of the poller and of Redis, and the commands of Redis. */
interface Cost {
  readonly processMs: number;
  readonly redisMs: number;
  readonly commands: number;
}

/**
 * What a quiet poll costs: ten filings of which none has changed, polled by the daemon and by the least
 * poller that finds changes (a BullMQ job scheduler an account, one request, one `HMGET`), in turns, at the
 * same service and the same Redis. `BENCH_SECONDS` is the length of each turn (6), `BENCH_WARM` the seconds
 * before it (15): V8 compiles on for that long.
 */
export async function run(): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using partner = await startPartnerProcess(filings, 3);
  const costs: Record<'daemon' | 'least', Cost[]> = { daemon: [], least: [] };
  for (let round = 0; round < rounds; round += 1) {
    costs.least.push(await costOf(() => startLeast(redis.url, partner.baseUrl), redis.url, partner));
    costs.daemon.push(await costOf(() => startDaemon(redis.url, partner.baseUrl), redis.url, partner));
  }
  const [daemon, least] = [middle(costs.daemon), middle(costs.least)];
  for (const [label, cost] of Object.entries({ 'the daemon': daemon, 'the least poller': least }))
    print(label, {
      'process ms a poll': cost.processMs,
      'Redis ms a poll': cost.redisMs,
      'commands a poll': cost.commands,
    });
  const ratios = costs.daemon.map((cost, i) => sum(cost) / sum(costs.least[i] as Cost));
  print('ratio', { 'process and Redis': sum(daemon) / sum(least), 'in one round': median(ratios) });
}

async function startDaemon(redisUrl: string, baseUrl: string): Promise<Poller> {
  const daemon = await startDaemonProcess({
    REDIS_URL: redisUrl,
    POLL_INTERVAL_MS: String(pollIntervalMs),
    PARTNER_MAX_RPS: '100',
  });
  for (let i = 0; i < accounts; i += 1)
    // One after the other: a start is not what is measured.
    // oxlint-disable-next-line no-await-in-loop
    await daemon.api.ok('PUT', `/v1/accounts/account-${i}`, { baseUrl, partnerKey: `k-${i}` });
  return daemon;
}

function startLeast(redisUrl: string, baseUrl: string): Promise<Poller> {
  return startLeastPoller({ redisUrl, baseUrl, accounts, pollIntervalMs });
}

async function costOf(start: () => Promise<Poller>, url: string, partner: PartnerProcess): Promise<Cost> {
  await using poller = await start();
  await using stack = new AsyncDisposableStack();
  const redis = stack.adopt(new Redis(url), async (client) => void (await client.quit()));
  // First polls, and code that is not compiled yet.
  await sleep(warmSeconds * 1_000);
  await partner.traffic();
  const before = await spent(poller, redis);
  await sleep(seconds * 1_000);
  const { polls: byKey } = await partner.traffic();
  const after = await spent(poller, redis);
  const polls = Object.values(byKey).flat().length;
  return {
    processMs: (after.processMs - before.processMs) / polls,
    redisMs: (after.redisMs - before.redisMs) / polls,
    commands: (after.commands - before.commands) / polls,
  };
}

async function spent({ pid }: Poller, redis: Redis): Promise<Cost> {
  const commands = await redisCommands(redis);
  const redisMs = (await redisMicros(redis)) / 1_000;
  return { commands, redisMs, processMs: (await usageOf(pid)).cpuSeconds * 1_000 };
}

function sum({ processMs, redisMs }: Cost): number {
  return processMs + redisMs;
}

function middle(costs: readonly Cost[]): Cost {
  return {
    processMs: median(costs.map(({ processMs }) => processMs)),
    redisMs: median(costs.map(({ redisMs }) => redisMs)),
    commands: median(costs.map(({ commands }) => commands)),
  };
}
