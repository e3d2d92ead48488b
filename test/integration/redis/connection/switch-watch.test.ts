import { afterAll, expect, test } from 'vitest';
import { watchSwitches } from '../../../../src/redis/connection/switch-watch.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

test('clients connect anew, and stay, when a sentinel announces another master of their name', async () => {
  // Any Redis can announce it.
  const sentinel = redis.connect();
  const publisher = redis.connect();
  const client = redis.connect();
  const connectionId = () => client.client('ID').catch(() => null);
  const first = await connectionId();
  const name = redis.prefix;
  const end = watchSwitches([sentinel], name, () => [client]);
  await expect.poll(() => publisher.pubsub('NUMSUB', '+switch-master')).toEqual(['+switch-master', 1]);
  const announce = (master: string) =>
    publisher.publish('+switch-master', `${master} 127.0.0.1 6379 127.0.0.1 6380`);
  await announce(`${name}-another`);
  await sentinel.ping();
  expect(await connectionId()).toBe(first);
  await announce(name);
  await expect.poll(connectionId).not.toBe(first);
  await expect.poll(connectionId).toBeGreaterThan(Number(first));
  end();
});
