import { expect, test, vi } from 'vitest';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startPrivateRedis } from '../support/redis/test-redis.ts';
import { startRedisProxy } from '../support/connections/redis-proxy.ts';
import { startSandbox } from '../support/partner/sandbox.ts';

interface Verdict {
  readonly reasons: readonly string[];
}

test('a process whose workers hear nothing of Redis is not ready, later not live, and both again when they do', async () => {
  await using redis = await startPrivateRedis();
  await using sandbox = await startSandbox();
  await using proxy = await startRedisProxy(redis.port);
  await using daemon = await startDaemonProcess({
    REDIS_URL: proxy.url,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    POLL_INTERVAL_MS: '500',
  });
  const logged = (name: string) => daemon.logs.filter(({ msg }) => msg === name);
  const probe = (path: string) => daemon.api.call<Verdict>('GET', path);
  const answers = (path: string, status: number, timeout: number) =>
    vi.waitFor(async () => expect(await probe(path)).toMatchObject({ status }), { timeout, interval: 250 });

  await vi.waitFor(() => expect(logged('poll.completed').length).toBeGreaterThan(2), 20_000);
  expect(await probe('/health/ready')).toMatchObject({ status: 200 });
  proxy.mute(':blocking');
  await answers('/health/ready', 503, 90_000);
  const { body } = await probe('/health/ready');
  expect(body.reasons).toEqual([expect.stringMatching(/^Due polls wait, for 3\d s now, and none is taken/)]);
  expect(logged('queue.waiting')).toEqual([expect.objectContaining({ queue: 'poll', underWay: 0 })]);
  expect(await probe('/health/live')).toMatchObject({ status: 200 });
  await answers('/health/live', 503, 400_000);
  proxy.mute(null);
  await answers('/health/ready', 200, 60_000);
  expect(await probe('/health/live')).toMatchObject({ status: 200 });
  expect(logged('queue.resumed')).toEqual([expect.objectContaining({ queue: 'poll' })]);
});
