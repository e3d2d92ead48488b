import { Redis } from 'ioredis';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getContainerRuntimeClient } from 'testcontainers';
import { afterAll, describe, expect, test } from 'vitest';
import { provideRedis } from '../../../src/demo/provide-redis.ts';
import { startPrivateRedis, testRedis } from '../../support/redis/test-redis.ts';

const shared = testRedis();
const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-ladder-'));
afterAll(async () => {
  await shared.cleanup();
  await rm(folder, { recursive: true });
});

const log = (): void => undefined;
const hasContainers = await getContainerRuntimeClient().then(
  () => true,
  () => false,
);
const withContainers = hasContainers ? ' (skipped: a container would be started here)' : '';

async function answers(url: string): Promise<boolean> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  return redis.connect().then(
    () => (redis.disconnect(), true),
    () => false,
  );
}

describe('the shared Redis of a run', () => {
  test('cleanup removes the keys of its own prefix and no others', async () => {
    const mine = testRedis();
    await shared.connect().set(`${shared.prefix}:kept`, 'yes');
    await mine.connect().set(`{${mine.prefix}:acct}:gone`, 'yes');
    await mine.cleanup();
    const redis = shared.connect();
    expect(await redis.exists(`{${mine.prefix}:acct}:gone`)).toBe(0);
    expect(await redis.get(`${shared.prefix}:kept`)).toBe('yes');
  });
});

describe('a private Redis', () => {
  test('keeps data and port over a kill, and leaves nothing after close', async () => {
    const server = await startPrivateRedis({ appendfsync: 'always' });
    const redis = new Redis(server.url);
    await redis.set('written', 'before the kill');
    await server.kill();
    await server.restart();
    expect(await redis.get('written')).toBe('before the kill');
    redis.disconnect();
    await server.close();
    expect(await answers(server.url)).toBe(false);
    expect(existsSync(server.directory)).toBe(false);
  });

  test('refuses to start with the reason that Redis gave', async () => {
    await expect(startPrivateRedis({ args: ['--no-such-option', 'x'] })).rejects.toThrow(/no-such-option/);
  });
});

describe('provideRedis', () => {
  test('takes the address it is given, and leaves that Redis running', async () => {
    const redis = await provideRedis({ env: { REDIS_URL: shared.url }, log, allowEmulation: false });
    await redis.close();
    expect(redis.url).toBe(shared.url);
    expect(await answers(shared.url)).toBe(true);
  });

  test('starts a durable server from PATH and removes it at close', async () => {
    const lines: string[] = [];
    const server = await provideRedis({
      env: { PATH: process.env['PATH'] },
      log: (line) => lines.push(line),
      allowEmulation: false,
    });
    const redis = new Redis(server.url);
    expect(await redis.config('GET', 'appendonly')).toEqual(['appendonly', 'yes']);
    expect(await redis.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    redis.disconnect();
    await Promise.all([server.close(), server.close()]);
    expect(await answers(server.url)).toBe(false);
    expect(lines).toEqual([expect.stringContaining('starting a private')]);
  });

  test('kills and removes what it started when its process is killed', async () => {
    const module = new URL('../../../src/demo/provide-redis.ts', import.meta.url).href;
    const script = `import { provideRedis } from '${module}';
      const redis = await provideRedis({ env: { PATH: process.env.PATH }, log() {}, allowEmulation: false });
      process.stdout.write(redis.url);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output] = await once(child.stdout, 'data');
    const url = String(output);
    expect(await answers(url)).toBe(true);
    expect(await readdir(folder)).toHaveLength(1);
    child.kill('SIGKILL');
    await expect.poll(() => answers(url)).toBe(false);
    await expect.poll(() => readdir(folder)).toEqual([]);
  });

  test.skipIf(hasContainers)(
    `says why a server did not start, and goes on to the next way${withContainers}`,
    async () => {
      const file = join(folder, 'redis-server');
      await writeFile(file, '#!/bin/sh\necho "no luck today"\nexit 3\n', { mode: 0o755 });
      const lines: string[] = [];
      await using redis = await provideRedis({
        env: { PATH: folder },
        log: (line) => lines.push(line),
        allowEmulation: true,
      });
      await rm(file);
      expect(lines).toEqual([
        expect.stringContaining(`starting a private ${file}`),
        expect.stringMatching(/exit code 3.*no luck today/s),
        expect.stringContaining('emulating one'),
      ]);
      expect(await answers(redis.url)).toBe(true);
    },
  );

  test.skipIf(hasContainers)(`tells how to get a Redis where there is none${withContainers}`, async () => {
    const nothing = provideRedis({
      env: { PATH: '' },
      log,
      allowEmulation: false,
      variable: 'TEST_REDIS_URL',
    });
    await expect(nothing).rejects.toThrow(
      /apt-get install redis-server[^]*brew[^]*docker run[^]*TEST_REDIS_URL=/,
    );
  });
});
