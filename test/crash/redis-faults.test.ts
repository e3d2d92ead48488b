import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startTcpProxy } from '../support/connections/tcp-proxy.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';
import { checkJournals } from '../support/journals/check-journals.ts';
import { expectKept } from '../support/journals/expect-kept.ts';
import { cutTail, lastAppendOnlyFile } from '../support/redis/redis-files.ts';
import { canMount, fill, makeRoom, mountSmallDisk, unmount } from './support/small-disk.ts';
import { maxInFlight, startWorld, type World } from '../support/world/world.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { expectNone } from '../support/expect-none.ts';

const random = seededRandom('CRASH_SEED');
const awayMs = Number(process.env['CRASH_AWAY_MS'] ?? 30_000);
const rounds = Number(process.env['CRASH_ROUNDS'] ?? 4);

async function startRedis(): Promise<PrivateRedis> {
  const redis = await startPrivateRedis({ appendfsync: 'always' });
  onTestFinished(() => redis.close());
  return redis;
}

function connect(redis: PrivateRedis): Redis {
  const client = new Redis(redis.url);
  client.on('error', () => undefined);
  onTestFinished(() => client.disconnect());
  return client;
}

/** What readiness says, and how a registration is answered, and in what time. */
async function ask(world: World) {
  const ready = await world.api().call<{ reasons: string[] }>('GET', '/health/ready');
  const since = performance.now();
  const change = await world.api().call('POST', '/v1/accounts/default/subscriptions', {
    url: world.receiver.urlOf('never'),
    eventTypes: ['ping'],
  });
  const answeredMs = performance.now() - since;
  return { ready: ready.status, reasons: ready.body.reasons, change: change.status, answeredMs };
}

async function untilReady(world: World): Promise<void> {
  await vi.waitFor(async () => expect((await world.api().call('GET', '/health/ready')).status).toBe(200), {
    timeout: 30_000,
    interval: 100,
  });
}

test('Redis killed again and again with everything synced: nothing is lost', async () => {
  const redis = await startRedis();
  await using world = await startWorld({ random, redisUrl: redis.url });
  world.receiver.answer(() => ({ status: 200, afterMs: random() * 60 }));
  const stop = world.lives.run(10);
  for (let i = 0; i < rounds; i += 1) {
    await delay(2_000 + random() * 3_000);
    await redis.restart();
  }
  await stop();
  await expectKept(world, { repeatsMax: rounds * maxInFlight, setBack: false }, `${rounds} outages`);
});

test('Redis away for a while: readiness says why, changes are refused at once, and all is told afterwards', async () => {
  const redis = await startRedis();
  await using world = await startWorld({ random, redisUrl: redis.url });
  world.receiver.answer(() => ({ status: 200, afterMs: 50 }));
  const stop = world.lives.run(10);
  await delay(2_000);
  await redis.kill();
  await delay(awayMs / 2);
  const asked = await ask(world);
  expect(asked).toMatchObject({ ready: 503, reasons: [expect.stringContaining('Redis')], change: 503 });
  expect(asked.answeredMs).toBeLessThan(2_000);
  await delay(awayMs / 2);
  await redis.restart();
  await untilReady(world);
  await delay(2_000);
  await stop();
  await expectKept(world, { repeatsMax: maxInFlight, setBack: false }, '1 outage');
});

test.each([
  [
    'out of memory',
    (client: Redis) => client.config('SET', 'maxmemory', '1'),
    (client: Redis) => client.config('SET', 'maxmemory', '0'),
  ],
  [
    'read-only',
    (client: Redis) => client.replicaof('127.0.0.1', 1),
    (client: Redis) => client.replicaof('NO', 'ONE'),
  ],
])(
  'Redis %s: readiness says so, changes are refused at once, and all is told afterwards',
  async (_, fail, mend) => {
    const redis = await startRedis();
    const client = connect(redis);
    await using world = await startWorld({ random, redisUrl: redis.url });
    world.receiver.answer(() => ({ status: 200, afterMs: 50 }));
    const stop = world.lives.run(10);
    await delay(2_000);
    for (let i = 0; i < 2; i += 1) {
      await fail(client);
      await delay(4_000);
      const asked = await ask(world);
      expect(asked).toMatchObject({ ready: 503, reasons: [expect.stringContaining('Redis')], change: 503 });
      expect(asked.answeredMs).toBeLessThan(2_000);
      await delay(8_000);
      await mend(client);
      await untilReady(world);
      await delay(4_000);
    }
    await stop();
    await expectKept(world, { repeatsMax: 2 * maxInFlight, setBack: false }, '2 outages');
  },
);

