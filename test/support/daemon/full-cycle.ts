import { expect, vi } from 'vitest';
import { startSandbox } from '../partner/sandbox.ts';
import { startCollector } from '../receivers/collector.ts';
import { startDaemonProcess, type DaemonProcess } from './daemon-process.ts';

/**
 * The whole job of a daemon in this environment, over a restart: polls, changes, callbacks, a replay, and
 * every list read to its end. Resolves with the reasons that readiness gave at the end, all of which it calls
 * harmless.
 */
export async function fullCycle(environment: Readonly<Record<string, string>>): Promise<readonly string[]> {
  await using sandbox = await startSandbox();
  await sandbox.set('f', { status: 'PENDING' });
  await using collector = await startCollector();
  const path = '/v1/accounts/acme';
  const untilReceived = (count: number) =>
    vi.waitFor(() => expect(collector.received).toHaveLength(count), 60_000);
  const untilPolled = ({ api }: DaemonProcess) =>
    vi.waitFor(async () => {
      const { health } = await api.ok<{ health: { state: string } }>('GET', path);
      expect(health.state).toBe('ok');
    }, 60_000);
  let one = '';
  {
    await using daemon = await startDaemonProcess(environment);
    await daemon.api.ok('PUT', path, { baseUrl: sandbox.baseUrl, partnerKey: 'sandbox-key' });
    await untilPolled(daemon);
    const body = { url: collector.url, secret: collector.secret };
    const { id } = await daemon.api.ok<{ id: string }>('POST', `${path}/subscriptions`, body);
    one = `${path}/subscriptions/${id}`;
    await sandbox.set('f', { status: 'REJECTED', rejectionReason: 'unsigned' });
    await untilReceived(1);
    expect(await daemon.end('SIGTERM')).toBe(0);
  }
  await using daemon = await startDaemonProcess(environment);
  await untilPolled(daemon);
  await sandbox.set('f', { status: 'PENDING' });
  await untilReceived(2);
  await daemon.api.ok('POST', `${one}/replay`, {});
  await untilReceived(4);
  expect(collector.received.slice(2).map(({ id }) => id)).toEqual(
    collector.received.slice(0, 2).map(({ id }) => id),
  );
  await sandbox.set('f', { status: 'REJECTED', rejectionReason: 'unsigned' });
  await untilReceived(5);
  await daemon.api.ok('POST', `${one}/test`);
  await daemon.api.ok('PATCH', one, { description: 'changed' });
  await daemon.api.ok('PUT', `${path}/filings/f/seen`, { by: 'ops' });
  await daemon.api.ok('POST', `${path}/tokens`, {});
  const lists = [
    '',
    '/events',
    '/events?order=newest',
    '/filings',
    '/filings?q=f',
    '/attempts',
    '/tokens',
    '/counts',
  ];
  const more = ['/filings?status=REJECTED&order=oldest'];
  for (const list of [...lists, ...more]) await daemon.api.ok('GET', `${path}${list}`);
  for (const list of ['replays', 'dead-letters']) await daemon.api.ok('GET', `${one}/${list}`);
  for (const each of ['/v1/rejections', '/v1/accounts']) await daemon.api.ok('GET', each);
  await (await fetch(`${daemon.url}/metrics`)).text();
  const { status, body } = await daemon.api.call('GET', '/health/ready');
  expect(status).toBe(200);
  await daemon.api.ok('DELETE', path);
  expect(await daemon.end('SIGTERM')).toBe(0);
  return (body as { reasons: string[] }).reasons;
}
