import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';
import { checkJournals } from '../support/journals/check-journals.ts';
import { skipWithout } from '../support/skip-without.ts';
import { findStrace, killAtWrite } from './support/strace.ts';
import { maxInFlight, startWorld, type World } from '../support/world/world.ts';

const strace = findStrace();
const worldsAtOnce = Number(process.env['CRASH_WORLDS'] ?? 5);
const writesMax = Number(process.env['CRASH_WRITES'] ?? 400);
const survivalsToEnd = 3;
let redis: PrivateRedis;

beforeAll(async () => {
  redis = await startPrivateRedis({ appendfsync: 'always' });
});

afterAll(() => redis.close());

/** Three filings of the account `default`, which has two subscribers. */
async function changeThree(world: World, round: number): Promise<void> {
  for (let i = 0; i < 3; i += 1)
    await world.lives.move('default', `default-${i}`, round % 2 === 0 ? 'REJECTED' : 'COMPLETED');
}

async function pollUntilDelivered(world: World, expected: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const got = new Set(world.receiver.callbacks.map(({ subscription, id }) => subscription + id));
      if (got.size >= expected) return;
      await world.api().ok('POST', '/v1/accounts/default/poll');
      expect(got.size).toBe(expected);
    },
    { timeout: 60_000, interval: 500 },
  );
}

interface Sweep {
  next: number;
  kills: number;
  survivals: number;
}

// One after the other of the writes that nobody else has taken, until some rounds end before their write
// comes.
async function sweep(
  file: string,
  shared: Sweep,
): Promise<{ violations: readonly string[]; repeats: number; events: number }> {
  await using world = await startWorld({
    redisUrl: redis.url,
    environment: { POLL_INTERVAL_MS: '3600000', SWEEP_INTERVAL_MS: '3600000' },
  });
  const [daemon] = world.daemons;
  if (daemon === undefined) throw new Error('a world has a daemon');
  let kills = 0;
  for (let round = 0; shared.survivals < survivalsToEnd && shared.next <= writesMax; round += 1) {
    const n = shared.next;
    shared.next += 1;
    await daemon.untilStarted();
    const pid = daemon.pid();
    await changeThree(world, round);
    const killer = await killAtWrite(file, pid, n);
    await world
      .api()
      .call('POST', '/v1/accounts/default/poll')
      .catch(() => undefined);
    await pollUntilDelivered(world, 6 * (round + 1));
    await killer.release();
    if (daemon.pid() === pid) shared.survivals += 1;
    else kills += 1;
  }
  shared.kills += kills;
  return checkJournals(world.journals(), { repeatsMax: kills * maxInFlight, setBack: false });
}

const skipped = strace === null ? ' (skipped: strace cannot be installed here)' : '';

test.skipIf(strace === null && skipWithout('strace'))(
  `SIGKILL at each write of a poll with three changes and two subscribers, and of their delivery${skipped}`,
  async () => {
    const shared: Sweep = { next: 1, kills: 0, survivals: 0 };
    const findings = await Promise.all(
      Array.from({ length: worldsAtOnce }, () => sweep(strace ?? '', shared)),
    );
    const sum = (of: 'repeats' | 'events') => findings.reduce((total, each) => total + each[of], 0);
    console.log('kills', shared.kills, 'events', sum('events'), 'repeats', sum('repeats'));
    expect(findings.flatMap(({ violations }) => violations)).toEqual([]);
    expect(shared.survivals).toBeGreaterThanOrEqual(survivalsToEnd);
  },
);
