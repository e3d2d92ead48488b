import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const launcher = join(import.meta.dirname, '../../../src/cli/filing-webhooks');
const token = 'token-of-the-environment-in-tests';

let folder: string;
let server: Server;
let given: (string | undefined)[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-foreign-'));
  given = [];
  server = createServer(({ headers }, response) => {
    given.push(headers.authorization);
    response.setHeader('content-type', 'application/json').end('{"items":[],"nextCursor":null}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await writeFile(join(folder, '.env'), `FILING_WEBHOOKS_URL=http://127.0.0.1:${port}\n`);
});

afterEach(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

function run(...words: string[]) {
  // Nothing listens at port 1, which stands for the daemon's own.
  const env = { PATH: process.env['PATH'], FILING_WEBHOOKS_TOKEN: token, PORT: '1' };
  return new Promise<{ exitCode: number | null; stderr: string }>((resolve) => {
    const child = execFile(launcher, words, { cwd: folder, env }, (_, _stdout, stderr) =>
      resolve({ exitCode: child.exitCode, stderr }),
    );
  });
}

test('a foreign .env in the folder gets no token', async () => {
  expect(await run('api', 'GET', '/subscriptions')).toEqual({
    exitCode: 69,
    stderr: expect.stringContaining('Nothing answers at http://127.0.0.1:1') as string,
  });
  expect(given).toEqual([]);
});

test('a file that is named with --env-file is read', async () => {
  expect(await run('api', 'GET', '/subscriptions', '--env-file', '.env')).toMatchObject({ exitCode: 0 });
  expect(given).toEqual([`Bearer ${token}`]);
  const missing = await run('api', 'GET', '/subscriptions', '--env-file', 'none.env');
  expect(missing).toEqual({
    exitCode: 66,
    stderr: expect.stringContaining('There is no file none.env') as string,
  });
  expect(await run('api', 'GET', '/subscriptions', '--env-file', folder)).toEqual({
    exitCode: 66,
    stderr: expect.stringContaining(`${folder} cannot be read (EISDIR): `) as string,
  });
});

test('a file whose values programs read differently is not used, and quotes of a token are named', async () => {
  await writeFile(join(folder, 'own.env'), 'API_TOKEN=part#rest\n');
  expect(await run('api', 'GET', '/subscriptions', '--env-file', 'own.env')).toEqual({
    exitCode: 66,
    stderr: expect.stringContaining('own.env, line 1: API_TOKEN has # in its value') as string,
  });
  await writeFile(join(folder, 'own.env'), `API_TOKEN='"${token}"'\n`);
  expect(await run('api', 'GET', '/subscriptions', '--env-file', 'own.env')).toEqual({
    exitCode: 64,
    stderr: expect.stringContaining('API_TOKEN has quotes around its value') as string,
  });
  expect(given).toEqual([]);
});
