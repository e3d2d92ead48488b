import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectKept } from '../support/journals/expect-kept.ts';
import { startTokenEndpoint, type TokenEndpoint } from '../support/receivers/token-endpoint.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { describeRecoveries, killAtRandom } from '../support/world/kill-at-random.ts';
import { accounts, maxInFlight, startWorld } from '../support/world/world.ts';

const random = seededRandom('CRASH_SEED');
const kills = Number(process.env['CRASH_KILLS'] ?? 12);
const lifetimeSeconds = 3;
let redis: PrivateRedis;

beforeAll(async () => {
  redis = await startPrivateRedis({ appendfsync: 'always' });
});

afterAll(() => redis.close());

/** Takes the token endpoint away and revokes what it has granted, now and then, until the signal. */
async function disturb(tokens: TokenEndpoint, signal: AbortSignal): Promise<number> {
  let times = 0;
  for (; !signal.aborted; times += 1) {
    await delay(2_000 + random() * 4_000);
    if (random() < 0.5) tokens.revokeAll();
    else {
      await tokens.stop();
      await delay(500 + random() * 1_500);
      await tokens.start();
    }
  }
  return times;
}

test('daemons killed at random with receivers behind OAuth 2.0, whose tokens end, are revoked and cannot be had: nothing is lost', async () => {
  await using tokens = await startTokenEndpoint();
  tokens.lifetime(lifetimeSeconds);
  await using world = await startWorld({
    random,
    redisUrl: redis.url,
    roles: ['api,poll,deliver', 'poll,deliver'],
    settings: { auth: tokens.auth },
  });
  const without: string[] = [];
  world.receiver.answer((subscriber, request) => {
    if (request.headers['authorization'] === undefined) without.push(subscriber);
    if (!tokens.accepts(request)) return { status: 401 };
    return { status: random() < 0.03 ? 503 : 200, afterMs: random() * 200 };
  });
  const startedAt = Date.now();
  const over = new AbortController();
  const disturbed = disturb(tokens, over.signal);
  const stop = world.lives.run(20);
  const recoveries = await killAtRandom(world, kills, random);
  over.abort();
  const disturbances = await disturbed;
  await stop();
  const findings = await expectKept(
    world,
    { repeatsMax: kills * maxInFlight, setBack: false },
    `${kills} kills and ${disturbances} disturbances`,
  );
  const { length: granted } = tokens.granted;
  const seconds = (Date.now() - startedAt) / 1000;
  console.log(`${describeRecoveries(recoveries)}; ${granted} tokens in ${Math.round(seconds)} s`);
  expect(findings.events).toBeGreaterThan(kills);
  expect(without).toEqual([]);
  // Each of the subscriptions has its own, of which each lifetime, start and disturbance may take one.
  const subscriptions = 2 * accounts.length;
  expect(granted).toBeLessThan(
    subscriptions * (seconds / (lifetimeSeconds * 0.8) + kills + 3 * disturbances),
  );
}, 600_000);
