import { setTimeout as sleep } from 'node:timers/promises';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { startSandbox } from '../support/partner/sandbox.ts';
import { benchSecret } from './support/delivery-rig.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startReceiverProcess } from './support/receiver-process.ts';
import { percentile, print } from './support/statistics.ts';

const rejections = 50;
const laterChanges = 2_000;
const repeats = 100;

/**
 * A page of fifty rejections with those who were notified of each, as the API answers it, while two thousand
 * later callbacks lie on top of theirs in each subscription's attempts; without a subscription, and with
 * twenty.
 */
export async function run(): Promise<void> {
  await measure(0);
  await measure(20);
}

async function measure(subscriptions: number): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using receiver = await startReceiverProcess();
  await using sandbox = await startSandbox();
  await setAll(sandbox.set, 'rejected', rejections, 'PENDING');
  await setAll(sandbox.set, 'other', laterChanges, 'UNPAID');
  await using daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    PARTNER_MAX_RPS: '1000',
    LOG_LEVEL: 'info',
  });
  await until(async () => (await account(daemon)).health.state === 'ok');
  for (let i = 0; i < subscriptions; i += 1) {
    const body = { url: `${receiver.url}/${i}`, secret: benchSecret };
    await daemon.api.ok('POST', '/v1/accounts/default/subscriptions', body);
  }
  // Later, an event cannot have been recorded before the subscriptions began.
  await sleep(11_000);
  await setAll(sandbox.set, 'rejected', rejections, 'REJECTED');
  await until(async () => (await account(daemon)).counts['REJECTED'] === rejections);
  await setAll(sandbox.set, 'other', laterChanges, 'PAID');
  await until(async () => (await account(daemon)).counts['PAID'] === laterChanges);
  await until(async () => (await lags(daemon)).every((lag) => lag === 0));
  const durations: number[] = [];
  let told = 0;
  for (let i = 0; i < repeats; i += 1) {
    const begun = performance.now();
    const page = await daemon.api.ok<{ items: { told: unknown[] }[] }>('GET', '/v1/rejections?limit=50');
    durations.push(performance.now() - begun);
    told = page.items.reduce((sum, item) => sum + item.told.length, 0);
  }
  print(`${rejections} rejections, ${subscriptions} subscriptions`, {
    told: String(told),
    'p50 ms': percentile(durations, 0.5),
    'p99 ms': percentile(durations, 0.99),
  });
}

type Set = (id: string, fields: Record<string, unknown>) => Promise<void>;

async function setAll(set: Set, name: string, count: number, status: string): Promise<void> {
  for (let i = 0; i < count; i += 1) await set(`${name}-${i}`, { status });
}

interface Account {
  readonly health: { readonly state: string };
  readonly counts: Readonly<Record<string, number>>;
}

const account = ({ api }: DaemonProcess) => api.ok<Account>('GET', '/v1/accounts/default');

async function lags({ api }: DaemonProcess): Promise<number[]> {
  const path = '/v1/accounts/default/subscriptions';
  const { items } = await api.ok<{ items: { lag: number }[] }>('GET', path);
  return items.map(({ lag }) => lag);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(100);
}
