import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { formatCallback, printable } from '../../src/demo/callback-line.ts';
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

const plain = (_style: string, text: string): string => text;

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
  test('prints verified callbacks, ends after as many as asked for, and leaves no key and no file', async () => {
    const demo = startDemo(['npm', 'run', 'demo'], { REDIS_URL: redis.url, DEMO_CALLBACKS: '3' });
    await untilCallback(demo);
    expect(await demo.exited, demo.output()).toBe(0);
    expect(demo.output().match(verified)?.length).toBeGreaterThanOrEqual(3);
    expect(demo.output()).not.toContain('refused');
    const [, prefix] = /every key begins with (demo-[0-9a-f]+)/.exec(demo.output()) ?? [];
    expect(prefix).toBeDefined();
    expect(await redis.connect().keys(`${prefix}*`)).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('needs nothing configured, shows a request that works, and leaves nothing behind after Ctrl-C', async () => {
    const demo = startDemo(['npm', 'run', 'demo'], {});
    await untilCallback(demo);
    const [, authorization = '', url = ''] =
      /^ *curl -s -H 'Authorization: (Bearer \S+)' (http:\S+)$/m.exec(demo.output()) ?? [];
    const response = await fetch(url, { headers: { authorization } });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ items: expect.arrayContaining([expect.anything()]) });
    const opened = [...demo.output().matchAll(/http:\/\/127\.0\.0\.1:\d+/g)].map(([origin]) => origin);
    demo.pressCtrlC();
    await demo.exited;
    expect(demo.output()).toContain('nothing is left behind');
    expect(opened.length).toBeGreaterThanOrEqual(3);
    expect(await Promise.all(opened.map(isOpen))).not.toContain(true);
    expect(await readdir(folder)).toEqual([]);
  });

  test('works where no redis-server can be found', async () => {
    const demo = startDemo([process.execPath, 'src/demo/main.ts'], { PATH: '', DEMO_CALLBACKS: '1' });
    await untilCallback(demo);
    expect(await demo.exited, demo.output()).toBe(0);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('the line about a callback', () => {
  test('tells status before and after, insured, policy, state and why it was rejected', () => {
    const line = formatCallback(
      {
        type: 'filing.rejected',
        timestamp: '2026-11-21T10:00:03.120Z',
        data: {
          filingId: 'f_1',
          status: 'REJECTED',
          previousStatus: 'PENDING',
          rejectionReason: 'Affidavit is not signed',
          filing: { insuredsName: 'Blue Heron LLC', policyNumber: 'P-1', filingState: { stateAbbr: 'TX' } },
        },
      },
      plain,
    );
    expect(line).toMatch(
      /^\d\d:\d\d:03 {2}verified {2}PENDING {3}→ REJECTED {3}Blue Heron LLC · policy P-1 · TX · because: Affidavit is not signed$/,
    );
  });

  test('does without what a callback does not carry', () => {
    expect(formatCallback({ data: { filingId: 'f_1', status: 'PAID', previousStatus: null } }, plain)).toBe(
      '--:--:--  verified  new       → PAID       filing f_1',
    );
    expect(formatCallback(null, plain)).toContain('verified');
  });

  test.each([
    ['escape sequences', 'a\u001b[2Jb\u009b31mc', 'a\ufffd[2Jb\ufffd31mc'],
    ['new lines', 'a\r\nb\u2028c', 'a\ufffd\ufffdb\ufffdc'],
    ['bidirectional overrides', 'a\u202eb\u2066c', 'a\ufffdb\ufffdc'],
    ['lone surrogates', 'a\ud800b', 'a\ufffdb'],
  ])('shows %s as replacement characters', (_what, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  test('cuts a long text without breaking a character', () => {
    expect(printable('😀'.repeat(100), 3)).toBe('😀😀…');
  });
});
