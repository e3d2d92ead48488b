import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

test('the demo repeats the link of its dashboard before callbacks scroll it away', async () => {
  const env = { ...process.env, REDIS_URL: redis.url, DEMO_CALLBACKS: '22' };
  const { stdout } = await promisify(execFile)(process.execPath, ['src/demo/main.ts'], { env });
  const lines = stdout.split('\n');
  const links = lines.flatMap((line, at) => (/http:\S+\/#\/link\/\w+/.test(line) ? [at] : []));
  expect(links.length).toBe(2);
  expect(Number(links[1]) - Number(links[0])).toBeLessThan(30);
  expect(lines.findLastIndex((line) => line.includes('  verified  '))).toBeGreaterThan(Number(links[1]));
  expect(lines[links[1] ?? 0]).toBe(lines[links[0] ?? 0]);
});
