import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findExecutable } from '../../../src/redis/server/find-server.ts';
import { startPrivateRedis, type PrivateRedis } from '../redis/test-redis.ts';

/** The wall clock of a process under test, by libfaketime; its monotonic clock stays as it is. */
export interface SteppedClock extends Disposable {
  /** What a process of this clock is started with. */
  readonly environment: Readonly<Record<string, string>>;
  /** From now on it is so many seconds ahead of the machine's, or behind where that is negative. */
  set(seconds: number): void;
}

const run = promisify(execFile);
const library = 'faketime/libfaketimeMT.so.1';

/**
 * A clock that is right at first. libfaketime is installed where it is missing and that is possible, on
 * Debian as root; otherwise rejects, saying so.
 */
export async function createSteppedClock(): Promise<SteppedClock> {
  const folder = findFolder() ?? (await install());
  const directory = mkdtempSync(join(tmpdir(), 'filing-webhooks-test-clock-'));
  const file = join(directory, 'offset');
  const set = (seconds: number): void => {
    // At once, for the process looks at it all the time.
    writeFileSync(`${file}.next`, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
    renameSync(`${file}.next`, file);
  };
  set(0);
  return {
    environment: {
      // The allocator of Redis asks for the time before libfaketime is ready; that of the C library does not.
      LD_PRELOAD: `${join(folder, library)} ${join(folder, 'libc.so.6')}`,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set,
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** A Redis of one test, with that clock. */
export async function startSteppedRedis(clock: SteppedClock): Promise<PrivateRedis> {
  const server = findExecutable(['redis-server', 'valkey-server'], process.env['PATH'] ?? '');
  if (server === null) throw new Error('this test needs redis-server or valkey-server in PATH');
  const directory = mkdtempSync(join(tmpdir(), 'filing-webhooks-test-clock-'));
  const executable = join(directory, 'redis-server');
  const variables = Object.entries(clock.environment).map(([name, value]) => `export ${name}='${value}'`);
  writeFileSync(executable, ['#!/bin/sh', ...variables, `exec '${server}' "$@"`, ''].join('\n'));
  chmodSync(executable, 0o755);
  const redis = await startPrivateRedis({ executable });
  const close = async () => {
    await redis.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return { ...redis, close, [Symbol.asyncDispose]: close };
}

function findFolder(): string | undefined {
  const folders = ['/usr/lib', ...readdirSync('/usr/lib').map((name) => join('/usr/lib', name))];
  return folders.find((folder) => existsSync(join(folder, library)));
}

async function install(): Promise<string> {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version'))
    throw new Error('this test needs libfaketime: apt-get install -y --no-install-recommends faketime');
  // Test files run side by side; apt lets the second wait for the first.
  const apt = ['-y', '-qq', '-o', 'DPkg::Lock::Timeout=240'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', [...apt, 'update'], { env });
  await run('apt-get', [...apt, 'install', '--no-install-recommends', 'faketime'], { env });
  const folder = findFolder();
  if (folder === undefined) throw new Error('faketime was installed and libfaketime is still not found');
  return folder;
}
