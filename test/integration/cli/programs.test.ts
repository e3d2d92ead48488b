import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';

const launcher = join(import.meta.dirname, '../../../src/cli/filing-webhooks');
const commandLine = join(import.meta.dirname, '../../../src/cli/main.ts');
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-programs-'));
  return () => rm(folder, { recursive: true, force: true });
});

function run(file: string, args: readonly string[], env: Record<string, string> = {}) {
  const { API_TOKEN: _, ENCRYPTION_KEY: __, REDIS_URL: ___, ...inherited } = process.env;
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  return { child, output: () => output, exited: once(child, 'close').then(() => child.exitCode) };
}

test('start runs the daemon, which names what is wrong in its configuration', async () => {
  const daemon = run(launcher, ['start'], { API_TOKEN: 'short' });
  expect(await daemon.exited).toBe(78);
  expect(daemon.output()).toContain('API_TOKEN must be');
});

test('start --data names the folder, before the variable does', async () => {
  await writeFile(join(folder, 'report.csv'), 'a,b');
  const daemon = run(launcher, ['start', '--data', '.'], { DATA_DIR: join(folder, 'report.csv') });
  expect(await daemon.exited).toBe(78);
  expect(daemon.output()).toContain(`${folder} is not a data folder`);
});

test('--env-file names its variables, behind those of the process', async () => {
  const file = join(folder, 'other.env');
  await writeFile(
    file,
    `API_TOKEN=short\nENCRYPTION_KEY=${Buffer.alloc(32).toString('base64')}\nPORT=70000\n`,
  );
  const daemon = run(launcher, ['start', '--env-file', file], { PORT: '0' });
  expect(await daemon.exited).toBe(78);
  expect(daemon.output()).toMatch(/- API_TOKEN (?!is required)/);
  expect(daemon.output()).not.toMatch(/ENCRYPTION_KEY|PORT/);
});

test('sandbox takes the place of the process: a signal to its pid ends it with 0', async () => {
  const sandbox = run(process.execPath, [commandLine, 'sandbox'], { SANDBOX_PORT: '0' });
  const listening = await vi.waitFor(() => {
    const line = sandbox
      .output()
      .split('\n')
      .find((text) => text.includes('sandbox is listening'));
    return JSON.parse(line ?? '') as { pid: number; url: string };
  }, 20_000);
  expect(listening.pid).toBe(sandbox.child.pid);
  expect((await fetch(`${listening.url}/_sandbox`)).status).toBeLessThan(500);
  sandbox.child.kill('SIGTERM');
  expect(await sandbox.exited).toBe(0);
});
