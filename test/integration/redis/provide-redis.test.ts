import { Redis } from 'ioredis';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { provideRedis } from '../../../src/demo/provide-redis.ts';
import { startPrivateRedis, testRedis } from '../../support/redis.ts';

const shared = testRedis();
const log = (): void => undefined;
afterAll(() => shared.cleanup());

describe('the shared Redis of a run', () => {
  test('cleanup removes the keys of its own prefix and no others', async () => {
    const [mine, other] = [testRedis(), shared];
    await other.connect().set(`${other.prefix}:kept`, 'yes');
    await mine.connect().set(`{${mine.prefix}:acct}:gone`, 'yes');
    await mine.cleanup();
    const redis = shared.connect();
    expect(await redis.exists(`{${mine.prefix}:acct}:gone`)).toBe(0);
    expect(await redis.get(`${other.prefix}:kept`)).toBe('yes');
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
    await expect(promisify(execFile)('ls', [server.directory])).rejects.toThrow(/No such file/);
  });
});

describe('provideRedis', () => {
  test('takes the address it is given', async () => {
    const redis = await provideRedis({ env: { REDIS_URL: shared.url }, log, allowEmulation: false });
    expect(redis.url).toBe(shared.url);
    await redis.close();
  });

  test('starts a durable server from PATH and removes it at close', async () => {
    const lines: string[] = [];
    const server = await provideRedis({
      env: { PATH: process.env['PATH'] },
      log: (line) => lines.push(line),
      allowEmulation: false,
    });
    const redis = new Redis(server.url, { retryStrategy: () => null });
    expect(await redis.config('GET', 'appendonly')).toEqual(['appendonly', 'yes']);
    expect(await redis.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    redis.disconnect();
    await server.close();
    const after = new Redis(server.url, { retryStrategy: () => null, lazyConnect: true });
    after.on('error', () => undefined);
    await expect(after.connect()).rejects.toThrow('Connection is closed');
    expect(lines).toHaveLength(1);
  });
});
