import { afterAll, expect, it } from 'vitest';
import { shortenExpiries } from '../../../../src/redis/jobs/job-queue.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

it("looks for stalled jobs, and gives up a dead process's, as soon as ever after Redis's clock was set back by a day", async () => {
  const queue = `{${redis.prefix}}:drain`;
  const day = 86_400_000;
  await client.lpush(`${queue}:active`, '1', '2', 'gone');
  await client.set(`${queue}:stalled-check`, '', 'PX', day);
  await client.set(`${queue}:1:lock`, 'token', 'PX', day);
  await client.set(`${queue}:2:lock`, 'token', 'PX', 4_000);
  await shortenExpiries(client, queue);
  const left = (key: string) => client.pttl(`${queue}:${key}`);
  expect(await left('stalled-check')).toBeLessThanOrEqual(10_000);
  expect(await left('1:lock')).toBeLessThanOrEqual(10_000);
  expect(await left('2:lock')).toBeLessThanOrEqual(4_000);
});
