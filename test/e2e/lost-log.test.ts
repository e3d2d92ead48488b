import { afterAll, expect, test, vi } from 'vitest';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startSandbox } from '../support/partner/sandbox.ts';
import { startCollector } from '../support/receivers/collector.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

test('a log that nobody takes any more stops neither polls nor callbacks, and its lines are counted', async () => {
  await using sandbox = await startSandbox();
  await sandbox.seed(1);
  await using collector = await startCollector();
  await using daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    PARTNER_MAX_RPS: '1000',
  });
  const { url, secret } = collector;
  await daemon.api.ok('POST', '/v1/accounts/default/subscriptions', { url, secret });
  await vi.waitFor(async () => {
    const { health } = await daemon.api.ok<{ health: { state: string } }>('GET', '/v1/accounts/default');
    expect(health.state).toBe('ok');
  });
  const linesLost = async () => {
    const metrics = await fetch(`${daemon.url}/metrics`);
    return Number(/^filing_webhooks_log_lines_lost_total (\d+)$/m.exec(await metrics.text())?.[1]);
  };
  expect(await linesLost()).toBe(0);
  daemon.closeLog();
  await sandbox.set('f_created', { status: 'PENDING' });
  await vi.waitFor(() =>
    expect(collector.received.map(({ event }) => event.type)).toEqual(['filing.created']),
  );
  await vi.waitFor(async () => expect(await linesLost()).toBeGreaterThan(0));
  expect(await daemon.end('SIGTERM')).toBe(0);
});
