import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { startDaemonProcess, type DaemonProcess } from './daemon-process.ts';

/** A folder that is removed when the test is over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-data-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The path of a data folder for one test, not there yet. What runs in it is ended when the test is over. */
export async function dataFolder(): Promise<string> {
  const folder = join(await temporaryFolder(), 'data');
  onTestFinished(() => endServerIn(folder));
  return folder;
}

/** Starts a daemon that keeps everything in this folder, its secrets included. */
export async function startIn(
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<DaemonProcess> {
  const own = { DATA_DIR: folder, API_TOKEN: '', ENCRYPTION_KEY: '' };
  const daemon = await startDaemonProcess({ ...own, ...environment });
  onTestFinished(() => void daemon.end('SIGKILL'));
  return daemon;
}

/** The process id of the server that a daemon has started last, by its log. */
export function serverPidOf(logs: readonly Readonly<Record<string, unknown>>[]): number {
  const last = logs.findLast(({ msg }) => msg === 'redis_server.started' || msg === 'redis_server.restarted');
  return Number(last?.['serverPid']);
}

/** Ends the server of a data folder, if one runs. */
export async function endServerIn(folder: string): Promise<void> {
  const client = new Redis({
    path: join(folder, 'redis.sock'),
    lazyConnect: true,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  await client.connect().then(
    () => client.shutdown('NOSAVE').catch(() => undefined),
    () => undefined,
  );
  client.disconnect();
}
