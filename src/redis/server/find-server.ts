import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Environment variables, as in `process.env`. */
type Environment = Readonly<Record<string, string | undefined>>;

/** The packages that have a server, one line each, for people who have none. */
export const packagesWithServer: readonly string[] = [
  '  Debian or Ubuntu   apt-get install redis-server   (as root)',
  '  macOS              brew install redis',
  '  Fedora             dnf install valkey             (as root)',
  '  Alpine             apk add valkey                 (as root)',
];

/** The first redis-server or valkey-server in `PATH`, or null if there is none. */
export function findServer(env: Environment): string | null {
  return findExecutable(['redis-server', 'valkey-server'], env['PATH'] ?? '');
}

/** The first executable of `names` in `path` (a PATH variable's value), or null if there is none. */
export function findExecutable(names: readonly string[], path: string): string | null {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return candidates.find((file) => exists(file, constants.X_OK)) ?? null;
}

/**
 * Installs the package redis-server with its service off; on Debian, as root. Elsewhere it does nothing and
 * resolves to false. `onInstall` is called before it begins. Rejects when the package cannot be installed.
 */
export async function installServer(env: Environment, onInstall: () => void): Promise<boolean> {
  if (process.getuid?.() !== 0 || !exists('/etc/debian_version')) return false;
  if (findExecutable(['apt-get'], env['PATH'] ?? '') === null) return false;
  onInstall();
  // RUNLEVEL=1 keeps the package from starting its service with init scripts, the last two commands with
  // systemd.
  await runQuietly('apt-get', ['update', '-qq'], env);
  const install = ['install', '-y', '-qq', '--no-install-recommends', 'redis-server'];
  await runQuietly('apt-get', install, { ...env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' });
  await runQuietly('service', ['redis-server', 'stop'], env).catch(() => undefined);
  await runQuietly('update-rc.d', ['redis-server', 'disable'], env).catch(() => undefined);
  return true;
}

function exists(file: string, mode: number = constants.R_OK): boolean {
  try {
    accessSync(file, mode);
    return true;
  } catch {
    return false;
  }
}

async function runQuietly(command: string, args: readonly string[], env: Environment): Promise<void> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    output = (output + chunk).slice(-600);
  });
  await once(child, 'close');
  const code = child.exitCode;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${output.trim() || `exit code ${code}`}`);
}
