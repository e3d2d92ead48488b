import { execFile, execFileSync } from 'node:child_process';
import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { apiToken, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { endServerIn, serverPidOf, startIn, temporaryFolder } from '../support/daemon/data-folder.ts';
import { startSandbox } from '../support/partner/sandbox.ts';
import { startCollector, type Collector } from '../support/receivers/collector.ts';
import { skipIfFails } from '../support/skip-without.ts';

const main = join(import.meta.dirname, '../../src/main.ts');
const account = '/v1/accounts/default';

const mountOnce = 'd=$(mktemp -d) && mount -t tmpfs none "$d" && umount "$d" && rmdir "$d"';
const withoutMount = skipIfFails('sh', '-c', mountOnce);
// Root that the rights of files bind as anybody else.
const bound = ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'] as const;
const withoutBound = skipIfFails(...bound, 'true');

async function mounted(options: string): Promise<string> {
  const folder = await temporaryFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', folder]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]));
  return folder;
}

/** Runs the daemon on a folder that it cannot use, and resolves to how it ended. */
async function refused(folder: string, before: readonly string[] = []) {
  const words = [...before, process.execPath, main];
  const env = { PATH: process.env['PATH'], DATA_DIR: folder };
  return await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(
      String(words[0]),
      words.slice(1),
      { env, cwd: import.meta.dirname, timeout: 30_000 },
      (error, _, stderr) => resolve({ code: error?.code, stderr }),
    );
  });
}

test.skipIf(withoutBound)(
  'a folder of another user, or in one, ends the start with 78 and what to do (skipped without setpriv or the right)',
  async () => {
    const folder = join(await temporaryFolder(), 'theirs');
    await mkdir(folder, { mode: 0o700 });
    await chown(folder, 65_534, 65_534);
    for (const path of [folder, join(folder, 'data')])
      expect(await refused(path, bound)).toEqual({
        code: 78,
        stderr: `filing-webhooks cannot start: ${path} is not for the user of this process: give it to that user (chown), or name another folder\n`,
      });
  },
);

test.skipIf(withoutMount)(
  'a read-only disk ends the start with 78 and what to do (skipped where nothing can be mounted)',
  async () => {
    const disk = await mounted('mode=700,ro');
    expect(await refused(join(disk, 'data'))).toEqual({
      code: 78,
      stderr: `filing-webhooks cannot start: ${disk}/data is on a file system that can only be read: mount it for writing, or name another folder\n`,
    });
  },
);

const fill = (disk: string) =>
  expect(writeFile(join(disk, 'filler'), Buffer.alloc(64 << 20))).rejects.toThrow('ENOSPC');

async function untilNotReady({ url }: DaemonProcess): Promise<void> {
  await vi.waitFor(async () => {
    const response = await fetch(`${url}/health/ready`);
    expect(response.status).toBe(503);
    expect(await response.text()).toMatch(
      /No space left on device\. Make room on its disk; work then goes on/,
    );
  }, 20_000);
}

/** Waits until the events of a filing arrived, each at least once; their sequences show that none lacks. */
async function untilReceived({ received }: Collector, statuses: readonly string[]): Promise<void> {
  await vi.waitFor(() => {
    const events = new Map(received.map(({ id, event: { data } }) => [id, data]));
    const found = [...events.values()].map(({ sequence, status }) => [sequence, status]);
    expect(found).toEqual(statuses.map((status, i) => [i + 1, status]));
  }, 60_000);
}

test.skipIf(withoutMount)(
  'a disk that fills up is named by readiness, and with room again nothing is lost, also after a kill (skipped where nothing can be mounted)',
  async () => {
    const disk = await mounted('size=24m,mode=700');
    const data = join(disk, 'data');
    onTestFinished(() => endServerIn(data));
    await using sandbox = await startSandbox();
    await sandbox.set('f', { status: 'UNPAID' });
    await using collector = await startCollector();
    const partner = { PARTNER_BASE_URL: sandbox.baseUrl, PARTNER_KEY: 'sandbox-key', API_TOKEN: apiToken };
    const daemon = await startIn(data, partner);
    await vi.waitFor(async () => {
      const { health } = await daemon.api.ok<{ health: { state: string } }>('GET', account);
      expect(health.state).toBe('ok');
    }, 20_000);
    const { url, secret } = collector;
    await daemon.api.ok('POST', `${account}/subscriptions`, { url, secret });
    await sandbox.set('f', { status: 'PAID' });
    await untilReceived(collector, ['PAID']);

    await fill(disk);
    await sandbox.set('f', { status: 'PENDING' });
    await untilNotReady(daemon);
    const { status } = await daemon.api.call('POST', `${account}/subscriptions`, { url });
    expect(status).toBe(503);
    await rm(join(disk, 'filler'));
    await untilReceived(collector, ['PAID', 'PENDING']);
    await vi.waitFor(
      async () => expect((await fetch(`${daemon.url}/health/ready`)).status).toBe(200),
      20_000,
    );

    await fill(disk);
    await sandbox.set('f', { status: 'COMPLETED' });
    await untilNotReady(daemon);
    await daemon.end('SIGKILL');
    process.kill(serverPidOf(daemon.logs), 'SIGKILL');
    await rm(join(disk, 'filler'));
    const again = await startIn(data, partner);
    await untilReceived(collector, ['PAID', 'PENDING', 'COMPLETED']);
    expect(await again.end('SIGTERM')).toBe(0);
    expect(collector.refused).toEqual([]);
  },
  180_000,
);
