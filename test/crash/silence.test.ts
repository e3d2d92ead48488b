import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startPrivateRedis } from '../support/redis/test-redis.ts';
import { startSilencingProxy } from '../support/connections/silencing-proxy.ts';
import {
  startProxiedCluster,
  startProxiedSentinels,
  type ProxiedGroup,
  type Silence,
} from './failovers/proxied-groups.ts';
import { accounts, startWorld, type World } from '../support/world/world.ts';

// Milliseconds in which work has to go on after a connection has fallen silent, or after a successor was
// elected.
const goesOnMs = 15_000;
const changesPerSecond = 10;

/** The longest time from one of these to the next, of which the last may still be to come; milliseconds. */
function longestGap(since: number, times: readonly number[], until: number): number {
  const points = [since, ...times.filter((time) => time > since && time < until), until];
  return Math.max(...points.slice(1).map((time, i) => time - (points[i] ?? 0)));
}

/**
 * The longest times in which no poll of an account ended, no callback of it came and the API did not answer;
 * from `since` to now.
 */
function standstills(world: World, since: number, answered: readonly number[]) {
  const now = Date.now();
  const { polls, callbacks } = world.journals();
  const longest = (times: (account: string) => number[]) =>
    Math.max(...accounts.map((account) => longestGap(since, times(account), now)));
  return {
    polls: longest((account) => polls.flatMap((poll) => (poll.account === account ? poll.to : []))),
    callbacks: longest((account) =>
      callbacks.flatMap(({ subscription, arrivedAt }) => (subscription.startsWith(account) ? arrivedAt : [])),
    ),
    api: longestGap(since, answered, now),
  };
}

/** Asks the API for something in Redis again and again, and notes when it is answered. */
function keepAsking(world: World): AsyncDisposable & { readonly answered: readonly number[] } {
  const answered: number[] = [];
  let asking = true;
  const done = (async () => {
    for (; asking; await delay(200)) {
      const answer = await world
        .api()
        .call('GET', '/v1/accounts')
        .catch(() => null);
      if (answer?.status === 200) answered.push(Date.now());
    }
  })();
  return {
    answered,
    [Symbol.asyncDispose]() {
      asking = false;
      return done;
    },
  };
}

function changeAllTheTime(world: World): AsyncDisposable {
  const stop = world.lives.run(changesPerSecond);
  return { [Symbol.asyncDispose]: stop };
}

function print(line: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

test('connections to a Redis fall silent one after the other, and all at once: polls, callbacks and the API stand still for no longer than 15 s', async () => {
  await using redis = await startPrivateRedis();
  await using proxy = await startSilencingProxy(redis.port);
  await using world = await startWorld({ redisUrl: `redis://127.0.0.1:${proxy.port}` });
  await using asking = keepAsking(world);
  await using changing = changeAllTheTime(world);
  const names = [...new Set(proxy.names())];
  expect(names.length).toBeGreaterThanOrEqual(6);
  for (const silenced of [...names.map((name) => [name]), names]) {
    await delay(2_000);
    const since = Date.now();
    expect(proxy.silence((name) => silenced.includes(name))).toBeGreaterThan(0);
    await delay(goesOnMs);
    const stood = standstills(world, since, asking.answered);
    print({ silenced: silenced.length > 1 ? 'all' : silenced[0], ...stood });
    for (const ms of Object.values(stood)) expect(ms).toBeLessThan(goesOnMs);
  }
  await changing[Symbol.asyncDispose]();
  expect(await world.settle()).toBe(true);
});

test.each<[string, Silence, () => Promise<ProxiedGroup>]>([
  ['the master behind three sentinels', 'stands still', startProxiedSentinels],
  ['the master behind three sentinels', 'stands still with a sentinel', startProxiedSentinels],
  ['the master behind three sentinels', 'loses its route', startProxiedSentinels],
  ['the master behind three sentinels', 'answers one connection only', startProxiedSentinels],
  ["the primary of the queues' slot in a cluster", 'stands still', () => startProxiedCluster('~queues')],
  ["the primary of the queues' slot in a cluster", 'loses its route', () => startProxiedCluster('~queues')],
  [
    "the primary of the queues' slot in a cluster",
    'answers one connection only',
    () => startProxiedCluster('~queues'),
  ],
  ["the primary of an account's slot in a cluster", 'stands still', () => startProxiedCluster('default')],
])('%s %s for good: callbacks go on within 15 s of the election', async (_, how, start) => {
  await using group = await start();
  await using world = await startWorld({ redisUrl: group.url });
  await using changing = changeAllTheTime(world);
  await delay(3_000);
  const since = Date.now();
  const elected = await group.fail(how);
  // What was detected afterwards, not what was in flight.
  const told = (account: string) =>
    world.receiver.callbacks.find(
      ({ subscription, body }) => subscription.startsWith(account) && detectedAt(body) > elected,
    )?.arrivedAt ?? Infinity;
  const waitedMs = () => Math.max(...accounts.map(told)) - elected;
  await expect.poll(waitedMs, { timeout: 2 * goesOnMs, interval: 50 }).toBeLessThan(Infinity);
  print({ _, how, electedMs: elected - since, toldMs: waitedMs() });
  expect(waitedMs()).toBeLessThan(goesOnMs);
  await changing[Symbol.asyncDispose]();
  expect(await world.settle()).toBe(true);
});

function detectedAt(body: Buffer): number {
  return Date.parse((JSON.parse(body.toString()) as { timestamp: string }).timestamp);
}
