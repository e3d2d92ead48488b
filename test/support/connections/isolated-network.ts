import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { skipWithout } from '../skip-without.ts';

/**
 * Whether a process can be given a network and mounts of its own here: Linux, the right to, and `ip`, without
 * which the tests are skipped or fail.
 */
export const canIsolate =
  !skipWithout('ip') &&
  spawnSync('unshare', ['-rnm', 'mount', '--bind', '/etc/hosts', '/etc/hosts']).status === 0;

/** Why tests in such a network are skipped, for their titles. */
export const unlessIsolated = canIsolate ? '' : ' (skipped: no network of its own can be had here)';

// Milliseconds after which a script has failed.
const scriptMs = 100_000;

// Every address of the world leads to this machine, and names are asked of whatever answers at port 53 here.
const isolated = [
  'ip link set lo up',
  'ip route add local 0.0.0.0/0 dev lo',
  'ip -6 route add local ::/0 dev lo',
  'mount --bind "$0/resolv.conf" /etc/resolv.conf',
  'mount --bind "$0/nsswitch.conf" /etc/nsswitch.conf',
  'exec "$1" "$2"',
].join(' && ');

/**
 * Runs a script in a network of its own and returns what it prints, parsed. Throws what it says when it fails.
 */
export function runIsolated(script: URL): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'filing-webhooks-network-'));
  writeFileSync(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\n');
  writeFileSync(join(folder, 'nsswitch.conf'), 'hosts: files dns\n');
  try {
    const path = fileURLToPath(script);
    const words = ['-rnm', 'sh', '-c', isolated, folder, process.execPath, path];
    const { stdout, stderr, status } = spawnSync('unshare', words, { encoding: 'utf8', timeout: scriptMs });
    if (status !== 0 || stdout === '') throw new Error(`${path} ended with ${status}: ${stderr}`);
    return JSON.parse(stdout) as unknown;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
