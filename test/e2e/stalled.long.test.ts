import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createRandom } from '../../src/sandbox/random.ts';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { startSandbox, type TestSandbox } from '../support/partner/sandbox.ts';
import { startCollector } from '../support/receivers/collector.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';

const seed = Number(process.env['CRASH_SEED'] ?? 20_261_122);
const filings = 120;
const kills = 8;
let redis: PrivateRedis;
let sandbox: TestSandbox;

beforeAll(async () => {
  redis = await startPrivateRedis({ appendfsync: 'always' });
  sandbox = await startSandbox();
});

afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  await redis.close();
});

interface Told {
  readonly type: string;
  readonly data: { readonly filingId: string; readonly sequence: number };
}

test.each([
  ['filing.stalled', 'come to stay too long', { stalledAfter: { PENDING: 'PT3S', REJECTED: 'PT3S' } }],
  ['filing.due', 'are found to be overdue', { due: { '*': 'P1D' } }],
])(
  `%s: killed at random while filings %s, it reports each once (seed ${seed})`,
  async (reported, _, settings) => {
    const random = createRandom(seed);
    for (let i = 0; i < filings; i += 1)
      await sandbox.set(`f_${i}`, {
        status: i % 3 === 0 ? 'REJECTED' : 'PENDING',
        // The date of an endorsement would be another one.
        filingType: 'NEW_BUSINESS',
        policyEffectiveDate: '2026-01-01T00:00:00.000Z',
      });
    const environment = {
      REDIS_URL: redis.url,
      REDIS_PREFIX: reported,
      PARTNER_BASE_URL: sandbox.baseUrl,
      PARTNER_KEY: 'sandbox-key',
      PARTNER_MAX_RPS: '1000',
    };
    let daemon: DaemonProcess = await startDaemonProcess(environment);
    await using receiver = await startCollector();
    const base = '/v1/accounts/default';
    await daemon.api.ok('POST', `${base}/subscriptions`, { url: receiver.url, secret: receiver.secret });
    await vi.waitFor(
      async () => expect(await daemon.api.ok('GET', base)).toMatchObject({ health: { state: 'ok' } }),
      {
        timeout: 20_000,
        interval: 100,
      },
    );
    await daemon.api.ok('PATCH', base, settings);
    for (let i = 0; i < kills; i += 1) {
      await delay(random() * 1_200);
      await daemon.end('SIGKILL');
      daemon = await startDaemonProcess(environment);
    }
    const told = () =>
      receiver.received
        .map(({ raw, id }) => ({ ...(JSON.parse(raw) as Told), id }))
        .filter(({ type, data }) => type === reported && data.filingId.startsWith('f_'));
    await vi.waitFor(() => expect(new Set(told().map(({ data }) => data.filingId)).size).toBe(filings), {
      timeout: 60_000,
      interval: 200,
    });
    // Two more polls.
    for (let i = 0; i < 2; i += 1) {
      await daemon.api.ok('POST', `${base}/poll?mode=sweep`);
      await delay(500);
    }
    const log = await daemon.api.ok<{ items: Told[] }>('GET', `${base}/events?types=${reported}&limit=100`);
    expect(log.items.length).toBeGreaterThan(0);
    // The same callback may arrive again after a kill, but there is one event of each filing.
    const ids = new Map(told().map(({ id, data }) => [id, data.filingId]));
    expect(ids.size).toBe(filings);
    expect(new Set(ids.values()).size).toBe(filings);
    expect(told().every(({ data }) => data.sequence === 1)).toBe(true);
    await daemon.end('SIGTERM');
  },
  180_000,
);
