import { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { openApi } from '../support/api/api-caller.ts';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startPrivateRedis } from '../support/redis/test-redis.ts';
import { startSandbox } from '../support/partner/sandbox.ts';

const account = '/v1/accounts/default';

test('an emptied store is told at once and to everybody with a token, and stays told', async () => {
  await using redis = await startPrivateRedis();
  await using sandbox = await startSandbox();
  await sandbox.seed(20);
  await using daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    PARTNER_MAX_RPS: '1000',
  });
  await vi.waitFor(async () => {
    const { health } = await daemon.api.ok<{ health: { state: string } }>('GET', account);
    expect(health.state).toBe('ok');
  }, 20_000);
  const { token } = await daemon.api.ok<{ token: string }>('POST', `${account}/tokens`, { name: 'reader' });
  const reader = openApi(daemon.url, token);
  const events = async () => (await reader.call<{ items: unknown[] }>('GET', `${account}/events`)).status;
  expect(await events()).toBe(200);

  const admin = new Redis(redis.url);
  await admin.flushall();
  const body = { url: 'https://receiver.example.com/' };
  for (const [api, method, path, sent] of [
    [daemon.api, 'PUT', '/v1/accounts/another', { baseUrl: sandbox.baseUrl, partnerKey: 'k' }],
    [daemon.api, 'DELETE', account, undefined],
    [reader, 'POST', `${account}/subscriptions`, body],
    [daemon.api, 'GET', '/v1/accounts', undefined],
    [reader, 'GET', account, undefined],
    [openApi(daemon.url, null), 'GET', '/health/ready', undefined],
  ] as const) {
    const answer = await api.call(method, path, sent);
    expect([method, path, answer.status]).toEqual([method, path, 503]);
    expect(JSON.stringify(answer.body)).toContain('The store was emptied');
  }

  const polls = daemon.logs.filter(({ msg }) => msg === 'poll.completed').length;
  await vi.waitFor(() => expect(daemon.logs.map(({ msg }) => msg)).toContain('store.emptied'), 10_000);
  expect(daemon.logs.filter(({ msg }) => msg === 'poll.completed').length - polls).toBeLessThanOrEqual(1);
  expect(await events()).toBe(503);
  expect(await admin.keys('*events*')).toEqual([]);
  admin.disconnect();
});
