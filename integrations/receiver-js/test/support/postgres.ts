import { execFileSync, spawn } from 'node:child_process';
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { tmpdir } from 'node:os';
import pg from 'pg';

/** A Postgres of its own, without a port: it listens on a socket in its folder. */
export interface TestPostgres extends AsyncDisposable {
  /** For `new pg.Pool`. */
  readonly connection: { readonly host: string; readonly user: string; readonly database: string };
}

/** Starts a Postgres; null where the machine has none. Ends with SIGQUIT and removes its folder. */
export async function startPostgres(): Promise<TestPostgres | null> {
  const initdb = find('initdb');
  const postgres = find('postgres');
  if (initdb === null || postgres === null) return null;
  const folder = mkdtempSync(join(tmpdir(), 'receiver-postgres-'));
  const owner = ownerOfServer();
  if (owner !== null) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  execFileSync(
    initdb,
    ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C'],
    {
      ...owner,
      cwd: folder,
      stdio: 'pipe',
    },
  );
  // Nothing here survives a power cut; kills of a receiver need no fsync.
  const server = spawn(postgres, ['-D', data, '-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=off'], {
    ...owner,
    cwd: folder,
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const connection = { host: folder, user: 'postgres', database: 'postgres' };
  await untilAnswers(connection);
  return {
    connection,
    async [Symbol.asyncDispose]() {
      server.kill('SIGQUIT');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

// Debian keeps the server's programs off the path.
function find(program: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const places = [...globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed(), ...folders];
  return globSync(places.map((folder) => join(folder, program)))[0] ?? null;
}

// Postgres refuses to run as root.
function ownerOfServer(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { stdio: 'pipe' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

async function untilAnswers(connection: TestPostgres['connection']): Promise<void> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const client = new pg.Client(connection);
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
