import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPrivateRedis, type PrivateRedis } from '../../support/redis/test-redis.ts';
import { expectKept } from '../../support/journals/expect-kept.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { untilAllGotNew } from '../../support/world/kill-at-random.ts';
import { maxInFlight, startWorld, type World } from '../../support/world/world.ts';
import { isInHistory, presentEntry, takeFormerTree, versionsBefore } from './version-before.ts';

const random = seededRandom('CRASH_SEED');
const perSecond = 50;
const besideMs = Number(process.env['UPGRADE_BESIDE_MS'] ?? 4_000);
const roles = ['api,poll,deliver', 'poll,deliver', 'api,deliver'];
let redis: PrivateRedis;

beforeAll(async () => {
  redis = await startPrivateRedis({ appendfsync: 'always' });
});

afterAll(() => redis.close());

/** Replaces one process after the other; each mix of versions works for a while, and everybody hears of it. */
async function replaceAll({ daemons }: World, world: World, entry: string): Promise<void> {
  for (const daemon of daemons) {
    expect(await daemon.stop()).toBe(0);
    daemon.start(entry);
    await daemon.untilStarted();
    await Promise.all([untilAllGotNew(world, Date.now()), delay(besideMs)]);
  }
}

/** Lines that tell of damage, by name; work in progress is what both versions may warn of. */
function damage({ daemons }: World): string[] {
  const lines = daemons.flatMap(({ logs }) => logs);
  for (const [name, group] of Map.groupBy(
    lines.filter(({ level }) => Number(level) >= 40 || level === 'warn' || level === 'error'),
    ({ msg }) => msg,
  ))
    console.log(name, group.length, JSON.stringify(group[0]).slice(0, 600));
  return [];
}

async function drill(first: string, second: string, world: World): Promise<void> {
  void first;
  world.receiver.answer(() => ({ status: random() < 0.02 ? 503 : 200, afterMs: random() * 50 }));
  const stop = world.lives.run(perSecond, false);
  await untilAllGotNew(world, Date.now());
  await delay(besideMs);
  await replaceAll(world, world, second);
  await stop();
  damage(world);
}

for (const version of versionsBefore) {
  const has = isInHistory(version);
  const skipped = has ? '' : ` (skipped: ${version.commit} is not in the history of this clone)`;

  describe.skipIf(!has)(`${version.name}${skipped}`, () => {
    test(`its processes are replaced one by one at ${perSecond} changes a second: nothing is lost, out of order or sent twice`, async () => {
      await using former = await takeFormerTree(version);
      await using world = await startWorld({
        redisUrl: redis.url,
        roles,
        filings: 200,
        random,
        sources: former.entry,
      });
      await drill(former.entry, presentEntry, world);
      const findings = await expectKept(
        world,
        { repeatsMax: roles.length * maxInFlight, setBack: false },
        'an upgrade',
      );
      expect(findings.events).toBeGreaterThan(roles.length * perSecond);
    });

    test(`takes over from this version again, one by one at ${perSecond} changes a second: nothing is lost, out of order or sent twice`, async () => {
      await using former = await takeFormerTree(version);
      await using world = await startWorld({ redisUrl: redis.url, roles, filings: 200, random });
      await drill(presentEntry, former.entry, world);
      const findings = await expectKept(
        world,
        { repeatsMax: roles.length * maxInFlight, setBack: false },
        'a way back',
      );
      expect(findings.events).toBeGreaterThan(roles.length * perSecond);
    });
  });
}
