import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A PostgreSQL of its own in a temporary folder, reached by a socket in it; disposing removes all of it. */
export interface PrivatePostgres extends AsyncDisposable {
  /** For `DATABASE_URL`. */
  readonly url: string;
}

/** Where PostgreSQL's programs are: in PATH, or in Debian's folder of the newest version; null where there are none. */
export function findPostgres(): string | null {
  const inPath = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const ofDebian = globSync('/usr/lib/postgresql/*/bin').toSorted((a, b) =>
    b.localeCompare(a, 'en', { numeric: true }),
  );
  return [...inPath, ...ofDebian].find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

/** Starts a private cluster. PostgreSQL refuses to run as root: for root it runs as `nobody`. */
export async function startPostgres(programs: string): Promise<PrivatePostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-postgres-'));
  const data = join(folder, 'data');
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(folder, await idOf('-u'), await idOf('-g'));
  const postgres = async (program: string, ...args: readonly string[]): Promise<void> => {
    const command = [join(programs, program), ...args];
    const [first = '', ...rest] = isRoot
      ? ['setpriv', '--reuid', 'nobody', '--regid', 'nogroup', '--clear-groups', ...command]
      : command;
    await run(first, rest, { cwd: folder });
  };
  await postgres(
    'initdb',
    '--pgdata',
    data,
    '--username',
    'agency',
    '--auth',
    'trust',
    '--encoding',
    'UTF8',
    '--no-sync',
  );
  const settings = `-c listen_addresses= -c unix_socket_directories=${folder} -c fsync=off`;
  await postgres(
    'pg_ctl',
    'start',
    '--pgdata',
    data,
    '--wait',
    '--log',
    join(folder, 'log'),
    '--options',
    settings,
  );
  return {
    url: `postgres://agency@/postgres?host=${folder}`,
    async [Symbol.asyncDispose]() {
      await postgres('pg_ctl', 'stop', '--pgdata', data, '--mode', 'immediate', '--wait');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function idOf(what: '-u' | '-g'): Promise<number> {
  return Number((await run('id', [what, 'nobody'])).stdout);
}