const skipped = canMount() ? '' : ' (skipped: no small disk can be mounted here)';

test.skipIf(skipped !== '')(
  `Redis with a full disk: readiness says so, changes are refused at once, and all is told afterwards${skipped}`,
  async () => {
    const folder = mountSmallDisk();
    onTestFinished(() => unmount(folder));
    const redis = await startPrivateRedis({ appendfsync: 'everysec', args: ['--dir', folder] });
    onTestFinished(() => redis.close());
    await using world = await startWorld({ random, redisUrl: redis.url });
    const stop = world.lives.run(10);
    await delay(2_000);
    await fill(folder);
    await vi.waitFor(
      async () => {
        const asked = await ask(world);
        expect(asked).toMatchObject({
          ready: 503,
          reasons: [expect.stringContaining('MISCONF')],
          change: 503,
        });
      },
      { timeout: 20_000, interval: 500 },
    );
    await delay(5_000);
    await makeRoom(folder);
    await untilReady(world);
    await delay(3_000);
    await stop();
    await expectKept(world, { repeatsMax: 2 * maxInFlight, setBack: false }, '2 outages');
  },
);

test('replies of Redis lost after it has written: nothing is lost and nothing told twice', async () => {
  const redis = await startRedis();
  const proxy = await startTcpProxy(redis.port);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  await using world = await startWorld({ random, redisUrl: `redis://127.0.0.1:${proxy.port}` });
  world.receiver.answer(() => ({ status: 200, afterMs: random() * 60 }));
  const stop = world.lives.run(20);
  for (let i = 0; i < 4 * rounds; i += 1) {
    await delay(1_000 + random() * 2_000);
    proxy.mode = 'cut-at-reply';
    await delay(random() * 300);
    proxy.mode = 'pass';
  }
  await stop();
  await expectKept(world, { repeatsMax: 4 * rounds * maxInFlight, setBack: false }, `${4 * rounds} outages`);
});

test('the end of the append-only file cut off in mid-command: changes are seen again under the same ids', async () => {
  const redis = await startRedis();
  await using world = await startWorld({ random, redisUrl: redis.url });
  world.receiver.answer(() => ({ status: 200, afterMs: 200 + random() * 600 }));
  for (let i = 0; i < 2 * rounds; i += 1) {
    // Whatever is set back must still show when it is looked at again.
    for (const account of ['default', 'second'])
      for (let n = 0; n < 5; n += 1)
        await world.lives.move(account, `${account}-${n}`, i % 2 === 0 ? 'REJECTED' : 'PENDING');
    await delay(300 + random() * 500);
    await redis.kill();
    await cutTail(await lastAppendOnlyFile(redis.directory), 1 + random() * 12_000);
    await redis.restart();
    await untilReady(world);
    expect(await world.settle()).toBe(true);
  }
  await expectKept(
    world,
    { repeatsMax: 2 * rounds * 10 * maxInFlight, setBack: true },
    `${2 * rounds} cut files`,
  );
});

test('FLUSHALL in a run: nothing is told as new, readiness says why, changes are refused', async () => {
  const redis = await startRedis();
  const client = connect(redis);
  await using world = await startWorld({ random, redisUrl: redis.url });
  const stop = world.lives.run(20);
  const callbacks = () => world.journals().callbacks;
  await vi.waitFor(() => expect(callbacks().length).toBeGreaterThan(50), 30_000);
  const flushed = Date.now();
  await client.flushall();
  expect(await ask(world)).toMatchObject({
    ready: 503,
    reasons: [expect.stringContaining('emptied')],
    change: expect.toSatisfy((status) => status === 503),
  });
  await delay(5_000);
  await stop();
  expectNone(callbacks(), ({ arrivedAt }) => arrivedAt > flushed + 1_000, 'callbacks');
  // Every callback from before is true and in its place. What was not delivered yet is gone with the store:
  // without polls, no change has to have been seen.
  const { violations, events } = checkJournals(
    { ...world.journals(), polls: [] },
    { repeatsMax: maxInFlight, setBack: false },
  );
  expect(events).toBeGreaterThan(50);
  expect(violations.filter((text) => !text.startsWith('convergence'))).toEqual([]);
});
