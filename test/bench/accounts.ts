import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { usageOf } from '../support/daemon/process-usage.ts';
import { startPartnerProcess } from './support/partner-process.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { print } from './support/statistics.ts';

const accounts = Number(process.env['BENCH_ACCOUNTS'] ?? 10_000);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 60);
const step = Math.min(1_000, accounts);
const filings = 10;
const pollIntervalMs = 60_000;
const limits = { 'CPU ms/s of an idle account': 0.15, 'bytes of an idle subscription': 2_048 };

/**
 * What accounts and subscriptions cost by their number: the creation of each thousand accounts of ten
 * filings, with a subscription and the first poll; then all of them idle, polled every minute; then memory.
 * `BENCH_ACCOUNTS` and `BENCH_SECONDS` make it smaller. Processor time is each process's own.
 */
export async function run(): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using partner = await startPartnerProcess(filings, filings);
  const client = new Redis(redis.url);
  const settings = { baseUrl: partner.baseUrl, partnerKey: 'k' };
  {
    await using daemon = await startDaemonProcess({ REDIS_URL: redis.url, POLL_INTERVAL_MS: '3600000' });
    for (let from = 0; from < accounts; from += step) await create(client, daemon, settings, from);
  }
  {
    // An interval of another length: all schedules are brought up to date at the start.
    const startedAt = performance.now();
    const env = { REDIS_URL: redis.url, POLL_INTERVAL_MS: String(pollIntervalMs), REJECTION_LOOK_MS: '0' };
    await using daemon = await startDaemonProcess(env);
    print(`start with ${accounts} accounts`, { ms: performance.now() - startedAt });
    await sleep(pollIntervalMs);
    await idle(client, daemon);
    await memory(client, daemon, settings);
  }
  print('limits', limits);
  client.disconnect();
}

async function create(client: Redis, daemon: DaemonProcess, settings: object, from: number): Promise<void> {
  const spent = await spentBy(client, daemon, async () => {
    for (let i = from; i < from + step; i += 1) {
      const account = `/v1/accounts/account-${i}`;
      await daemon.api.ok('PUT', account, settings);
      await daemon.api.ok('POST', `${account}/subscriptions`, { url: 'https://example.com/hook' });
    }
    // The first polls end, too.
    await untilIdle(client);
  });
  print(`accounts ${from} to ${from + step}, each`, {
    'daemon ms': (1_000 * spent.daemonSeconds) / step,
    'Redis ms': (1_000 * spent.redisSeconds) / step,
    commands: spent.commands / step,
    'KB to Redis': spent.bytes / step / 1_000,
    'wall ms': spent.ms / step,
  });
}

async function idle(client: Redis, daemon: DaemonProcess): Promise<void> {
  const spent = await spentBy(client, daemon, () => sleep(seconds * 1_000));
  const perAccount = 1_000 / accounts / (spent.ms / 1_000);
  print(`${accounts} accounts, polled a minute`, {
    'CPU ms/s of an account': spent.daemonSeconds * perAccount,
    "and Redis's": spent.redisSeconds * perAccount,
    'CPU %': (100 * spent.daemonSeconds) / (spent.ms / 1_000),
    'commands/s': spent.commands / (spent.ms / 1_000),
  });
}

// Subscriptions of one account, and the keys of one that is alone in its account.
async function memory(client: Redis, daemon: DaemonProcess, settings: object): Promise<void> {
  await daemon.api.ok('PUT', '/v1/accounts/many', settings);
  const before = await usedMemory(client);
  for (let i = 0; i < step; i += 1)
    await daemon.api.ok('POST', '/v1/accounts/many/subscriptions', { url: 'https://example.com/hook' });
  const used = (await usedMemory(client)) - before;
  print(`${step} subscriptions in one account`, { 'bytes each': used / step });
  for (const account of ['many', 'account-0']) {
    const keys = await client.keys(`fw:{${account}}:*`);
    const ofDelivery = keys.filter((key) => /:(sub:.*|subscriptions|order|lagging)$/.test(key));
    const others = keys.filter((key) => !ofDelivery.includes(key));
    const subscriptions = await client.hlen(`fw:{${account}}:subscriptions`);
    print(`keys of ${account}`, {
      subscriptions,
      'bytes a subscription': (await memoryOf(client, ofDelivery)) / subscriptions,
      'bytes of the account besides': await memoryOf(client, others),
    });
  }
}

async function memoryOf(client: Redis, keys: readonly string[]): Promise<number> {
  let sum = 0;
  for (const key of keys) sum += (await client.memory('USAGE', key, 'SAMPLES', 0)) ?? 0;
  return sum;
}

interface Spent {
  readonly ms: number;
  readonly daemonSeconds: number;
  readonly redisSeconds: number;
  readonly commands: number;
  readonly bytes: number;
}

async function spentBy(client: Redis, daemon: DaemonProcess, work: () => Promise<unknown>): Promise<Spent> {
  const read = async () => {
    const info = await client.info();
    const number = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
    return {
      ms: performance.now(),
      daemonSeconds: (await usageOf(daemon.pid)).cpuSeconds,
      redisSeconds: number('used_cpu_sys') + number('used_cpu_user'),
      commands: number('total_commands_processed'),
      bytes: number('total_net_input_bytes'),
    };
  };
  const before = await read();
  await work();
  const after = await read();
  return {
    ms: after.ms - before.ms,
    daemonSeconds: after.daemonSeconds - before.daemonSeconds,
    redisSeconds: after.redisSeconds - before.redisSeconds,
    commands: after.commands - before.commands,
    bytes: after.bytes - before.bytes,
  };
}

async function untilIdle(client: Redis): Promise<void> {
  for (;;) {
    const [waiting, active] = await Promise.all([
      client.llen('fw:{~queues}:poll:wait'),
      client.llen('fw:{~queues}:poll:active'),
    ]);
    if (waiting + active === 0) return;
    await sleep(50);
  }
}

async function usedMemory(client: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
}
