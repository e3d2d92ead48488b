import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startPrivateRedis } from '../support/redis/test-redis.ts';

test('a daemon has the append-only file of a Redis that was started again rewritten', async () => {
  await using redis = await startPrivateRedis();
  await using daemon = await startDaemonProcess({ REDIS_URL: redis.url });
  await redis.restart();
  const client = new Redis(redis.url);
  try {
    const isRewritten = async () =>
      /aof_rewrites:1\r\n[^]*aof_base_size:[1-9]/.test(await client.info('persistence'));
    await expect.poll(isRewritten, { timeout: 20_000, interval: 100 }).toBe(true);
    const missing = async () => {
      const text = await (await fetch(`${daemon.url}/metrics`)).text();
      return /^filing_webhooks_aof_rewrites_missing (\d+)$/m.exec(text)?.[1];
    };
    await expect.poll(missing, { timeout: 20_000, interval: 100 }).toBe('0');
  } finally {
    client.disconnect();
  }
}, 60_000);
