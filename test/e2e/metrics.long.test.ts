import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startCollector } from '../support/receivers/collector.ts';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { startPrivateRedis, testRedis } from '../support/redis/test-redis.ts';
import { startSandbox, type TestSandbox } from '../support/partner/sandbox.ts';

const redis = testRedis();
let sandbox: TestSandbox;
let daemon: DaemonProcess;

beforeAll(async () => {
  sandbox = await startSandbox();
  await sandbox.seed(20);
  await sandbox.set('f_1', { status: 'PENDING' });
  daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    PARTNER_MAX_RPS: '1000',
  });
  await expectSample(daemon, 'filing_webhooks_account_health{account="default",state="ok"}', 1);
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await redis.cleanup();
});

async function scrape({ url }: Pick<DaemonProcess, 'url'>): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

/** Waits until a sample has a value. */
async function expectSample(of: Pick<DaemonProcess, 'url'>, name: string, value: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const found = (await scrape(of)).get(name);
      if (found !== value) throw new Error(`${name} is ${String(found)}`);
    },
    { timeout: 15_000, interval: 100 },
  );
}

test('every metric is there after a change was delivered', async () => {
  await using collector = await startCollector();
  const path = '/v1/accounts/default/subscriptions';
  const { id } = await daemon.api.ok<{ id: string }>('POST', path, {
    url: collector.url,
    secret: collector.secret,
  });
  await sandbox.set('f_1', { status: 'REJECTED' });
  await expectSample(daemon, 'filing_webhooks_deliveries_total{outcome="delivered"}', 1);
  let samples = await scrape(daemon);
  // The callback may arrive before the poll that found the change has ended, and what is counted after it.
  await vi.waitFor(async () => {
    samples = await scrape(daemon);
    expect(Object.fromEntries(samples)).toMatchObject({
      'filing_webhooks_events_total{type="filing.rejected"}': 1,
      'filing_webhooks_events_total{type="filing.paid"}': 0,
      'filing_webhooks_filing_events_total{account="default",status="REJECTED"}': 1,
      'filing_webhooks_filing_events_total{account="default",status="PENDING"}': 0,
      'filing_webhooks_oldest_filing_seconds{account="default",status="REJECTED"}': expect.any(
        Number,
      ) as number,
      'filing_webhooks_deliveries_total{outcome="timeout"}': 0,
      filing_webhooks_delivery_duration_seconds_count: 1,
      filing_webhooks_detect_to_delivery_seconds_count: 1,
      [`filing_webhooks_subscription_lag{account="default",subscription="${id}"}`]: 0,
      'filing_webhooks_subscriptions{state="active"}': 1,
      'filing_webhooks_subscriptions{state="failing"}': 0,
      'filing_webhooks_subscriptions{state="disabled"}': 0,
      filing_webhooks_dead_letters_total: 0,
      filing_webhooks_ready: 1,
      filing_webhooks_redis_safe: 1,
      filing_webhooks_store_emptied: 0,
      'filing_webhooks_filings{account="default",status="REJECTED"}': expect.any(Number) as number,
      'filing_webhooks_last_complete_poll_timestamp_seconds{account="default"}': expect.any(Number) as number,
      'filing_webhooks_partner_requests_total{endpoint="filings",code="200"}': expect.any(Number) as number,
      process_cpu_seconds_total: expect.any(Number) as number,
    });
  });
  const poll = [...samples.keys()].filter((name) =>
    name.startsWith('filing_webhooks_poll_duration_seconds_count'),
  );
  expect(poll.every((name) => /\{mode="(?:delta|sweep|none)",outcome="\w+"\}$/.test(name))).toBe(true);
  expect(poll).not.toEqual([]);
});

test('the series of an account go with it, so that no alert about it stays', async () => {
  const { origin } = new URL(sandbox.baseUrl);
  await daemon.api.ok('PUT', '/v1/accounts/gone', { baseUrl: `${origin}/v1`, partnerKey: 'wrong-key' });
  await expectSample(daemon, 'filing_webhooks_account_health{account="gone",state="auth_failed"}', 1);
  await daemon.api.ok('DELETE', '/v1/accounts/gone');
  const left = async () =>
    [...(await scrape(daemon)).keys()].filter(
      (name) => name.includes('account="gone"') && !name.includes('quarantined'),
    );
  await expect.poll(left).toEqual([]);
});

test('a process that only serves the API knows the accounts that others poll', async () => {
  await using other = await startDaemonProcess({
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    ROLES: 'api',
  });
  const name = 'filing_webhooks_filings{account="default",status="COMPLETED"}';
  await expectSample(other, name, (await scrape(daemon)).get(name) ?? NaN);
  await expectSample(other, 'filing_webhooks_account_health{account="default",state="ok"}', 1);
});

test('an unsafe and an emptied Redis, and one that is away, show in the metrics', async () => {
  await using own = await startPrivateRedis({ args: ['--appendonly', 'no'] });
  await using unsafe = await startDaemonProcess({ REDIS_URL: own.url, REDIS_UNSAFE: 'true' });
  await expectSample(unsafe, 'filing_webhooks_redis_safe', 0);
  await expectSample(unsafe, 'filing_webhooks_ready', 1);
  await own.kill();
  await own.restart();
  await expectSample(unsafe, 'filing_webhooks_store_emptied', 1);
  await own.kill();
  await expectSample(unsafe, 'filing_webhooks_ready', 0);
}, 60_000);

test('commits that no replica has show in the metrics and the log where one is to be waited for', async () => {
  await using own = await startPrivateRedis();
  await using waiting = await startDaemonProcess({ REDIS_URL: own.url, REDIS_WAIT_REPLICAS: '1' });
  const settings = { baseUrl: sandbox.baseUrl, partnerKey: 'sandbox-key', pollIntervalMs: 3_600_000 };
  await waiting.api.ok('PUT', '/v1/accounts/a', settings);
  const samples = await scrape(waiting);
  expect(samples.get('filing_webhooks_unreplicated_commits_total')).toBeGreaterThan(0);
  const missing = expect.objectContaining({ msg: 'redis.replicas_missing', wanted: 1, acknowledged: 0 });
  // A log line may arrive after the answer.
  await vi.waitFor(() => expect(waiting.logs).toContainEqual(missing));
});

test('the counts of an account are noted while it is polled, and told', async () => {
  const path = '/v1/accounts/default/counts';
  const { items } = await daemon.api.ok<{ items: { at: string; counts: Record<string, number> }[] }>(
    'GET',
    path,
  );
  const noted = items.at(-1);
  expect(Date.now() - Date.parse(noted?.at ?? '')).toBeLessThan(600_000);
  expect(Object.keys(noted?.counts ?? {})).toEqual(['UNPAID', 'PAID', 'PENDING', 'COMPLETED', 'REJECTED']);
});
