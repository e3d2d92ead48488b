import { Redis } from 'ioredis';
import { appendFile, chmod, mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findServer } from '../../../src/redis/server/find-server.ts';
import { copyDataFolder } from '../../../src/standalone/copy-folder.ts';
import { markDataFolder } from '../../../src/standalone/data-folder.ts';
import { startOwnRedis } from '../../../src/standalone/own-redis.ts';
import { dataFolder, serverPidOf } from '../../support/daemon/data-folder.ts';

type Line = Readonly<Record<string, unknown>>;

async function startOn(folder: string, executable = findServer(process.env) ?? '') {
  const logs: Line[] = [];
  const logger = pino({}, { write: (line: string) => void logs.push(JSON.parse(line) as Line) });
  const server = await startOwnRedis({ folder, executable, logger, signal: new AbortController().signal });
  const client = new Redis({ path: join(folder, 'redis.sock') });
  client.on('error', () => undefined);
  onTestFinished(() => client.disconnect());
  return { server, client, logs };
}

async function newFolder(): Promise<string> {
  const folder = await dataFolder();
  await mkdir(folder, { mode: 0o700 });
  return folder;
}

test('the server keeps its data, evicts nothing and listens on its socket alone', async () => {
  const { server, client } = await startOn(await newFolder());
  const settings = ['appendonly', 'appendfsync', 'maxmemory-policy', 'port', 'save', 'unixsocketperm'];
  const values = await Promise.all(settings.map(async (name) => (await client.config('GET', name))[1]));
  expect(values).toEqual(['yes', 'everysec', 'noeviction', '0', '', '700']);
  await server[Symbol.asyncDispose]();
});

test('a file with a spoilt end is mended, the log says what was cut, and a copy stays', async () => {
  const folder = await newFolder();
  const first = await startOn(folder);
  await first.client.set('kept', 'yes');
  await first.server[Symbol.asyncDispose]();
  const file = join(folder, 'appendonlydir/appendonly.aof.1.incr.aof');
  await appendFile(file, Buffer.alloc(300));
  const spoilt = await readFile(file);
  const { server, client, logs } = await startOn(folder);
  expect(await client.get('kept')).toBe('yes');
  const mended = logs.find(({ msg }) => msg === 'redis_server.file_mended');
  expect(mended).toMatchObject({ cutBytes: 300, said: expect.stringContaining('to ') });
  expect(await readFile(join(String(mended?.['kept']), 'appendonly.aof.1.incr.aof'))).toEqual(spoilt);
  await server[Symbol.asyncDispose]();
});

test('a copy while the server writes and rewrites its files has all that was written before', async () => {
  const folder = await newFolder();
  markDataFolder(folder);
  const { server, client } = await startOn(folder);
  let written = 0;
  let isOver = false;
  const writing = (async () => {
    for (; !isOver; written += 1) await client.set(`key:${written}`, 'x'.repeat(2_000));
  })();
  for (let copies = 0; copies < 3; copies += 1) {
    await vi.waitFor(() => expect(written).toBeGreaterThan(copies * 200), 10_000);
    await client.bgrewriteaof();
    const before = written;
    const copy = await dataFolder();
    await copyDataFolder(folder, copy);
    const copied = await startOn(copy);
    expect(await copied.client.dbsize()).toBeGreaterThanOrEqual(before);
    expect(copied.logs.map(({ msg }) => msg)).toEqual(['redis_server.started']);
    await copied.server[Symbol.asyncDispose]();
  }
  isOver = true;
  await writing;
  await server[Symbol.asyncDispose]();
});

test('files that cannot be mended are an error, and stay as they were', async () => {
  const folder = await newFolder();
  await (await startOn(folder)).server[Symbol.asyncDispose]();
  await truncate(join(folder, 'appendonlydir/appendonly.aof.1.base.rdb'), 20);
  await appendFile(join(folder, 'appendonlydir/appendonly.aof.1.incr.aof'), 'spoilt');
  await expect(startOn(folder)).rejects.toThrow(/does not start on|cannot mend the files/);
  const file = join(folder, 'appendonlydir/appendonly.aof.1.incr.aof');
  expect(await readFile(file, 'utf8')).toMatch(/spoilt$/);
});

test('a server that ends again and again is tried until it stays, and never after the end', async () => {
  const folder = await newFolder();
  const executable = join(folder, '..', 'redis-server');
  const broken = join(folder, '..', 'broken');
  const script = `#!/bin/sh\n[ -e '${broken}' ] && { echo 'No space left on device'; exit 1; }\nexec ${findServer(process.env)} "$@"\n`;
  await writeFile(executable, script);
  await chmod(executable, 0o755);
  const { server, client, logs } = await startOn(folder, executable);
  await client.set('kept', 'yes');
  await writeFile(broken, '');
  process.kill(serverPidOf(logs), 'SIGKILL');
  await vi.waitFor(
    () =>
      expect(logs.findLast(({ msg }) => msg === 'redis_server.exited')?.['reason']).toMatch(/disk is full/),
    10_000,
  );
  await writeFile(executable, script.replace('-e', '! -e'));
  await vi.waitFor(() => expect(logs.at(-1)?.['msg']).toBe('redis_server.restarted'), 10_000);
  expect(await client.get('kept')).toBe('yes');
  const pid = serverPidOf(logs);
  await server[Symbol.asyncDispose]();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(await readdir(folder)).not.toContain('redis.sock');
});
