import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { startSandbox, type TestSandbox } from '../support/partner/sandbox.ts';

interface AccountView {
  readonly updatedAt: string;
  readonly pollIntervalMs: number;
  readonly counts: Record<string, number>;
  readonly health: { readonly state: string };
  readonly requests: { readonly total: number };
}

let sandbox: TestSandbox;
const used: ReturnType<typeof testRedis>[] = [];

beforeAll(async () => {
  sandbox = await startSandbox();
  await sandbox.seed(7);
});

afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  for (const redis of used) await redis.cleanup();
});

/** The environment of a deployment of its own: with an account, and without one. */
function newDeployment() {
  const redis = testRedis();
  used.push(redis);
  const without = { REDIS_URL: redis.url, REDIS_PREFIX: redis.prefix, PARTNER_MAX_RPS: '1000' };
  const withAccount = { ...without, PARTNER_BASE_URL: sandbox.baseUrl, PARTNER_KEY: 'sandbox-key' };
  return { without, withAccount };
}

async function polled({ api }: DaemonProcess): Promise<AccountView> {
  return vi.waitFor(async () => {
    const account = await api.ok<AccountView>('GET', '/v1/accounts/default');
    expect(account.health.state).toBe('ok');
    return account;
  }, 10_000); // sooner than schedules that are missing are repaired
}

test('the account in the environment of a process that only serves the API is polled by one that already runs', async () => {
  const { without, withAccount } = newDeployment();
  await using poller = await startDaemonProcess({ ...without, ROLES: 'poll' });
  const environment = { ...withAccount, ROLES: 'api', POLL_INTERVAL_MS: '100' };
  await using first = await startDaemonProcess(environment);
  const { updatedAt, counts } = await polled(first);
  expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(7);

  // The same again, with another interval: what is there already stays as it is.
  await first.end('SIGTERM');
  const polls = () => poller.logs.filter(({ msg }) => msg === 'poll.completed').length;
  await using second = await startDaemonProcess({ ...environment, POLL_INTERVAL_MS: '86400000' });
  expect((await polled(second)).updatedAt).toBe(updatedAt);
  const before = polls();
  await vi.waitFor(() => expect(polls()).toBeGreaterThan(before + 2), 10_000);
});

test('a key that changes in the environment of any process is taken up', async () => {
  const { without, withAccount } = newDeployment();
  const api = { ...withAccount, ROLES: 'api' };
  await using poller = await startDaemonProcess({ ...without, ROLES: 'poll' });
  await using wrong = await startDaemonProcess({ ...api, PARTNER_KEY: 'no-such-key' });
  await vi.waitFor(async () => {
    const { health } = await wrong.api.ok<AccountView>('GET', '/v1/accounts/default');
    expect(health.state).toBe('auth_failed');
  }, 20_000);
  await wrong.end('SIGTERM');
  await using right = await startDaemonProcess(api);
  await polled(right);
  expect(poller.logs.map(({ msg }) => msg)).not.toContain('background.error');
});

test('processes that start at the same moment make one account of it', async () => {
  const { withAccount } = newDeployment();
  const daemons = await Promise.all([1, 2, 3].map(async () => startDaemonProcess(withAccount)));
  try {
    for (const daemon of daemons) await polled(daemon);
    const accounts = await daemons[0]?.api.ok<{ items: unknown[] }>('GET', '/v1/accounts');
    expect(accounts?.items).toHaveLength(1);
    const lines = daemons.flatMap(({ logs }) => logs.map(({ msg }) => msg));
    expect(lines).not.toContain('background.error');
    expect(lines).not.toContain('poll.failed');
  } finally {
    for (const daemon of daemons) await daemon[Symbol.asyncDispose]();
  }
});

/** The status that each of these paths answers. */
async function statuses(url: unknown, paths: readonly string[]): Promise<(readonly [string, number])[]> {
  return Promise.all(
    paths.map(async (path) => {
      const response = await fetch(new URL(path, String(url)));
      await response.body?.cancel();
      return [path, response.status] as const;
    }),
  );
}

const probes = ['/health/live', '/health/ready', '/metrics'];

test('a process without the API serves health and its own metrics where METRICS_PORT says, and nothing else', async () => {
  const { withAccount } = newDeployment();
  await using poller = await startDaemonProcess({ ...withAccount, ROLES: 'poll', METRICS_PORT: '0' });
  const { url, metricsUrl } = poller.logs.find(({ msg }) => msg === 'daemon.started') ?? {};
  expect(url).toBeNull();
  expect(await statuses(metricsUrl, probes)).toEqual(probes.map((path) => [path, 200]));
  const others = ['/', '/v1/accounts', '/docs/', '/openapi.json'];
  expect(await statuses(metricsUrl, others)).toEqual(others.map((path) => [path, 404]));
  await vi.waitFor(async () => {
    const text = await (await fetch(new URL('/metrics', String(metricsUrl)))).text();
    expect(text).toMatch(/^filing_webhooks_poll_duration_seconds_count\{.*outcome="complete"\} [1-9]/m);
    expect(text).toMatch(/^filing_webhooks_filings\{account="default",status="\w+"\} [1-9]/m);
    expect(text).toMatch(/^filing_webhooks_ready 1$/m);
  }, 10_000);
  expect(await poller.end('SIGTERM')).toBe(0);
});

test('METRICS_PORT beside the API: a port of its own, or the same one', async () => {
  const { without } = newDeployment();
  const ports = new Set<string>();
  {
    await using apart = await startDaemonProcess({ ...without, ROLES: 'api', METRICS_PORT: '0' });
    const { metricsUrl } = apart.logs.find(({ msg }) => msg === 'daemon.started') ?? {};
    for (const each of [apart.url, metricsUrl]) {
      expect(await statuses(each, probes)).toEqual(probes.map((path) => [path, 200]));
      ports.add(new URL(String(each)).port);
    }
    await apart.end('SIGTERM');
  }
  expect(ports.size).toBe(2);
  const [port = ''] = ports;
  await using shared = await startDaemonProcess({ ...without, ROLES: 'api', PORT: port, METRICS_PORT: port });
  expect(shared.logs.find(({ msg }) => msg === 'daemon.started')).toMatchObject({ metricsUrl: null });
  expect(await statuses(shared.url, probes)).toEqual(probes.map((path) => [path, 200]));
});
