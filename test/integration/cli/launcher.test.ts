import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

let folder: string;
let launcher: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-launcher-'));
  launcher = join(folder, 'src/cli/filing-webhooks');
  await mkdir(dirname(launcher), { recursive: true });
  await cp(join(import.meta.dirname, '../../../src/cli/filing-webhooks'), launcher);
  await writeFile(
    join(dirname(launcher), 'main.ts'),
    'console.log(process.argv.slice(2).join("|"), process.version);',
  );
  return () => rm(folder, { recursive: true, force: true });
});

async function installNode(file: string, script: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
}

function run(file: string, path = '') {
  return new Promise<{ exitCode: number | null; stdout: string; stderr: string }>((resolve) => {
    const env = { PATH: [path, '/usr/bin', '/bin'].join(delimiter) };
    const child = execFile(file, ['a b', 'c'], { env }, (_, stdout, stderr) =>
      resolve({ exitCode: child.exitCode, stdout, stderr }),
    );
  });
}

const oldNode = 'echo false';

test('the command line runs with the pinned Node although an older one is in the path, also through a link', async () => {
  await installNode(join(folder, 'node_modules/.bin/node'), `exec ${process.execPath} "$@"`);
  await installNode(join(folder, 'old/node'), oldNode);
  await symlink(launcher, join(folder, 'link'));
  const expected = { exitCode: 0, stdout: `a b|c ${process.version}\n`, stderr: '' };
  expect(await run(launcher, join(folder, 'old'))).toEqual(expected);
  expect(await run(join(folder, 'link'), join(folder, 'old'))).toEqual(expected);
});

const [line = 0, minor = 0, patch = 0] = process.versions.node.split('.').map(Number);

test.each([
  [`v${line}.${minor}.${patch + 1}`, 'runs it'],
  [`v${line}.${minor + 1}.0`, 'runs it'],
  [`v${line}.${minor}.${patch}`, 'does not'],
  [`v${line}.${minor - 1}.${patch + 100}`, 'does not'],
  [`v${line - 2}.${minor + 1}.0`, 'does not'],
  [`v${line + 2}.${minor + 1}.0`, 'does not'],
  [`v${line}.${minor + 1}.0-nightly`, 'does not'],
  [`v${line}.${minor + 1}`, 'does not'],
  ['', 'does not'],
])('beside the pinned Node, one in the path that is %j %s', async (version, outcome) => {
  await installNode(join(folder, 'node_modules/.bin/node'), `exec ${process.execPath} "$@"`);
  await installNode(join(folder, 'other/node'), `[ "$1" = --version ] || echo other; echo '${version}'`);
  await installNode(join(folder, 'broken/node'), 'exit 1');
  const { exitCode, stdout, stderr } = await run(
    launcher,
    [join(folder, 'broken'), '', join(folder, 'other')].join(delimiter),
  );
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toBe(outcome === 'runs it' ? `other\n${version}\n` : `a b|c ${process.version}\n`);
});

test('of several Nodes of the pinned line it takes the latest', async () => {
  await installNode(join(folder, 'node_modules/.bin/node'), `exec ${process.execPath} "$@"`);
  for (const newer of [1, 3, 2])
    await installNode(join(folder, `${newer}/node`), `echo v${line}.${minor + newer}.0`);
  const path = ['1', '3', '2'].map((name) => join(folder, name)).join(delimiter);
  expect((await run(launcher, path)).stdout).toBe(`v${line}.${minor + 3}.0\n`);
});

test('without the pinned Node it takes a new one from the path', async () => {
  await installNode(join(folder, 'new/node'), `exec ${process.execPath} "$@"`);
  expect(await run(launcher, join(folder, 'new'))).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('a b|c') as string,
  });
});

test('an old Node is refused with what to do', async () => {
  await installNode(join(folder, 'old/node'), oldNode);
  expect(await run(launcher, join(folder, 'old'))).toMatchObject({
    exitCode: 69,
    stderr: expect.stringContaining('run npm ci') as string,
  });
});

test('a package of the sources, which Node would refuse, is refused with what to do', async () => {
  const installed = join(folder, 'node_modules/filing-webhooks/src/cli/filing-webhooks');
  await mkdir(dirname(installed), { recursive: true });
  await cp(launcher, installed);
  expect(await run(installed)).toMatchObject({
    exitCode: 69,
    stderr: expect.stringContaining('npm run pack') as string,
  });
});
