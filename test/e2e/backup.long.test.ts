import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { findExecutable } from '../../src/redis/server/find-server.ts';
import { durableArgs, startOnFreePort } from '../../src/redis/server/redis-process.ts';
import { startCollector, type Collector } from '../support/receivers/collector.ts';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startPrivateRedis } from '../support/redis/test-redis.ts';
import { startSandbox } from '../support/partner/sandbox.ts';

const fast = { timeout: 15_000, interval: 50 };

test('the backup drill: what happened after the copy is told again under the same ids, and nothing else is', async () => {
  await using sandbox = await startSandbox();
  await using collector = await startCollector();
  await sandbox.set('f_1', { status: 'UNPAID' });
  await sandbox.set('f_2', { status: 'UNPAID' });
  const partner = { PARTNER_BASE_URL: sandbox.baseUrl, PARTNER_KEY: 'sandbox-key', PARTNER_MAX_RPS: '1000' };
  const backup = await mkdtemp(join(tmpdir(), 'filing-webhooks-backup-'));
  try {
    await using original = await startPrivateRedis();
    await using before = await startDaemonProcess({ REDIS_URL: original.url, ...partner });
    await vi.waitFor(async () => {
      const { health } = await before.api.ok<{ health: { state: string } }>('GET', '/v1/accounts/default');
      expect(health.state).toBe('ok');
    }, fast);
    await before.api.ok('POST', '/v1/accounts/default/subscriptions', {
      url: collector.url,
      secret: collector.secret,
    });
    await sandbox.set('f_1', { status: 'PAID' });
    await untilReceived(collector, ['f_1 1']);
    await copyAppendOnlyFiles(original.url, original.directory, backup);
    await sandbox.set('f_1', { status: 'PENDING' });
    await untilReceived(collector, ['f_1 1', 'f_1 2']);
    expect(await before.end('SIGTERM')).toBe(0);
    await original.kill();

    await sandbox.set('f_2', { status: 'PAID' });
    await using restored = await startOn(backup);
    await using after = await startDaemonProcess({ REDIS_URL: restored.url, ...partner });
    await untilReceived(collector, ['f_1 1', 'f_1 2', 'f_1 2', 'f_2 1']);
    const ids = collector.received.filter(({ event }) => event.data.filingId === 'f_1').map(({ id }) => id);
    expect(ids[2]).toBe(ids[1]);
    expect(ids[1]).not.toBe(ids[0]);
    expect(collector.refused).toEqual([]);
    expect((await fetch(`${after.url}/health/ready`)).status).toBe(200);
  } finally {
    await rm(backup, { recursive: true, force: true });
  }
}, 60_000);

/** Waits for callbacks about these filings with these sequences, in any order of filings. */
async function untilReceived(collector: Collector, expected: readonly string[]): Promise<void> {
  await vi.waitFor(() => {
    const received = collector.received.map(({ event: { data } }) => `${data.filingId} ${data.sequence}`);
    expect(received.toSorted()).toEqual(expected);
  }, fast);
}

/** As docs/operations.md says: no rewrite while the files are copied. */
async function copyAppendOnlyFiles(url: string, directory: string, to: string): Promise<void> {
  const redis = new Redis(url);
  await redis.config('SET', 'auto-aof-rewrite-percentage', '0');
  expect(await redis.info('persistence')).toContain('aof_rewrite_in_progress:0');
  await cp(join(directory, 'appendonlydir'), join(to, 'appendonlydir'), { recursive: true });
  await redis.config('SET', 'auto-aof-rewrite-percentage', '100');
  redis.disconnect();
}

async function startOn(directory: string): Promise<{ readonly url: string } & AsyncDisposable> {
  const executable = findExecutable(['redis-server', 'valkey-server'], process.env['PATH'] ?? '') ?? '';
  const running = await startOnFreePort({ executable, directory, args: durableArgs('everysec') });
  return {
    url: `redis://127.0.0.1:${running.port}`,
    [Symbol.asyncDispose]: () => running.end('SIGKILL'),
  };
}
