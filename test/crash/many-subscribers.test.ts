import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTcpProxy } from '../support/connections/tcp-proxy.ts';
import { expectKept } from '../support/journals/expect-kept.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { killAtRandom } from '../support/world/kill-at-random.ts';
import { accounts, maxInFlight, startWorld, type World } from '../support/world/world.ts';

const random = seededRandom('CRASH_SEED');
const rounds = Math.ceil(Number(process.env['CRASH_KILLS'] ?? 40) / 5);
const subscribers = 500;
const perSecond = 0.5;
const inFlightMax = accounts.length * subscribers * maxInFlight;
// Longer than a job stays with a worker that does nothing.
const frozenMs = 10_000;
let redis: PrivateRedis;

beforeAll(async () => {
  redis = await startPrivateRedis({ appendfsync: 'always' });
});

afterAll(() => redis.close());

async function startMany(redisUrl: string, roles = ['api,poll,deliver']): Promise<World> {
  const world = await startWorld({ random, redisUrl, roles, subscribers });
  // One in twelve answers so slowly that the others of its account have ended long before.
  world.receiver.answer((subscriber) => {
    const isSlow = /[a-d]$|.[02]0$/.test(subscriber);
    return { status: random() < 0.02 ? 503 : 200, afterMs: random() * (isSlow ? 3_000 : 60) };
  });
  return world;
}

const title = `with ${subscribers} subscribers of each account`;

test(`daemons killed and frozen at random, ${title}: nothing is lost, invented or out of order`, async () => {
  await using world = await startMany(redis.url, ['api,poll,deliver', 'deliver', 'deliver']);
  const stop = world.lives.run(perSecond, false);
  await killAtRandom(world, rounds, random);
  for (const daemon of world.daemons.slice(1)) {
    daemon.signal('SIGSTOP');
    await delay(frozenMs);
    daemon.signal('SIGCONT');
    await delay(random() * 2_000);
  }
  await stop();
  const breaks = rounds + world.daemons.length - 1;
  const findings = await expectKept(
    world,
    { repeatsMax: breaks * inFlightMax, setBack: false },
    `${breaks} kills and freezes`,
  );
  expect(findings.events).toBeGreaterThan(rounds);
});

test(`SIGTERM at any time, ${title}: exit code 0, nothing is lost, and nothing that was answered is repeated`, async () => {
  await using world = await startMany(redis.url);
  const [daemon] = world.daemons;
  const finish = world.lives.run(perSecond, false);
  for (let i = 0; i < rounds; i += 1) {
    await daemon?.untilStarted();
    await delay(random() * 3_000);
    expect(await daemon?.stop()).toBe(0);
    daemon?.start();
  }
  await daemon?.untilStarted();
  await finish();
  await expectKept(world, { repeatsMax: 0, setBack: false }, `${rounds} stops`);
});

test(`replies of Redis lost after it has written, ${title}: nothing is lost, invented or out of order`, async () => {
  await using proxy = await startTcpProxy(redis.port);
  await using world = await startMany(`redis://127.0.0.1:${proxy.port}`);
  const finish = world.lives.run(perSecond, false);
  for (let i = 0; i < 2 * rounds; i += 1) {
    await delay(500 + random() * 2_000);
    proxy.mode = 'cut-at-reply';
    await delay(random() * 300);
    proxy.mode = 'pass';
  }
  await finish();
  await expectKept(world, { repeatsMax: 2 * rounds * inFlightMax, setBack: false }, `${2 * rounds} outages`);
});
