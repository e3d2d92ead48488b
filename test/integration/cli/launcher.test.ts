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

test('the command line runs with the pinned Node, whatever is in the path, also through a link', async () => {
  await installNode(join(folder, 'node_modules/.bin/node'), `exec ${process.execPath} "$@"`);
  await installNode(join(folder, 'old/node'), oldNode);
  await symlink(launcher, join(folder, 'link'));
  const expected = { exitCode: 0, stdout: `a b|c ${process.version}\n`, stderr: '' };
  expect(await run(launcher, join(folder, 'old'))).toEqual(expected);
  expect(await run(join(folder, 'link'), join(folder, 'old'))).toEqual(expected);
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
