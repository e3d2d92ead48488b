import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { chromium, type Browser } from 'playwright-core';
import { findExecutable } from '../../src/redis/server/find-server.ts';

const run = promisify(execFile);
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const packages = ['chromium', 'fonts-dejavu-core'];

/** How long finding or installing a browser may take, in milliseconds. */
export const browserMs = 300_000;

/**
 * Starts a Chromium without a window that talks to nobody but the pages it is sent to. One that is not there
 * is installed where that is possible: on Debian, as root.
 */
export async function launchChromium(): Promise<Browser> {
  const executablePath = find() ?? (await install());
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-quic', '--disable-background-networking'],
  });
}

function find(): string | null {
  return process.env['CHROMIUM'] ?? findExecutable(names, process.env['PATH'] ?? '');
}

async function install(): Promise<string> {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) {
    throw new Error('these tests need Chromium: install it, or name one in the variable CHROMIUM');
  }
  process.stderr.write('Chromium: none found, installing it with apt-get\n');
  // Test files run side by side; apt lets the second wait for the first.
  const apt = ['-y', '-qq', '-o', 'DPkg::Lock::Timeout=240'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', [...apt, 'update'], { env });
  await run('apt-get', [...apt, 'install', '--no-install-recommends', ...packages], { env });
  const path = find();
  if (path === null) throw new Error('Chromium was installed and is still not found');
  return path;
}
