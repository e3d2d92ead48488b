import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { parseEnvFile } from '../../src/config/environment.ts';
import { openApi, type ApiCaller } from '../support/api/api-caller.ts';
import { apiToken, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { dataFolder, serverPidOf, startIn, temporaryFolder } from '../support/daemon/data-folder.ts';
import { startSandbox } from '../support/partner/sandbox.ts';
import { startCollector, type Collector } from '../support/receivers/collector.ts';
import { skipWithout } from '../support/skip-without.ts';

const run = promisify(execFile);
const commandLine = join(import.meta.dirname, '../../src/cli/main.ts');
const account = '/v1/accounts/default';

const tokenIn = (folder: string): string =>
  parseEnvFile(readFileSync(join(folder, 'secrets.env'), 'utf8')).values['API_TOKEN'] ?? '';
const modeOf = (...path: string[]): number => statSync(join(...path)).mode & 0o777;

async function untilOk(api: ApiCaller): Promise<void> {
  await vi.waitFor(async () => {
    const { health } = await api.ok<{ health: { state: string } }>('GET', account);
    expect(health.state).toBe('ok');
  }, 20_000);
}

/** Waits for events with these statuses, each counted once: what was in flight at a kill may come again, late. */
async function untilReceived({ received }: Collector, statuses: readonly string[]): Promise<void> {
  const events = () => [...new Map(received.map(({ id, event }) => [id, event.data.status])).values()];
  await vi.waitFor(() => expect(events()).toEqual(statuses), 60_000);
}

async function untilLogged({ logs }: DaemonProcess, name: string): Promise<void> {
  await vi.waitFor(() => expect(logs.map(({ msg }) => msg)).toContain(name), 10_000);
}

/** Runs the command line, and resolves to its output; rejects with it when the command fails. */
async function command(env: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<string> {
  const cwd = await temporaryFolder();
  const options = { cwd, env: { PATH: process.env['PATH'], ...env } };
  const ran = await run(process.execPath, [commandLine, ...words], options).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`${words.join(' ')}: ${stdout}${stderr}`);
    },
  );
  return ran.stdout;
}

test.skipIf(skipWithout('curl'))(
  'the first start makes a folder and prints the requests that lead to a verified callback (skipped without curl)',
  async () => {
    await using sandbox = await startSandbox();
    await sandbox.set('f', { status: 'PENDING' });
    await using collector = await startCollector();
    const data = await dataFolder();
    const daemon = await startIn(data);
    expect([modeOf(data), modeOf(data, 'secrets.env'), modeOf(data, 'redis.sock')]).toEqual([
      0o700, 0o600, 0o700,
    ]);
    const link = /Signs you in +(\S+)/.exec(daemon.errors())?.[1] ?? '';
    expect(link).toBe(`${daemon.url}/#/link/${tokenIn(data)}`);
    expect((await fetch(link)).status).toBe(200);
    const [put = '', post = ''] = daemon.errors().match(/^ +curl [^]*?'\{.*\}'$/gm) ?? [];
    const named = put.replace('https://partner.example.com/v1', sandbox.baseUrl);
    await run('sh', ['-c', `${named.replace('the-key-of-your-account', 'sandbox-key')} --fail`]);
    const api = openApi(daemon.url, tokenIn(data));
    await untilOk(api);
    const receiver = `${collector.url}", "secret": "${collector.secret}`;
    await run('sh', ['-c', `${post.replace('https://hooks.example.com/filings', receiver)} --fail`]);
    await sandbox.set('f', { status: 'REJECTED', rejectionReason: 'unsigned' });
    await untilReceived(collector, ['REJECTED']);
    expect(collector.refused).toEqual([]);

    await expect(startIn(data)).rejects.toThrow(
      `ended with 78: filing-webhooks cannot start: ${data} is in use by process ${daemon.pid}:`,
    );
    expect(await daemon.end('SIGTERM')).toBe(0);
    expect(() => process.kill(serverPidOf(daemon.logs), 0)).toThrow('ESRCH');

    const again = await startIn(data);
    expect(again.errors()).toBe(
      `The page: ${again.url}/ (its token is API_TOKEN in ${join(data, 'secrets.env')})\n`,
    );
    const { items } = await openApi(again.url, tokenIn(data)).ok<{ items: unknown[] }>(
      'GET',
      `${account}/subscriptions`,
    );
    expect(items).toHaveLength(1);
    expect(await again.end('SIGTERM')).toBe(0);
  },
);

test('a killed server is started again, a killed daemon leaves one that the next ends, a backup starts elsewhere', async () => {
  await using sandbox = await startSandbox();
  await sandbox.set('f', { status: 'UNPAID' });
  await using collector = await startCollector();
  const partner = { PARTNER_BASE_URL: sandbox.baseUrl, PARTNER_KEY: 'sandbox-key', API_TOKEN: apiToken };
  const data = await dataFolder();
  const first = await startIn(data, partner);
  await untilOk(first.api);
  await first.api.ok('POST', `${account}/subscriptions`, { url: collector.url, secret: collector.secret });
  process.kill(serverPidOf(first.logs), 'SIGKILL');
  await sandbox.set('f', { status: 'PAID' });
  await untilLogged(first, 'redis_server.restarted');
  await untilReceived(collector, ['PAID']);

  const left = serverPidOf(first.logs);
  await first.end('SIGKILL');
  expect(process.kill(left, 0)).toBe(true);
  const second = await startIn(data, partner);
  // Its parent, the first process of the machine, may take a moment to notice.
  await vi.waitFor(() => expect(() => process.kill(left, 0)).toThrow('ESRCH'), 10_000);
  await sandbox.set('f', { status: 'PENDING' });
  await untilReceived(collector, ['PAID', 'PENDING']);

  const copy = join(await temporaryFolder(), 'copy');
  await command({}, 'backup', '--data', data, '--to', copy);
  await sandbox.set('f', { status: 'COMPLETED' });
  await untilReceived(collector, ['PAID', 'PENDING', 'COMPLETED']);
  await expect(command({}, 'restore', '--from', copy, '--data', data)).rejects.toThrow(
    `${data} is not empty`,
  );
  expect(await second.end('SIGTERM')).toBe(0);

  const before = collector.received.length;
  const elsewhere = await dataFolder();
  await command({ DATA_DIR: elsewhere }, 'restore', '--from', copy);
  expect([modeOf(elsewhere), modeOf(elsewhere, 'secrets.env')]).toEqual([0o700, 0o600]);
  expect(readFileSync(join(elsewhere, 'secrets.env'))).toEqual(readFileSync(join(data, 'secrets.env')));
  const third = await startIn(elsewhere, { ...partner, API_TOKEN: '' });
  await vi.waitFor(() => expect(collector.received.length).toBeGreaterThan(before), 20_000);
  expect(collector.received.at(-1)?.id).toBe(collector.received[before - 1]?.id);
  const there = { DATA_DIR: elsewhere, PORT: new URL(third.url).port };
  expect(await command(there, 'api', 'GET', '/subscriptions')).toContain(collector.url);
  expect(await third.end('SIGTERM')).toBe(0);
}, 120_000);

test('a wrong variable is named before a folder is made', async () => {
  const data = await dataFolder();
  await expect(startIn(data, { PORT: 'ninety' })).rejects.toThrow(/ended with 78: [^]*- PORT must be/);
  expect(() => statSync(data)).toThrow('ENOENT');
});
