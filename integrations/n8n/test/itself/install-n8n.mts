import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The release of n8n that the nodes are tested with. */
export const n8nVersion = '2.41.1';

const run = promisify(execFile);

/**
 * Installs n8n from npm into a folder outside of the repository, unless it is there, and gives the path of its command. That takes minutes
 * and 3 GB. No package may run scripts but the driver of SQLite, which is fetched or, where that fails, compiled.
 */
export async function installN8n(): Promise<string> {
  const folder = join(tmpdir(), `filing-webhooks-n8n-${n8nVersion}`);
  const modules = join(folder, 'node_modules');
  if (!existsSync(join(modules, 'n8n/bin/n8n'))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    console.log(`Installing n8n ${n8nVersion} into ${folder}: this takes minutes.`);
    await npm(folder, ['install', '--ignore-scripts', '--no-audit', '--no-fund', `n8n@${n8nVersion}`]);
  }
  if (!existsSync(join(modules, 'sqlite3/build/Release/node_sqlite3.node')))
    await npm(folder, ['rebuild', '--ignore-scripts=false', 'sqlite3']);
  return join(modules, 'n8n/bin/n8n');
}

async function npm(folder: string, words: readonly string[]): Promise<void> {
  // Headers of a Node on this machine, where it has any: the driver needs no more of them than what all versions share.
  const headers = existsSync('/usr/include/node/node_api.h') ? { npm_config_nodedir: '/usr' } : {};
  await run('npm', words, {
    cwd: folder,
    env: { ...process.env, ...headers },
    maxBuffer: 2 ** 26,
  });
}
