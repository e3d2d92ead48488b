import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { Redis } from 'ioredis';
import { listenForCommits } from '../../../../src/filings/commit/commit-journal.ts';
import { createRedisConnections } from '../../../../src/redis/connection/connect.ts';
import { openSentinels } from '../../../../src/redis/connection/open-client.ts';
import { watchSwitches } from '../../../../src/redis/connection/switch-watch.ts';
import { startPrivateRedis } from '../../../support/redis/test-redis.ts';

const channel = 'fw:commits';
const server = await startPrivateRedis();
const admin = new Redis(server.url);
const unhandled = vi.fn<(reason: unknown) => void>();
process.on('unhandledRejection', unhandled);

afterAll(async () => {
  process.off('unhandledRejection', unhandled);
  admin.disconnect();
  await server.close();
});

// Redis ends the connections of a user who may no longer read a channel that they are subscribed to.
const forbid = () => admin.call('ACL', 'SETUSER', 'default', 'resetchannels');
const permit = () => admin.call('ACL', 'SETUSER', 'default', 'allchannels');
const refusals = async () => Number(/errorstat_NOPERM:count=(\d+)/.exec(await admin.info('errorstats'))?.[1]);
const listeners = async (name: string) => Number((await admin.pubsub('NUMSUB', name))[1]);

async function untilRefused(): Promise<void> {
  const before = (await refusals()) || 0;
  await forbid();
  await expect.poll(refusals, { timeout: 10_000 }).toBeGreaterThan(before);
}

test('a subscription refused over a new connection ends no process, and commits are heard of again once it is permitted', async () => {
  await using connections = createRedisConnections(server.url, {
    connectionName: 'test',
    onStateChange: () => undefined,
  });
  const heard: string[] = [];
  const journal = { hear: (message: string) => void heard.push(message) };
  const listen = await listenForCommits(connections.listening(), { commits: channel }, journal);
  await untilRefused();
  await expect(listen()).rejects.toThrow(/NOPERM/);
  await permit();
  await expect.poll(() => listen().then(() => 'subscribed', String)).toBe('subscribed');
  await admin.publish(channel, 'told');
  await expect.poll(() => heard).toEqual(['told']);
  expect(unhandled).not.toHaveBeenCalled();
});

test('commits are heard of over each new connection, without a request', async () => {
  await using connections = createRedisConnections(server.url, {
    connectionName: 'test',
    onStateChange: () => undefined,
  });
  const hear = vi.fn<(message: string) => void>();
  await listenForCommits(connections.listening(), { commits: channel }, { hear });
  await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await expect.poll(() => listeners(channel)).toBe(0);
  await expect.poll(() => listeners(channel), { timeout: 10_000 }).toBe(1);
});

test('a sentinel that refuses a subscription over a new connection ends no process, and is listened to again with the next', async () => {
  // Any Redis can announce a switch.
  const node = { host: '127.0.0.1', port: server.port };
  const none = { username: null, password: null };
  const sentinels = openSentinels(
    {
      kind: 'sentinel',
      nodes: [node],
      path: '',
      tls: null,
      ...none,
      sentinel: none,
      db: 0,
      masterName: 'main',
    },
    'test:sentinel',
  );
  onTestFinished(watchSwitches(sentinels, 'main', () => []));
  await expect.poll(() => listeners('+switch-master')).toBe(1);
  await untilRefused();
  await permit();
  expect(unhandled).not.toHaveBeenCalled();
  for (const sentinel of sentinels) sentinel.disconnect(true);
  await expect.poll(() => listeners('+switch-master'), { timeout: 10_000 }).toBe(1);
});
