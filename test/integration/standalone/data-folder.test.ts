import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { copyDataFolder } from '../../../src/standalone/copy-folder.ts';
import { openDataFolder } from '../../../src/standalone/data-folder.ts';
import { openOwnStore } from '../../../src/standalone/own-store.ts';
import { secretsOf } from '../../../src/standalone/secrets.ts';
import { StandaloneError } from '../../../src/standalone/standalone-error.ts';
import { temporaryFolder } from '../../support/daemon/data-folder.ts';
import { skipIfFails } from '../../support/skip-without.ts';

const mountOnce = 'd=$(mktemp -d) && mount -t tmpfs none "$d" && umount "$d" && rmdir "$d"';
const withoutMount = skipIfFails('sh', '-c', mountOnce);

/** A data folder with secrets, which no process uses. */
async function made(): Promise<string> {
  const folder = join(await temporaryFolder(), 'data');
  using _ = await openDataFolder(folder);
  await secretsOf(folder, {});
  return folder;
}

async function mounted(options: string, prepare: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = await temporaryFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', folder]);
  onTestFinished(() => void execFileSync('umount', [folder]));
  await prepare(folder);
  return folder;
}

/** Name and text of each file in a folder but the one of the holder, to see that nothing was changed. */
async function contentsOf(folder: string): Promise<(readonly [string, string])[]> {
  const files = (await readdir(folder, { withFileTypes: true })).filter(({ name }) => name !== 'pid');
  const texts = files.map(async (file) => {
    const text = file.isFile() ? await readFile(join(folder, file.name), 'utf8') : '';
    return [file.name, text] as const;
  });
  return Promise.all(texts);
}

async function open(folder: string): Promise<void> {
  using _ = await openDataFolder(folder);
  await secretsOf(folder, {});
}

test('a folder keeps the secrets that it was made with', async () => {
  const folder = await made();
  const before = await contentsOf(folder);
  await open(folder);
  expect(await contentsOf(folder)).toEqual(before);
  const both = { API_TOKEN: 'x'.repeat(24), ENCRYPTION_KEY: 'y' };
  expect(await secretsOf(folder, both)).toEqual({ values: {}, made: false });
});

test.each<[string, (folder: string) => Promise<unknown>, RegExp]>([
  ['open to others', (folder) => chmod(folder, 0o750), /data is open to other users: chmod 700 .*data$/],
  [
    'with secrets open to others',
    (folder) => chmod(join(folder, 'secrets.env'), 0o644),
    /secrets\.env is open to other users: chmod 600 .*secrets\.env$/,
  ],
  [
    'of another format',
    (folder) => writeFile(join(folder, 'version'), '2\n'),
    /is of format 2, and this version reads and writes format 1: run the filing-webhooks that made it/,
  ],
  [
    'whose secrets have no key',
    (folder) => writeFile(join(folder, 'secrets.env'), `API_TOKEN=${'x'.repeat(24)}\n`),
    /secrets\.env has no ENCRYPTION_KEY: bring the file back from a backup/,
  ],
  [
    'whose secrets cannot be read',
    (folder) => writeFile(join(folder, 'secrets.env'), 'API_TOKEN=a#b\n'),
    /secrets\.env, line 1: API_TOKEN has # in its value/,
  ],
])('a folder %s is refused, and nothing in it changes', async (_, spoil, message) => {
  const folder = await made();
  await spoil(folder);
  const before = await contentsOf(folder);
  await expect(open(folder)).rejects.toThrow(message);
  await expect(open(folder)).rejects.toBeInstanceOf(StandaloneError);
  expect(await contentsOf(folder)).toEqual(before);
});

test('data without the secrets that seal it is refused, unless the environment has them', async () => {
  const folder = join(await temporaryFolder(), 'data');
  using _ = await openDataFolder(folder);
  await mkdir(join(folder, 'appendonlydir'));
  await expect(secretsOf(folder, {})).rejects.toThrow(
    /secrets\.env is missing, and what .* sealed with its key/,
  );
  expect(await readdir(folder)).not.toContain('secrets.env');
});

test("another program's folder, a file, and a path that is too long are refused, and nothing is written", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'report.csv'), 'a,b\n');
  await expect(open(folder)).rejects.toThrow(/is not a data folder, it has no file "version": name an empty/);
  await expect(open(join(folder, 'report.csv'))).rejects.toThrow(/report\.csv is a file, not a folder/);
  await expect(open(join(folder, 'report.csv', 'data'))).rejects.toThrow(/lies below a file/);
  await expect(openOwnStore(process.env, join(folder, 'x'.repeat(100)))).rejects.toThrow(
    /too long for the path of a socket: name a folder of at most 92 bytes/,
  );
  expect(await readdir(folder)).toEqual(['report.csv']);
});

test('no server in the path is an error that names the packages', async () => {
  const folder = await temporaryFolder();
  await expect(openOwnStore({ PATH: '' }, join(folder, 'data'))).rejects.toThrow(
    /no redis-server or valkey-server[^]*apt-get install[^]*brew install[^]*dnf install[^]*apk add[^]*REDIS_URL/,
  );
  expect(await readdir(folder)).toEqual([]);
});

test.skipIf(withoutMount)(
  'a full disk and a read-only one are named (skipped where nothing can be mounted)',
  async () => {
    const full = await mounted('size=4k,mode=700', async () => undefined);
    await expect(open(full)).rejects.toThrow(/is on a disk that is full: make room there/);
    const readOnly = await mounted('mode=700', async (folder) => {
      await open(folder);
      execFileSync('mount', ['-o', 'remount,ro', folder]);
    });
    const before = await contentsOf(readOnly);
    await expect(open(readOnly)).rejects.toThrow(
      /is on a file system that can only be read: mount it for writing/,
    );
    expect(await contentsOf(readOnly)).toEqual(before);
  },
);

test('of many processes one gets the folder, and its kill frees it', async () => {
  const folder = join(await temporaryFolder(), 'data');
  const module = new URL('../../../src/standalone/data-folder.ts', import.meta.url).href;
  const script = `import { openDataFolder } from '${module}';
    const folder = await openDataFolder(${JSON.stringify(folder)}).catch(({ message }) => message);
    process.stdout.write(typeof folder === 'string' ? folder : 'has it');
    if (typeof folder !== 'string') setInterval(() => folder.path, 1_000);`;
  const children = Array.from({ length: 5 }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  onTestFinished(() => children.forEach((child) => void child.kill('SIGKILL')));
  const said = await Promise.all(children.map(async ({ stdout }) => String((await once(stdout, 'data'))[0])));
  const holder = children[said.indexOf('has it')];
  expect(said.filter((text) => text !== 'has it')).toHaveLength(4);
  await expect(open(folder)).rejects.toThrow(`is in use by process ${holder?.pid}: end that one first`);
  holder?.kill('SIGKILL');
  await once(holder ?? process, 'exit');
  await open(folder);
});

test('a copy that fails leaves nothing that is taken for a data folder, and one of no data folder is refused', async () => {
  const [folder, target] = [await made(), join(await temporaryFolder(), 'copy')];
  await mkdir(join(folder, 'appendonlydir'));
  await writeFile(join(folder, 'appendonlydir/appendonly.aof.manifest'), 'file gone.aof seq 1 type i\n');
  await expect(copyDataFolder(folder, target)).rejects.toThrow(/was rewritten during each of 3 copies/);
  expect((await readdir(target)).toSorted()).toEqual(['lock', 'pid']);
  await expect(copyDataFolder(target, folder)).rejects.toThrow(/copy is not a data folder/);
});
