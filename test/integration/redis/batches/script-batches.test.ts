import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createScriptBatches } from '../../../../src/redis/batches/script-batches.ts';
import { toUnreadable } from '../../../../src/redis/unreadable-record.ts';
import { startPrivateRedis } from '../../../support/redis/test-redis.ts';

// Its own server, whose calls are counted and which runs out of memory.
const server = await startPrivateRedis();
const redis = new Redis(server.url);
const folder = await mkdtemp(join(tmpdir(), 'script-batches-'));
const file = pathToFileURL(join(folder, 'script.lua'));

beforeAll(async () => {
  await writeFile(
    file,
    `local count = redis.call('INCR', KEYS[1])
batch.sum = (batch.sum or 0) + #ARGV
if ARGV[1] == 'nothing' then return nil end
return { count, batch.call, batch.sum, ARGV[1] }`,
  );
});
afterAll(async () => {
  redis.disconnect();
  await server.close();
  await rm(folder, { recursive: true });
});

const scripts = async () => {
  const stats = await redis.info('commandstats');
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
};

describe('a batch of calls of one script', () => {
  test('is one script for a group, whose calls have their own keys, arguments and replies', async () => {
    const batches = createScriptBatches(file, { redis });
    await batches.run('a', ['{a}0'], ['first']);
    const before = await scripts();
    const replies = await Promise.all([
      batches.run('a', ['{a}1'], ['one', 2]),
      batches.run('a', ['{a}2'], ['two']),
      batches.run('a', ['{a}1'], ['nothing']),
      batches.run('a', ['{a}1'], ['half \ud800 "quoted" \\ \0 ü']),
      batches.run('b', ['{b}1'], ['of another group']),
    ]);
    expect((await scripts()) - before).toBe(2);
    expect(replies.map(({ reply }) => reply)).toEqual([
      [1, 1, 2, 'one'],
      [1, 2, 3, 'two'],
      null,
      [3, 4, 5, 'half \ufffd "quoted" \\ \0 ü'],
      [1, 1, 1, 'of another group'],
    ]);
    expect(replies[3]?.of(2)).toEqual([1, 2, 3, 'two']);
  });

  test('has the keys that its calls share, and the others of each', async () => {
    const twoKeys = pathToFileURL(join(folder, 'two-keys.lua'));
    await writeFile(twoKeys, 'return { #KEYS, unpack(KEYS) }');
    const batches = createScriptBatches(twoKeys, { redis, shared: 2 });
    const calls = ['{a}1', '{a}2', '{a}3'].map((key) =>
      batches.run('a', ['{a}x', '{a}y', key, `${key}b`], []),
    );
    expect((await Promise.all(calls)).map(({ reply }) => reply)).toEqual([
      [4, '{a}x', '{a}y', '{a}1', '{a}1b'],
      [4, '{a}x', '{a}y', '{a}2', '{a}2b'],
      [4, '{a}x', '{a}y', '{a}3', '{a}3b'],
    ]);
  });

  test('has at most fifty calls', async () => {
    const batches = createScriptBatches(file, { redis });
    const calls = Array.from({ length: 120 }, (_, i) => batches.run('a', [`{a}many${i}`], ['x']));
    const replies = await Promise.all(calls);
    const numbers = replies.map(({ reply }) => (reply as number[])[1]);
    expect(numbers.filter((number) => number === 1)).toHaveLength(3);
    expect(Math.max(...numbers.map(Number))).toBe(50);
  });

  test('fails for a call whose key does not suit it, and for no other', async () => {
    const batches = createScriptBatches(file, { redis });
    await redis.rpush('{a}list', 'of another type');
    await redis.set('{a}text', 'no number');
    const [of1, wrong, garbage, of2] = await Promise.allSettled(
      ['{a}fine', '{a}list', '{a}text', '{a}fine'].map((key) => batches.run('a', [key], ['x'])),
    );
    expect(of1).toMatchObject({ value: { reply: [1, 1, 1, 'x'] } });
    expect(of2).toMatchObject({ value: { reply: [2, 4, 2, 'x'] } });
    for (const failed of [wrong, garbage]) {
      const { reason } = failed as PromiseRejectedResult;
      expect(toUnreadable(reason)?.message).toMatch(/^the record {a}(list|text) cannot be read/);
    }
  });

  test('fails as a whole where Redis takes no writes', async () => {
    const batches = createScriptBatches(file, { redis });
    await redis.config('SET', 'maxmemory', '1');
    const calls = ['{a}1', '{a}2'].map((key) => batches.run('a', [key], ['x']));
    const ended = await Promise.allSettled(calls);
    await redis.config('SET', 'maxmemory', '0');
    for (const one of ended) expect(one).toMatchObject({ reason: { message: expect.stringMatching(/OOM/) } });
  });
});
