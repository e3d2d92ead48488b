import { afterAll, expect, test } from 'vitest';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { partnerRow, startHostilePartner } from '../support/partner/hostile-partner.ts';
import { startSandbox } from '../support/partner/sandbox.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
let daemons = 0;

// No poll comes by itself while a test runs.
const start = (baseUrl: string, partnerKey: string, lookMs: number) =>
  startDaemonProcess({
    REDIS_URL: redis.url,
    REDIS_PREFIX: `${redis.prefix}${(daemons += 1)}`,
    PARTNER_BASE_URL: baseUrl,
    PARTNER_KEY: partnerKey,
    PARTNER_MAX_RPS: '100',
    POLL_INTERVAL_MS: '3600000',
    REJECTION_LOOK_MS: String(lookMs),
    LOG_LEVEL: 'debug',
  });

interface Told {
  readonly type: string;
  readonly data: { readonly filingId: string };
}

const eventsOf = async ({ api }: DaemonProcess) => {
  const { items } = await api.ok<{ items: Told[] }>('GET', '/v1/accounts/default/events');
  return items.map(({ type, data }) => `${type} ${data.filingId}`);
};
const lines = ({ logs }: DaemonProcess, msg: string, account = 'default') =>
  logs.filter((line) => line['msg'] === msg && line['account'] === account).length;

/** Resolves when a poll by delta follows the baseline. */
async function polled(daemon: DaemonProcess, account = 'default') {
  const healthOf = async () =>
    (await daemon.api.ok<{ health: { state: string } }>('GET', `/v1/accounts/${account}`)).health.state;
  await expect.poll(healthOf, { timeout: 20_000 }).toBe('ok');
  const before = lines(daemon, 'poll.completed', account);
  await daemon.api.ok('POST', `/v1/accounts/${account}/poll`);
  await expect.poll(() => lines(daemon, 'poll.completed', account)).toBeGreaterThan(before);
}

test.each([
  ['of a page', 60],
  ['of a few pages', 300],
  ['that is polled by delta', 900],
])('a rejection in an account %s is noticed between two polls', async (_, filings) => {
  await using sandbox = await startSandbox();
  await sandbox.seed(filings);
  for (const id of ['one', 'two']) await sandbox.set(id, { status: 'PENDING' });
  await using daemon = await start(sandbox.baseUrl, 'sandbox-key', 200);
  await polled(daemon);
  for (const id of ['one', 'two']) {
    await sandbox.set(id, { status: 'REJECTED', rejectionReason: 'no signature' });
    await expect.poll(() => eventsOf(daemon)).toContain(`filing.rejected ${id}`);
  }
  expect(await eventsOf(daemon)).toHaveLength(2);
});

test('nothing is asked for between two polls where looks are switched off, or while the account backs off', async () => {
  const rows = Array.from({ length: 150 }, (_, i) => partnerRow(`f${i}`, 'PENDING'));
  await using looked = await startHostilePartner(rows);
  await using quiet = await startHostilePartner(rows);
  await using refusing = await startHostilePartner(rows);
  await using off = await start(quiet.baseUrl, quiet.key, 0);
  await using backingOff = await start(refusing.baseUrl, refusing.key, 50);
  await using on = await start(looked.baseUrl, looked.key, 50);
  await Promise.all([off, backingOff, on].map((daemon) => polled(daemon)));
  refusing.misbehave = () => ({ status: 401 });
  await backingOff.api.ok('POST', '/v1/accounts/default/poll');
  await expect.poll(() => lines(backingOff, 'poll.failed')).toBe(1);

  const [before, refused, seen] = [quiet, refusing, looked].map(({ requests }) => requests.length);
  await expect.poll(() => looked.requests.length - (seen ?? 0)).toBeGreaterThan(5);
  expect(quiet.requests).toHaveLength(before ?? 0);
  expect(refusing.requests).toHaveLength(refused ?? 0);
  expect(lines(on, 'poll.looked')).toBeGreaterThan(5);

  refusing.misbehave = () => undefined;
  const after = lines(backingOff, 'poll.looked');
  await backingOff.api.ok('POST', '/v1/accounts/default/poll');
  await expect.poll(() => lines(backingOff, 'poll.looked')).toBeGreaterThan(after);
});

test('an account that was removed is not looked at any more', async () => {
  const rows = Array.from({ length: 150 }, (_, i) => partnerRow(`f${i}`, 'PENDING'));
  await using partner = await startHostilePartner(rows);
  await using other = await startHostilePartner(rows);
  await using daemon = await start(partner.baseUrl, partner.key, 50);
  await daemon.api.ok('PUT', '/v1/accounts/other', { baseUrl: other.baseUrl, partnerKey: other.key });
  for (const account of ['default', 'other']) await polled(daemon, account);
  await expect.poll(() => lines(daemon, 'poll.looked', 'other')).toBeGreaterThan(3);
  await daemon.api.ok('DELETE', '/v1/accounts/other');
  const [before, seen] = [other.requests.length, partner.requests.length];
  await expect.poll(() => partner.requests.length - seen).toBeGreaterThan(5);
  // One may have been under way.
  expect(other.requests.length - before).toBeLessThan(2);
});
