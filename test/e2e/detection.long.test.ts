import { afterAll, describe, expect, test } from 'vitest';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { partnerRow, startHostilePartner, type HostilePartner } from '../support/partner/hostile-partner.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
let tests = 0;

interface Health {
  readonly state: string;
  readonly lastCompletePollAt: string | null;
  readonly consecutiveFailures: number;
  readonly backoffUntil: string | null;
  readonly lastError: string | null;
}

interface Told {
  readonly type: string;
  readonly data: {
    readonly filingId?: string;
    readonly status?: string;
    readonly sequence?: number;
    readonly observed?: { readonly notBefore: string; readonly notAfter: string };
  };
}

const environmentOf = (partner: HostilePartner) => ({
  REDIS_URL: redis.url,
  REDIS_PREFIX: `${redis.prefix}${tests}`,
  PARTNER_BASE_URL: partner.baseUrl,
  PARTNER_KEY: partner.key,
  PARTNER_MAX_RPS: '100',
  PARTNER_TIMEOUT_MS: '1000',
});

async function start(rows: ReturnType<typeof partnerRow>[]) {
  tests += 1;
  const partner = await startHostilePartner(rows);
  const daemon = await startDaemonProcess(environmentOf(partner));
  return { partner, daemon };
}

const healthOf = async ({ api }: DaemonProcess) =>
  (await api.ok<{ health: Health }>('GET', '/v1/accounts/default')).health;
const until = (daemon: DaemonProcess, state: string) =>
  expect.poll(async () => (await healthOf(daemon)).state, { timeout: 15_000 }).toBe(state);
const eventsOf = async ({ api }: DaemonProcess) =>
  (await api.ok<{ items: Told[] }>('GET', '/v1/accounts/default/events')).items;
const polledTwice = async (daemon: DaemonProcess) => {
  const now = Date.now();
  for (const after of [now, now + 1]) {
    await daemon.api.ok('POST', '/v1/accounts/default/poll');
    await expect
      .poll(async () => Date.parse((await healthOf(daemon)).lastCompletePollAt ?? ''), { timeout: 15_000 })
      .toBeGreaterThan(after);
  }
};

describe('health', () => {
  test('says what is true from the baseline over failures and a refused key to recovery', async () => {
    tests += 1;
    await using partner = await startHostilePartner([partnerRow('a', 'PENDING')]);
    const reached = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    partner.misbehave = () => {
      reached.resolve();
      return { after: release.promise };
    };
    await using daemon = await startDaemonProcess({
      ...environmentOf(partner),
      PARTNER_TIMEOUT_MS: '30000',
    });
    await reached.promise;
    await until(daemon, 'baselining');
    partner.misbehave = () => undefined;
    release.resolve();
    await until(daemon, 'ok');
    expect(await healthOf(daemon)).toMatchObject({
      consecutiveFailures: 0,
      backoffUntil: null,
      lastError: null,
    });

    partner.misbehave = () => ({ status: 503, headers: { 'retry-after': '2' } });
    await until(daemon, 'backing_off');
    expect((await healthOf(daemon)).lastError).toBe('unavailable: GET filings answered 503');
    await until(daemon, 'stale');
    // The next poll tells of it.
    await expect.poll(async () => (await eventsOf(daemon)).length, { timeout: 15_000 }).toBe(1);
    partner.misbehave = () => ({ status: 401 });
    await daemon.api.ok('POST', '/v1/accounts/default/poll');
    await until(daemon, 'auth_failed');
    partner.misbehave = () => undefined;
    await daemon.api.ok('POST', '/v1/accounts/default/poll');
    await until(daemon, 'ok');
    expect((await healthOf(daemon)).lastError).toBeNull();
    expect((await eventsOf(daemon)).map(({ type }) => type)).toEqual([
      'account.stale',
      'account.auth_failed',
      'account.recovered',
    ]);
  });
});

describe('a service that refuses a page', () => {
  test('is asked for that page again, not for the list from its start', async () => {
    tests += 1;
    await using partner = await startHostilePartner(
      Array.from({ length: 250 }, (_, i) => partnerRow(`f${i}`, 'PENDING')),
    );
    partner.misbehave = ({ number }) =>
      number === 2 ? { status: 429, headers: { 'retry-after': '1' } } : undefined;
    await using daemon = await startDaemonProcess(environmentOf(partner));
    await until(daemon, 'ok');
    expect(partner.requests.slice(0, 4).map(({ offset }) => offset)).toEqual([0, 100, 100, 200]);
    expect((await healthOf(daemon)).consecutiveFailures).toBe(0);
  });
});

describe('two daemons on one account', () => {
  test('tell each change once, whoever sees it', async () => {
    const { partner, daemon } = await start([partnerRow('a', 'UNPAID'), partnerRow('b', 'COMPLETED')]);
    await using other = await startDaemonProcess(environmentOf(partner));
    try {
      await until(daemon, 'ok');
      for (const status of ['PAID', 'PENDING', 'COMPLETED', 'REJECTED'] as const) {
        partner.put('a', { status });
        await polledTwice(daemon);
        await polledTwice(other);
      }
      expect((await eventsOf(other)).map(({ data }) => `${data.sequence} ${data.status}`)).toEqual([
        '1 PAID',
        '2 PENDING',
        '3 COMPLETED',
        '4 REJECTED',
      ]);
    } finally {
      await daemon.end('SIGTERM');
      await partner[Symbol.asyncDispose]();
    }
  });

  test('one that was stopped within a poll and goes on later turns nothing back', async () => {
    const { partner, daemon: stopped } = await start([
      partnerRow('a', 'UNPAID'),
      partnerRow('b', 'UNPAID'),
      partnerRow('c', 'COMPLETED'),
    ]);
    try {
      await until(stopped, 'ok');
      // It has asked, and is stopped before it gets the answer; that one shows things as they were.
      const asked = Promise.withResolvers<void>();
      const release = Promise.withResolvers<void>();
      partner.misbehave = () => {
        asked.resolve();
        return { after: release.promise };
      };
      await asked.promise;
      process.kill(stopped.pid, 'SIGSTOP');
      partner.misbehave = () => undefined;
      release.resolve();
      await using daemon = await startDaemonProcess(environmentOf(partner));
      const changedFrom = Date.now();
      partner.put('a', { status: 'PAID' });
      partner.put('c', { status: 'PENDING' });
      partner.remove('b');
      const changedTo = Date.now();
      await expect.poll(async () => (await eventsOf(daemon)).length, { timeout: 20_000 }).toBe(3);
      process.kill(stopped.pid, 'SIGCONT');
      await polledTwice(stopped);
      await polledTwice(daemon);
      const events = await eventsOf(stopped);
      expect(events.map(({ type, data }) => `${data.filingId} ${type}`).toSorted()).toEqual([
        'a filing.paid',
        'b filing.removed',
        'c filing.reopened',
      ]);
      for (const { data } of events) {
        expect(Date.parse(data.observed?.notBefore ?? '')).toBeLessThanOrEqual(changedTo);
        expect(Date.parse(data.observed?.notAfter ?? '')).toBeGreaterThanOrEqual(changedFrom);
      }
    } finally {
      process.kill(stopped.pid, 'SIGCONT');
      await stopped.end('SIGKILL');
      await partner[Symbol.asyncDispose]();
    }
  });
});
