import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { endServerIn } from '../support/daemon/data-folder.ts';

/** A block of the tutorial and the terminal that it is for. */
interface Step {
  readonly terminal: number;
  readonly language: string;
  readonly text: string;
}

const root = join(import.meta.dirname, '../..');
const shells = new Map<number, { readonly child: ChildProcess; output: string }>();
let folder: string;
let env: Record<string, string | undefined>;
let steps: Step[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-tutorial-'));
  for (const name of ['package.json', 'node_modules']) await symlink(join(root, name), join(folder, name));
  // The command line reads the .env beside its own sources.
  for (const path of ['src', 'docs/problems.md'])
    await cp(join(root, path), join(folder, path), { recursive: true });
  const [daemon, sandbox, receiver] = await Promise.all([freePort(), freePort(), freePort()]);
  env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    PORT: daemon,
    SANDBOX_PORT: sandbox,
  };
  const text = (await readFile(join(root, 'docs/tutorial.md'), 'utf8'))
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${daemon}`)
    .replaceAll('127.0.0.1:4010', `127.0.0.1:${sandbox}`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${receiver}`)
    .replaceAll('listen(8080,', `listen(${receiver},`);
  steps = stepsOf(text);
});

afterAll(async () => {
  for (const { child } of shells.values()) {
    const closed = once(child, 'close');
    process.kill(-Number(child.pid), 'SIGKILL');
    await closed;
  }
  await endServerIn(join(folder, 'data'));
  await rm(folder, { recursive: true, force: true });
});

/**
 * The blocks of the tutorial in their order; one that names no terminal is for the same as the one before.
 */
function stepsOf(text: string): Step[] {
  const found = text.matchAll(/^Terminal (\d)|^```(\w+)\n(.*?)\n```$/gms);
  let terminal = 0;
  return [...found].flatMap(([, named, language, block]) => {
    if (named !== undefined) terminal = Number(named);
    return language === undefined || block === undefined ? [] : [{ terminal, language, text: block }];
  });
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return String(port);
}

function type(terminal: number, text: string): void {
  shells.get(terminal)?.child.stdin?.write(`${text}\n`);
}

function open(terminal: number): void {
  // A group of its own, so that all that it has started ends with it.
  const child = spawn('bash', { cwd: folder, env, detached: true });
  const shell = { child, output: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (shell.output += text));
  shells.set(terminal, shell);
}

/**
 * Types what the next block says where it belongs and waits until its terminal shows what the tutorial
 * promises.
 */
async function follow(begins: string, shows: RegExp | null): Promise<void> {
  const step = steps.shift();
  expect(step?.text.slice(0, begins.length)).toBe(begins);
  const { terminal, text } = step ?? { terminal: 0, text: '' };
  const before = shells.get(terminal)?.output.length ?? 0;
  type(terminal, text);
  await untilShown(terminal, shows, before);
}

async function untilShown(terminal: number, shows: RegExp | null, from = 0): Promise<void> {
  if (shows === null) return;
  await vi.waitFor(() => expect(shells.get(terminal)?.output.slice(from)).toMatch(shows), {
    timeout: 30_000,
    interval: 100,
  });
}

test(
  'the tutorial, block by block, leads to a verified callback, a subscription, and one that comes after an outage',
  { timeout: 120_000 },
  async () => {
    for (const terminal of [1, 2, 3]) open(terminal);
    expect(steps.shift()?.text).toBe('npm ci');
    await follow('cat > .env', null);
    await follow('npm run sandbox', /"created":25/);
    await follow('npm start', /daemon\.started/);
    const receiver = steps.shift();
    expect(receiver).toMatchObject({ terminal: 3, language: 'js' });
    await writeFile(join(folder, 'receiver.mjs'), `${receiver?.text}\n`);
    await follow('node --env-file=.env receiver.mjs', null);
    await follow('npx filing-webhooks listen', /Ctrl-C ends/);
    await follow(
      'npx filing-webhooks trigger',
      /verified filing\.rejected \S+ The affidavit is not signed\./,
    );
    type(3, 'kill %2');
    await follow('. ./.env', /"state":"active"/);
    await follow('npx filing-webhooks trigger', /"state": "active",[^]*"lag": 0,/);
    await untilShown(3, /verified filing\.completed/);
    await follow('kill %1', /"state": "failing",[^]*"lag": 1,/);
    await follow('node --env-file=.env receiver.mjs', /verified filing\.rejected \S+ Nobody was listening\./);
    expect(steps).toEqual([]);
  },
);
