import { afterAll, expect, it } from 'vitest';
import { createEventLog } from '../../../src/events/event-log.ts';
import { logBeginning } from '../../../src/events/timeline.ts';
import { createSnapshotStore } from '../../../src/filings/snapshot-store.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { storedRecords } from '../../support/redis/stored-account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
const client = redis.connect();
const keys = createKeys(redis.prefix);
const stored = storedRecords(client, keys);
const log = createEventLog(client, keys);
const snapshot = createSnapshotStore(client, keys);

/** Puts an event of each of these filings into the log, all at one time. */
async function record(account: string, at: number, filings: readonly string[]): Promise<void> {
  await stored.of(account).begin('g');
  for (const id of filings) {
    const [previous = null] = await snapshot.read(account, [id]);
    const sequence = (previous?.state.sequence ?? 0) + 1;
    const next = { status: 'PAID', completedAt: null, rejectionReason: null, sequence, since: at };
    const state = { ...next, readFrom: at, readAt: at, removed: false };
    const event = {
      id: `evt_${id}_${sequence}`,
      type: 'filing.paid',
      filingId: id,
      state: 'TX',
      status: '',
      body: '{}',
    };
    await snapshot.commit(account, 'g', [{ id, previous, next: state, details: null, event }], at);
  }
}

it('takes what is older than the retention, however much, with what points at it, and nothing else', async () => {
  const many = Array.from({ length: 1_200 }, (_, i) => `f${i}`);
  await record('a', 1_000, many);
  await record('a', 2_000, ['f1', 'f2']);
  expect(await log.trim('a', 2_000)).toEqual({ removed: 1_200, dropped: 0 });
  expect((await log.readAfter('a', logBeginning, 10)).entries.map(({ position }) => position)).toEqual([
    1_201, 1_202,
  ]);
  expect((await log.head('a')).position).toBe(1_202);
  expect(await log.positionsOf('a', 'f1')).toEqual([1_201]);
  expect(await log.positionsOf('a', 'f3')).toEqual([]);
  expect(await stored.of('a').bodies()).toBe(2);
  expect(new Set(await stored.of('a').filingsWithEvents())).toEqual(new Set(['f1', 'f2']));
  expect((await log.trim('a', 2_000)).removed).toBe(0);
  expect((await log.trim('a', 3_000)).removed).toBe(2);
  expect(await stored.of('a').filingsWithEvents()).toEqual([]);
});

it('goes on counting and pointing after everything was taken', async () => {
  await record('b', 1_000, ['f1', 'f1']);
  await log.trim('b', 5_000);
  await record('b', 6_000, ['f1']);
  expect(await log.positionsOf('b', 'f1')).toEqual([3]);
  expect((await log.readAfter('b', logBeginning, 10)).entries.map(({ position }) => position)).toEqual([3]);
});

it('takes the oldest of a log that has too many bytes, and the account says when', async () => {
  const bytes = 100_000;
  // Each takes its body of two bytes and half a KiB.
  await record(
    'c',
    1_000,
    Array.from({ length: 400 }, (_, i) => `f${i}`),
  );
  expect(await log.trim('c', 0, 1_000_000)).toEqual({ removed: 0, dropped: 0 });
  expect(await stored.of('c').polling()).not.toHaveProperty('eventsDroppedAt');
  expect(await log.trim('c', 0, bytes)).toEqual({ removed: 205, dropped: 205 });
  expect((await log.readAfter('c', logBeginning, 10)).entries[0]?.position).toBe(206);
  expect(await stored.of('c').bodies()).toBe(195);
  expect(await log.positionsOf('c', 'f0')).toEqual([]);
  expect(Number((await stored.of('c').polling())['eventsDroppedAt'])).toBeGreaterThan(0);
  // What has gone counts no more, also where nothing is left.
  await record('c', 2_000, ['f0']);
  expect(await log.trim('c', 2_000, bytes)).toEqual({ removed: 195, dropped: 0 });
  await log.trim('c', 3_000, bytes);
  await record('c', 3_000, ['f0']);
  expect(await log.trim('c', 0, 1_000)).toEqual({ removed: 0, dropped: 0 });
});
