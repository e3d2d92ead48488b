import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Redis } from 'ioredis';
import { createReadiness } from '../../../src/monitoring/readiness.ts';
import { createRedisConnections, type RedisConnections } from '../../../src/redis/connection/connect.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { createStoreWatch } from '../../../src/redis/durability/store-watch.ts';
import { startPrivateRedis, type PrivateRedis } from '../../support/redis/test-redis.ts';

const keys = createKeys('ready');
let server: PrivateRedis;
let connections: RedisConnections;
let admin: Redis;
let deps: Parameters<typeof createReadiness>[0];
let readiness: ReturnType<typeof createReadiness>;

beforeAll(async () => {
  server = await startPrivateRedis();
  connections = createRedisConnections(server.url, {
    connectionName: 'test',
    onStateChange: () => undefined,
  });
  await connections.untilReady(5_000);
  admin = new Redis(server.url);
  const watch = createStoreWatch(connections.failFast(), keys);
  await watch.begin();
  deps = { redis: connections.failFast(), watch, keys, whyAway: connections.whyAway };
  readiness = createReadiness(deps);
});

afterAll(async () => {
  admin.disconnect();
  await connections.close();
  await server.close();
});

async function expectReasons(...reasons: readonly unknown[]): Promise<void> {
  await vi.waitFor(async () => expect(await readiness()).toEqual({ ready: reasons.length === 0, reasons }), {
    timeout: 10_000,
    interval: 50,
  });
}

test.each([
  ['is out of memory', ['maxmemory', '1'], ['maxmemory', '0'], 'refuses to write: OOM'],
  [
    'may evict',
    ['maxmemory-policy', 'allkeys-lru'],
    ['maxmemory-policy', 'noeviction'],
    'maxmemory-policy is allkeys-lru',
  ],
] as const)(
  'a Redis that %s is not ready, and is again as soon as that is over',
  async (_, broken, mended, reason) => {
    await expectReasons();
    await admin.config('SET', ...broken);
    await expectReasons(expect.stringContaining(reason));
    await admin.config('SET', ...mended);
    await expectReasons();
  },
);

test('a Redis that may evict is named but ready where the operator accepted that, and a replica never is', async () => {
  const accepting = createReadiness({ ...deps, acceptsUnsafe: true });
  expect(await accepting()).toEqual({ ready: true, reasons: [] });
  await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
  const evicts = expect.stringContaining('maxmemory-policy is allkeys-lru');
  expect(await accepting()).toEqual({ ready: true, reasons: [evicts] });
  await admin.replicaof('127.0.0.1', 1);
  const isReplica = expect.stringContaining('is a replica');
  await vi.waitFor(async () =>
    expect(await accepting()).toEqual({ ready: false, reasons: [isReplica, evicts] }),
  );
  await admin.replicaof('NO', 'ONE');
  await admin.config('SET', 'maxmemory-policy', 'noeviction');
  await expectReasons();
});

test('a Redis that became a replica is told as one, again and again', async () => {
  await admin.replicaof('127.0.0.1', 1);
  await expectReasons(expect.stringContaining('is a replica'));
  await expectReasons(expect.stringContaining('is a replica'));
  await admin.replicaof('NO', 'ONE');
  await expectReasons();
});

test('a Redis that is away is told as away', async () => {
  await server.kill();
  await expectReasons(expect.stringContaining('does not answer'));
  await server.restart();
  await expectReasons();
});

test('a Redis that wants another password by now is told as that, and no longer once it takes the former one', async () => {
  await expectReasons();
  await admin.config('SET', 'requirepass', 'other');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await expectReasons(expect.stringMatching(/^Redis does not answer\. It wants a password/));
  await admin.config('SET', 'requirepass', '');
  await expectReasons();
});

test('a Redis that refuses a command to its user is not said to refuse writes', async () => {
  await expectReasons();
  await admin.call('ACL', 'SETUSER', 'default', '-info');
  await expectReasons(expect.stringMatching(/does not allow the daemon's user .* lack: \+info,/));
  await admin.call('ACL', 'SETUSER', 'default', '+info');
  await expectReasons();
});

test('however many ask at once, Redis is asked once', async () => {
  await expectReasons();
  await admin.config('RESETSTAT');
  const answers = await Promise.all(Array.from({ length: 100 }, () => readiness()));
  expect(new Set(answers).size).toBe(1);
  expect(await admin.info('commandstats')).toContain('cmdstat_info:calls=1,');
  expect(await readiness()).not.toBe(answers[0]);
});
