import { Redis } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { scanEvents, scanNewestEvents, type EventFilter } from '../../../../src/api/events/scan.ts';
import { createEventLog } from '../../../../src/events/event-log.ts';
import { createTypeSearch, sectionSize } from '../../../../src/events/search/log-sections.ts';
import { logBeginning, type Checkpoint } from '../../../../src/events/timeline.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { createRandom } from '../../../../src/sandbox/random.ts';
import { appendScript } from '../../../support/redis/append-script.ts';
import { rowsRead } from '../../../support/redis/rows-read.ts';
import { rememberKeys } from '../../../support/redis/set-back.ts';
import { storedAccount } from '../../../support/redis/stored-account.ts';
import { startPrivateRedis, testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const types = ['filing.paid', 'filing.pending', 'filing.rejected', 'account.stale'];

/** A log to append to and to list. */
function openLog(client: Redis, prefix: string, account: string) {
  const keys = createKeys(prefix);
  const key = keys.account(account);
  const log = createEventLog(client, keys);
  const sections = createTypeSearch(client, keys, log);
  const written: { position: number; type: string }[] = [];
  return {
    key,
    log,
    sections,
    written,
    async append(names: readonly string[], run = 'a'): Promise<void> {
      const at = Date.now();
      const args = names.flatMap((type, i) => {
        const id = `evt_${run}_${written.length + i}`;
        return [id, type, `f_${i}`, 'TX', '', at, `{"type":"${type}"}`];
      });
      await appendScript.run(client, [key.head, key.events, key.bodies, key.filingEvents], args);
      for (const type of names) written.push({ position: written.length + 1, type });
    },
    async list(order: 'oldest' | 'newest', filter: EventFilter, limit: number) {
      const found: number[] = [];
      let pages = 0;
      let at: Checkpoint | null = order === 'oldest' ? logBeginning : null;
      for (let more = true; more; pages += 1) {
        // Each page begins where the one before ended.
        const page: Awaited<ReturnType<typeof scanEvents>> =
          order === 'oldest'
            ? await scanEvents({ log, sections }, account, at ?? logBeginning, filter, limit)
            : await scanNewestEvents({ log, sections }, account, at, filter, limit);
        expect(page.entries.length).toBeLessThanOrEqual(limit);
        found.push(...page.entries.map(({ position }) => position));
        ({ position: at, more } = page);
      }
      return { found, pages };
    },
  };
}

type Log = ReturnType<typeof openLog>;

const ofType = ({ written }: Log, wanted: string) =>
  written.filter(({ type }) => type === wanted).map(({ position }) => position);

test.each([1, 2, 3])(
  'a search by type finds each event once, in both orders, as the log grows (%i)',
  async (seed) => {
    const random = createRandom(seed);
    const log = openLog(redis.connect(), redis.prefix, `grows-${seed}`);
    const [shown, expected]: [number[][], number[][]] = [[], []];
    for (let round = 0; round < 5; round += 1) {
      const rare = round % 2 === 0 ? 0.01 : 0.6;
      const names = Array.from({ length: Math.floor(random() * 600) }, () =>
        random() < rare ? (types[Math.floor(random() * 3)] ?? '') : 'account.stale',
      );
      if (names.length > 0) await log.append(names);
      for (const type of types) {
        const filter = { types: [type], filingId: null };
        const limit = 10 + Math.floor(random() * 90);
        shown.push((await log.list('oldest', filter, limit)).found);
        expected.push(ofType(log, type));
        shown.push((await log.list('newest', filter, limit)).found);
        expected.push(ofType(log, type).toReversed());
      }
    }
    expect(shown).toEqual(expected);
  },
);

test('a search that finds nothing ends after bounded steps, and reads no event a second time', async () => {
  await using own = await startPrivateRedis();
  const client = new Redis(own.url);
  const log = openLog(client, 'rows', 'long');
  for (let i = 0; i < 20; i += 1) await log.append(Array.from({ length: 1_000 }, () => 'filing.paid'));
  const filter = { types: ['filing.rejected'], filingId: null };
  expect((await log.list('oldest', filter, 100)).found).toEqual([]);
  const again = await rowsRead(client, () => log.list('oldest', filter, 100));
  expect(again.result).toEqual({ found: [], pages: 1 });
  // The last section is not full, and is searched again in one script.
  expect(again.commands).toBeLessThan(12);
  const newest = await rowsRead(client, () => log.list('newest', filter, 100));
  expect(newest.result).toEqual({ found: [], pages: 1 });
  expect(newest.commands).toBeLessThan(16);
  client.disconnect();
});

test('what was known of a log is forgotten once Redis is set back', async () => {
  const client = redis.connect();
  const log = openLog(client, redis.prefix, 'set-back');
  await log.append(Array.from({ length: 2 * sectionSize }, () => 'filing.paid'));
  const setBack = await rememberKeys(client, redis.prefix);
  await log.append(Array.from({ length: 3 * sectionSize }, () => 'filing.paid'));
  const filter = { types: ['filing.rejected'], filingId: null };
  expect((await log.list('oldest', filter, 50)).found).toEqual([]);
  await setBack();
  log.written.length = 2 * sectionSize;
  await log.append(
    Array.from({ length: 4 * sectionSize }, () => 'filing.rejected'),
    'b',
  );
  expect((await log.list('oldest', filter, 50)).found).toEqual(ofType(log, 'filing.rejected'));
});

test('a search begins at the oldest event that retention has left', async () => {
  const log = openLog(redis.connect(), redis.prefix, 'trimmed');
  await log.append(Array.from({ length: 700 }, () => 'filing.paid'));
  const filter = { types: ['filing.*'], filingId: null };
  expect((await log.list('oldest', filter, 100)).found).toHaveLength(700);
  await storedAccount(redis.connect(), log.key).dropEventsBelow(301);
  expect((await log.list('oldest', filter, 100)).found).toEqual(ofType(log, 'filing.paid').slice(300));
  expect((await log.list('newest', filter, 100)).found).toEqual(
    ofType(log, 'filing.paid').slice(300).toReversed(),
  );
});
