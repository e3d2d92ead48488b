import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApi } from '../../support/api/api-caller.ts';
import { apiToken } from '../../support/daemon/daemon-process.ts';
import { expectKept } from '../../support/journals/expect-kept.ts';
import { startPrivateRedis, type PrivateRedis } from '../../support/redis/test-redis.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { untilGotNew } from '../../support/world/kill-at-random.ts';
import type { LogLine, SupervisedDaemon } from '../../support/world/supervised-daemon.ts';
import { maxInFlight, startWorld, type World } from '../../support/world/world.ts';
import { isInHistory, presentEntry, takeFormerTree, versionsBefore } from './version-before.ts';

const random = seededRandom('CRASH_SEED');
const perSecond = 50;
// Milliseconds that each mix of the two versions works.
const besideMs = Number(process.env['UPGRADE_BESIDE_MS'] ?? 5_000);
const roles = ['api,poll,deliver', 'poll,deliver', 'api,deliver'];
const mayServe = (_: SupervisedDaemon, i: number) => roles[i]?.includes('api') === true;
let redis: PrivateRedis;

beforeAll(async () => {
  redis = await startPrivateRedis({ appendfsync: 'always' });
});

afterAll(() => redis.close());

/** An account and its subscriber, made over the API of one process; returns the name of both. */
async function join(
  { recorder, receiver }: World,
  daemon: SupervisedDaemon,
  account: string,
): Promise<string> {
  const api = openApi(daemon.url(), apiToken);
  const settings = { baseUrl: recorder.baseUrl, partnerKey: 'sandbox-key-2' };
  await api.ok('PUT', `/v1/accounts/${account}`, settings);
  await api.ok('POST', `/v1/accounts/${account}/subscriptions`, { url: receiver.urlOf(account) });
  return account;
}

/**
 * Replaces one process after the other while filings change. In each mix of versions every process with the
 * API makes an account, and all subscribers, old and new, go on hearing of changes.
 */
async function replaceAll(world: World, entry: string): Promise<void> {
  const subscribers = world.journals().subscribers.map(({ id }) => id);
  for (const [stage, daemon] of world.daemons.entries()) {
    expect(await daemon.stop()).toBe(0);
    daemon.start(entry);
    await daemon.untilStarted();
    for (const [i, each] of world.daemons.filter(mayServe).entries())
      subscribers.push(await join(world, each, `joined-${stage}-${i}`));
    await Promise.all([untilGotNew(world.receiver, subscribers, Date.now()), delay(besideMs)]);
  }
  await untilGotNew(world.receiver, subscribers, Date.now());
}

interface Drill {
  readonly first: string;
  readonly second: string;
  /** For the evidence. */
  readonly broken: string;
}

async function expectUpgrade({ first, second, broken }: Drill): Promise<void> {
  await using world = await startWorld({
    redisUrl: redis.url,
    roles,
    filings: 200,
    random,
    sources: first,
  });
  world.receiver.answer(() => ({ status: random() < 0.02 ? 503 : 200, afterMs: random() * 50 }));
  const stop = world.lives.run(perSecond, false);
  await delay(besideMs);
  await replaceAll(world, second);
  await stop();
  const allowance = { repeatsMax: roles.length * maxInFlight, setBack: false };
  const findings = await expectKept(world, allowance, broken);
  expect(findings.events).toBeGreaterThan(roles.length * perSecond);
  const alarms = world.daemons.flatMap(({ logs }) => logs.filter(isAlarm));
  expect(alarms.slice(0, 5)).toEqual([]);
}

/** A line that tells of a loss, a fault of a script, or a record that one version cannot read. */
function isAlarm({ level, msg = '', error = '' }: LogLine): boolean {
  const isFatal = level === 'fatal' || Number(level) >= 60;
  const isOfScript = msg === 'background.error' && /\b(ERR|WRONGTYPE|NOSCRIPT)\b/.test(String(error));
  return isFatal || isOfScript || /^(store\.emptied|log\.|record\.)/.test(msg);
}

for (const version of versionsBefore) {
  const has = isInHistory(version);
  const skipped = has ? '' : ` (skipped: this clone lacks the commit ${version.commit})`;
  const kept = `one by one at ${perSecond} changes a second: nothing is lost, out of order, or sent twice but what was in flight${skipped}`;

  describe.skipIf(!has)(`the version ${version.name}`, () => {
    test(`gives way to this version, ${kept}`, async () => {
      await using former = await takeFormerTree(version);
      await expectUpgrade({
        first: former.entry,
        second: presentEntry,
        broken: `an upgrade from ${version.commit}`,
      });
    });

    test(`takes over from this version, ${kept}`, async () => {
      await using former = await takeFormerTree(version);
      await expectUpgrade({
        first: presentEntry,
        second: former.entry,
        broken: `a way back to ${version.commit}`,
      });
    });
  });
}
