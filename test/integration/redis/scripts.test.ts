import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, test } from 'vitest';
import { defineScript } from '../../../src/redis/scripts.ts';
import { startPrivateRedis } from '../../support/redis/test-redis.ts';

// Its own server: it forgets scripts and counts calls.
const server = await startPrivateRedis();
const redis = new Redis(server.url);
const key = 'key';
afterAll(async () => {
  redis.disconnect();
  await server.close();
});

/** A script that no Redis has seen before. */
const fresh = (lua: string) => defineScript(`-- ${randomBytes(8).toString('hex')}\n${lua}`);

describe('a script', () => {
  test('gets keys and arguments in order, and its reply comes back', async () => {
    const script = fresh("redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2]); return {KEYS[1], #ARGV}");
    expect(await script.run(redis, [key], ['a', 2])).toEqual([key, 2]);
    expect(await redis.get(key)).toBe('a2');
  });

  test('is sent whole only to a Redis that does not know it', async () => {
    const script = fresh('return 1');
    const before = await callsOf('eval');
    await script.run(redis, [], []);
    await script.run(redis, [], []);
    expect((await callsOf('eval')) - before).toBe(1);
  });

  test('still runs after Redis forgot it', async () => {
    const script = fresh('return 1');
    await script.run(redis, [], []);
    await redis.script('FLUSH');
    expect(await script.run(redis, [], [])).toBe(1);
  });

  test('carries bytes that are not text, both ways', async () => {
    const bytes = Buffer.from([0, 255, 128, 10]);
    const script = fresh('return {ARGV[1], 7}');
    expect(await script.runBuffer(redis, [], [bytes])).toEqual([bytes, 7]);
  });

  test('that fails rejects with its own error and is not run twice', async () => {
    const script = fresh("redis.call('INCR', KEYS[1]); return redis.error_reply('CONFLICT it moved')");
    const counter = `${key}:count`;
    await expect(script.run(redis, [counter], [])).rejects.toThrow('CONFLICT it moved');
    await expect(script.run(redis, [counter], [])).rejects.toThrow('CONFLICT it moved');
    expect(await redis.get(counter)).toBe('2');
  });
});

async function callsOf(command: string): Promise<number> {
  const stats = await redis.info('commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}
