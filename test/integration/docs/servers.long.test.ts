import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freePort } from '../../../src/redis/server/redis-process.ts';
import { skipIfFails } from '../../support/skip-without.ts';
import type { Captured } from './captured-callback.ts';
import { cases } from './cases.ts';

const examples = join(import.meta.dirname, '../../../docs/verification');
const runFile = promisify(execFile);

/** A server that docs/webhooks.md shows. */
interface Example {
  readonly file: string;
  readonly skipped: boolean;
  /** Gets the library into an empty folder; returns the command, or null without a way to the registry. */
  readonly prepare: (folder: string) => Promise<readonly string[] | null>;
}

const examplesOfServers: readonly Example[] = [
  {
    file: 'node-server.mjs',
    skipped: false,
    prepare: () => Promise.resolve([process.execPath, join(examples, 'node-server.mjs')]),
  },
  {
    file: 'python_server.py',
    skipped: skipIfFails('python3', '-c', 'import ensurepip'),
    async prepare(folder) {
      await runFile('python3', ['-m', 'venv', folder]);
      const python = join(folder, 'bin/python');
      const isInstalled = await fetched(python, '-m', 'pip', 'install', '--quiet', 'standardwebhooks==1.1.0');
      return isInstalled ? [python, join(examples, 'python_server.py')] : null;
    },
  },
  {
    file: 'go-server/main.go',
    skipped: skipIfFails('sh', '-c', 'go version | grep -Eq "go1[.](2[2-9]|[3-9][0-9])"'),
    async prepare(folder) {
      await copyFile(join(examples, 'go-server/main.go'), join(folder, 'main.go'));
      const library = 'github.com/standard-webhooks/standard-webhooks/libraries';
      await writeFile(join(folder, 'go.mod'), `module receiver\n\ngo 1.22\n\nrequire ${library} v0.0.1\n`);
      if (!(await fetched('go', '-C', folder, 'mod', 'tidy'))) return null;
      await runFile('go', ['-C', folder, 'build', '-o', 'receive', '.']);
      return [join(folder, 'receive')];
    },
  },
];

describe.each(examplesOfServers)('docs/verification/$file', ({ file, skipped, prepare }) => {
  let folder = '';
  let command: readonly string[] | null = null;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-server-'));
    if (!skipped) command = await prepare(folder);
  }, 420_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.skipIf(skipped).each([undefined, '', 'whsec_'])(
    `does not start with the secret %j (skipped if ${file} cannot be run)`,
    async (secret) => {
      if (command === null) return;
      const child = start(command, secret, await freePort());
      const [exitCode] = (await once(child, 'exit')) as [number | null];
      expect(exitCode).toBeGreaterThan(0);
    },
  );

  test.skipIf(skipped).each([...new Set(cases.map(({ holds }) => holds))].filter((holds) => holds !== ''))(
    `answers 204 to genuine callbacks and 401 to others (skipped if ${file} cannot be run) %#`,
    async (secret) => {
      if (command === null) return;
      const port = await freePort();
      const child = start(command, secret, port);
      try {
        const refused = { headers: {}, body: Buffer.from('{}') };
        await vi.waitFor(async () => expect(await post(port, refused)).toBe(401), 20_000);
        const large = { headers: {}, body: Buffer.alloc(1_000_001, ' ') };
        expect(await post(port, large).catch(() => 401)).toBe(401);
        const own = cases.filter(({ holds }) => holds === secret);
        const answers = [];
        for (const { callback } of own) answers.push(await post(port, await callback()));
        expect(answers).toEqual(own.map(({ accepted }) => (accepted ? 204 : 401)));
      } finally {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    },
    60_000,
  );
});

function start([file = '', ...args]: readonly string[], secret: string | undefined, port: number) {
  const { WEBHOOK_SECRET: _, ...rest } = process.env;
  const env = { ...rest, PORT: String(port), ...(secret === undefined ? {} : { WEBHOOK_SECRET: secret }) };
  return spawn(file, args, { env, stdio: 'ignore' });
}

async function post(port: number, { headers, body }: Captured): Promise<number> {
  const { host: _, connection: __, 'content-length': ___, ...rest } = headers;
  const request = { method: 'POST', headers: rest, body: new Uint8Array(body) };
  const response = await fetch(`http://127.0.0.1:${port}/`, request);
  await response.arrayBuffer();
  return response.status;
}

/** Runs what needs a registry of packages; false where this machine has no way to it. */
async function fetched(file: string, ...args: readonly string[]): Promise<boolean> {
  try {
    await runFile(file, args);
    return true;
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    if (/dial|lookup|proxy|timeout|No matching distribution|Connection/i.test(stderr)) return false;
    throw error;
  }
}
