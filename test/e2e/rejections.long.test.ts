import { afterAll, describe, expect, test, vi } from 'vitest';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { partnerRow, startHostilePartner, type HostilePartner } from '../support/partner/hostile-partner.ts';
import { receiverSecret, startReceiver, type Callback } from '../support/receivers/receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
let tests = 0;

const account = '/v1/accounts/default';
const filings = 4_000;
const patiently = { timeout: 30_000, interval: 50 };

interface Body {
  readonly type: string;
  readonly data: {
    readonly filingId: string;
    readonly status: string;
    readonly rejectionReason: string | null;
  };
}

const bodyOf = ({ raw }: Callback) => JSON.parse(raw) as Body;

async function begin(partner: HostilePartner) {
  tests += 1;
  const environment = {
    REDIS_URL: redis.url,
    REDIS_PREFIX: `${redis.prefix}${tests}`,
    PARTNER_BASE_URL: partner.baseUrl,
    PARTNER_KEY: partner.key,
    PARTNER_MAX_RPS: '500',
    SWEEP_INTERVAL_MS: '2000',
  };
  const daemon = await startDaemonProcess(environment);
  return { daemon, restart: () => startDaemonProcess(environment) };
}

const until = (daemon: DaemonProcess, state: string) =>
  vi.waitFor(async () => {
    const { health } = await daemon.api.ok<{ health: { state: string } }>('GET', account);
    expect(health.state).toBe(state);
  }, patiently);

const subscribe = (daemon: DaemonProcess, settings: object) =>
  daemon.api.ok<{ id: string }>('POST', `${account}/subscriptions`, { secret: receiverSecret, ...settings });

/** What happens while nobody sees it: filings that are created and rejected, and others that are rejected. */
function rejectSome(partner: HostilePartner): string[] {
  for (const id of ['born', 'made']) partner.put(id, { status: 'UNPAID' });
  for (const id of ['born', 'made', 'known']) partner.put(id, { status: 'PENDING' });
  for (const id of ['born', 'made', 'known'])
    partner.put(id, { status: 'REJECTED', rejectionReason: `${id} lacks a seal` });
  partner.put('created', { status: 'PAID' });
  partner.put('other', { status: 'COMPLETED', completedAt: '2026-02-01T00:00:00.000Z' });
  return ['born', 'known', 'made'];
}

describe('what is rejected during an outage alerts exactly once', () => {
  test.each([
    [
      'of the daemon',
      async ({ daemon, partner, restart }: Stage) => {
        await daemon.end('SIGKILL');
        rejectSome(partner);
        return restart();
      },
    ],
    [
      'of the service',
      async ({ daemon, partner }: Stage) => {
        partner.misbehave = () => ({ status: 503 });
        await until(daemon, 'backing_off');
        rejectSome(partner);
        partner.misbehave = () => undefined;
        return daemon;
      },
    ],
    [
      'of the key',
      async ({ daemon, partner }: Stage) => {
        partner.misbehave = () => ({ status: 401 });
        await until(daemon, 'auth_failed');
        rejectSome(partner);
        partner.misbehave = () => undefined;
        return daemon;
      },
    ],
  ])('%s', async (_, outage) => {
    await using receiver = await startReceiver();
    await using partner = await startHostilePartner(
      ['known', 'other', 'old'].map((id) => partnerRow(id, id === 'old' ? 'REJECTED' : 'PENDING')),
    );
    const { daemon, restart } = await begin(partner);
    await until(daemon, 'ok');
    await subscribe(daemon, { url: receiver.url, statuses: ['rejected'] });
    await using after = await outage({ daemon, partner, restart });
    const alerts = () => receiver.accepted.map((each) => bodyOf(each).data.filingId).toSorted();
    await vi.waitFor(() => expect(alerts()).toEqual(['born', 'known', 'made']), patiently);
    // Later polls, a sweep among them, report nothing once more; an edited reason is one event.
    partner.put('born', { rejectionReason: 'born lacks two seals' });
    await vi.waitFor(() => expect(alerts()).toEqual(['born', 'born', 'known', 'made']), patiently);
    await until(after, 'ok');
    const reasons = receiver.accepted.map((each) => bodyOf(each).data.rejectionReason);
    expect(reasons.filter((reason) => reason === 'born lacks a seal')).toHaveLength(1);
    expect(new Set(receiver.accepted.map((each) => bodyOf(each).data.status))).toEqual(new Set(['REJECTED']));
    expect(new Set(receiver.accepted.map(({ id }) => id)).size).toBe(4);
  });
});

interface Stage {
  readonly daemon: DaemonProcess;
  readonly partner: HostilePartner;
  readonly restart: () => Promise<DaemonProcess>;
}

test('thousands of filings are sent as they are, over kills of the daemon, while they change', async () => {
  await using receiver = await startReceiver();
  const ids = Array.from({ length: filings }, (_, i) => `f${i}`);
  const statuses = ['UNPAID', 'PAID', 'PENDING', 'REJECTED', 'COMPLETED'] as const;
  await using partner = await startHostilePartner(
    ids.map((id, i) => partnerRow(id, statuses[i % statuses.length])),
  );
  const stage = await begin(partner);
  let { daemon } = stage;
  await until(daemon, 'ok');
  const { id } = await subscribe(daemon, { url: receiver.url, from: 'state' });
  const path = `${account}/subscriptions/${id}`;
  expect((await daemon.api.ok<{ lag: number }>('GET', path)).lag).toBeGreaterThan(1_000);
  let changed = 0;
  for (const enough of [0.15, 0.4, 0.7]) {
    await vi.waitFor(
      () => {
        for (let i = 0; i < 5; i += 1, changed += 1)
          partner.put(ids[(changed * 7_919) % ids.length] ?? '', { status: statuses[changed % 4] });
        expect(receiver.accepted.length).toBeGreaterThan(enough * filings);
      },
      { timeout: 60_000, interval: 50 },
    );
    await daemon.end('SIGKILL');
    daemon = await stage.restart();
  }
  await vi.waitFor(
    async () => {
      const { lag } = await daemon.api.ok<{ lag: number }>('GET', path);
      expect(lag).toBe(0);
    },
    { timeout: 240_000, interval: 200 },
  );
  await daemon.end('SIGTERM');

  const newest = new Map<string, number>();
  const last = new Map<string, string>();
  const snapshots = new Set<string>();
  for (const callback of receiver.accepted) {
    const { type, data } = bodyOf(callback);
    if (type === 'filing.snapshot') snapshots.add(data.filingId);
    // Of two callbacks that a kill has left unwritten, the repeats may come after newer ones: receivers take
    // only what is not older.
    if (callback.sequence < (newest.get(data.filingId) ?? 0)) continue;
    newest.set(data.filingId, callback.sequence);
    last.set(data.filingId, data.status);
  }
  expect(snapshots.size).toBe(filings);
  const truth = new Map(partner.rows.map((row) => [String(row.id), String(row.status)]));
  const wrong = ids.filter((each) => last.get(each) !== truth.get(each));
  expect(wrong).toEqual([]);
  // Repeats are what the kills left unwritten, and no more.
  expect(receiver.accepted.length).toBeLessThan(filings + changed + 500);
}, 480_000);
