import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
const verified = /^\d\d:\d\d:\d\d {2}verified {2}\S+ +→ \S+ .*$/gm;
const firstCallbackMs = 15_000;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-demo-test-'));
  return () => rm(folder, { recursive: true, force: true });
});

afterAll(() => redis.cleanup());

interface RunningDemo {
  /** What it has printed so far, standard error included. */
  output(): string;
  /** Resolves to its exit code. */
  readonly exited: Promise<number | null>;
  /** As a Ctrl-C in its terminal: npm and the demo both get it. */
  pressCtrlC(): void;
}

function startDemo(command: readonly [string, ...string[]], env: Record<string, string>): RunningDemo {
  const { REDIS_URL: _, FORCE_COLOR: __, ...inherited } = process.env;
  const [file, ...args] = command;
  const child = spawn(file, args, {
    // npm would put its compile cache into the folder that has to be empty afterwards.
    env: { ...inherited, TMPDIR: folder, NODE_DISABLE_COMPILE_CACHE: '1', ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const exited = once(child, 'close').then(() => child.exitCode);
  const pressCtrlC = (): void => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGINT');
  };
  onTestFinished(async () => {
    pressCtrlC();
    await exited;
  });
  return { output: () => output, exited, pressCtrlC };
}

async function untilCallback(demo: RunningDemo): Promise<void> {
  await vi.waitFor(() => expect(demo.output()).toMatch(verified), { timeout: firstCallbackMs, interval: 50 });
}

async function isOpen(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = createConnection({ host: hostname, port: Number(port) });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describe('npm run demo', () => {
  test('prints verified callbacks, shows a request that works, and leaves nothing behind after Ctrl-C', async () => {
    const demo = startDemo(['npm', 'run', 'demo'], { REDIS_URL: redis.url });
    await untilCallback(demo);
    expect(demo.output()).toMatch(/^(?:(?:>.*)?\n)*Starting …/);
    const [, authorization = '', url = ''] =
      /^ *curl -s -H 'Authorization: (Bearer \S+)' (http:\S+)$/m.exec(demo.output()) ?? [];
    const response = await fetch(url, { headers: { authorization } });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ items: expect.arrayContaining([expect.anything()]) });
    const opened = [...demo.output().matchAll(/http:\/\/127\.0\.0\.1:\d+/g)].map(([origin]) => origin);
    const [, prefix] = /every key begins with (demo-[0-9a-f]+)/.exec(demo.output()) ?? [];
    expect(prefix).toBeDefined();
    const keys = () => redis.connect().keys(`${prefix}*`);
    expect(await keys()).not.toEqual([]);
    demo.pressCtrlC();
    const before = demo.output();
    await demo.exited;
    expect(demo.output()).toContain('nothing is left behind');
    expect(demo.output().slice(before.length)).not.toContain('http://');
    expect(demo.output()).not.toContain('refused');
    expect(opened.length).toBeGreaterThanOrEqual(3);
    expect(await Promise.all(opened.map(isOpen))).not.toContain(true);
    expect(await keys()).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('needs nothing configured, not even a redis-server, and ends after as many callbacks as asked for', async () => {
    const demo = startDemo([process.execPath, 'src/demo/main.ts'], { PATH: '', DEMO_CALLBACKS: '2' });
    await untilCallback(demo);
    expect(await demo.exited, demo.output()).toBe(0);
    expect(demo.output().match(verified)?.length).toBeGreaterThanOrEqual(2);
    expect(await readdir(folder)).toEqual([]);
  });
});
