import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startSandbox } from '../support/partner/sandbox.ts';
import { startCollector } from '../support/receivers/collector.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
/** The rules that the documentation gives a user of Redis. */
const rules = /^user filing-webhooks on >a-password (.*)$/m.exec(page)?.[1]?.split(' ') ?? [];

/** The environment of a daemon whose user of Redis has these rules, and the server's administrator. */
async function stage(server: PrivateRedis, ...more: readonly string[]) {
  const admin = new Redis(server.url);
  onTestFinished(() => admin.disconnect());
  admin.on('error', () => undefined);
  await admin.call('ACL', 'SETUSER', 'daemon', 'reset', 'on', '>secret', ...rules, ...more);
  return { admin, environment: { REDIS_URL: server.url.replace('//', '//daemon:secret@') } };
}

test('a user of Redis with the documented rules does the whole job, and nothing is refused to it', async () => {
  await using server = await startPrivateRedis();
  const { admin, environment } = await stage(server);
  await using sandbox = await startSandbox();
  await sandbox.set('f', { status: 'PENDING' });
  await using collector = await startCollector();
  {
    await using daemon = await startDaemonProcess(environment);
    const path = '/v1/accounts/acme';
    await daemon.api.ok('PUT', path, { baseUrl: sandbox.baseUrl, partnerKey: 'sandbox-key' });
    await vi.waitFor(async () => {
      const { health } = await daemon.api.ok<{ health: { state: string } }>('GET', path);
      expect(health.state).toBe('ok');
    }, 10_000);
    const body = { url: collector.url, secret: collector.secret };
    const { id } = await daemon.api.ok<{ id: string }>('POST', `${path}/subscriptions`, body);
    const one = `${path}/subscriptions/${id}`;
    await sandbox.set('f', { status: 'REJECTED', rejectionReason: 'unsigned' });
    await vi.waitFor(() => expect(collector.received).toHaveLength(1), 10_000);
    await daemon.api.ok('POST', `${one}/replay`, {});
    await vi.waitFor(() => expect(collector.received).toHaveLength(2), 10_000);
    await daemon.api.ok('POST', `${one}/test`);
    await daemon.api.ok('PATCH', one, { description: 'changed' });
    await daemon.api.ok('PUT', `${path}/filings/f/seen`, { by: 'ops' });
    await daemon.api.ok('POST', `${path}/tokens`, {});
    for (const list of [
      'events',
      'events?order=newest',
      'filings',
      'filings?q=f',
      'filings?status=REJECTED&order=oldest',
      'attempts',
      'tokens',
      'counts',
      `subscriptions/${id}/replays`,
      `subscriptions/${id}/dead-letters`,
    ])
      await daemon.api.ok('GET', `${path}/${list}`);
    for (const each of ['/v1/rejections', '/v1/accounts']) await daemon.api.ok('GET', each);
    await (await fetch(`${daemon.url}/metrics`)).text();
    expect((await daemon.api.call('GET', '/health/ready')).status).toBe(200);
    await daemon.api.ok('DELETE', path);
    expect(await daemon.end('SIGTERM')).toBe(0);
  }
  const refused = (await admin.call('ACL', 'LOG')) as string[][];
  // The commands that are said to be optional.
  const isOptional = (entry: readonly string[]) =>
    ['bgrewriteaof', 'config|get', 'client|setinfo'].includes(String(entry[7]));
  expect(refused.filter((entry) => !isOptional(entry))).toEqual([]);
});

test('a daemon whose user may run no scripts does not start, and says what is missing', async () => {
  await using server = await startPrivateRedis();
  const { environment } = await stage(server, '-@scripting');
  await expect(startDaemonProcess(environment)).rejects.toThrow(/ended with 78: .*lack: \+eval \+evalsha/s);
});
