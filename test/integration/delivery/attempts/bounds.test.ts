import { afterAll, describe, expect, test } from 'vitest';
import type { Attempt, DeadLetter } from '../../../../src/delivery/store/delivery-records.ts';
import type { SubscriptionSettlement } from '../../../../src/delivery/store/settlement-text.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const bytesMax = 1024 * 1024;
const url = 'http://127.0.0.1:1/';
const ofFiling = { eventType: 'filing.paid', filingId: 'f', at: 1 };

const attempt = (n: number, response: string): Attempt => ({
  ...ofFiling,
  eventId: `evt_${n}`,
  attempt: 1,
  outcome: 'delivered',
  statusCode: 200,
  durationMs: 1,
  response,
  replay: null,
});

const deadLetter = (n: number): DeadLetter => ({
  ...ofFiling,
  eventId: `evt_${n}`,
  position: n,
  attempts: 10,
  lastOutcome: 'http_error',
  events: 1,
});

const nothing: Omit<SubscriptionSettlement, 'id'> = {
  endpointVersion: 0,
  lags: true,
  progress: {},
  endpoint: {},
  lanes: new Map(),
  attempts: [],
  deadLetters: [],
  recovered: [],
  replay: null,
  announced: null,
  disabling: null,
  enabling: null,
};

/** Writes records as one deliverer does, a settlement each. */
async function write(
  { stores: { deliveries }, account }: Harness,
  id: string,
  settlements: readonly Partial<SubscriptionSettlement>[],
) {
  const opened = await deliveries.open(account);
  if (opened === null) throw new Error('the subscription is gone');
  const { head: known, level, version } = opened;
  let { fence } = opened;
  for (const some of settlements) {
    const subscriptions = [{ ...nothing, id, ...some }];
    const settlement = { known, level: level.position, nextAt: null, version, subscriptions };
    const settled = await deliveries.settle(account, fence, settlement, Date.now());
    expect(settled).toMatchObject({ results: ['enabled'] });
    fence = { ...fence, settles: fence.settles + 1 };
  }
}

async function bytesOf({ stored }: Harness, kind: 'attempts' | 'dead', ids: readonly string[]) {
  let bytes = 0;
  for (const id of ids) bytes += await stored.of(id).memory(kind);
  return bytes;
}

const marksOf = (harness: Harness) => harness.stores.polling.read(harness.account);

describe('the attempts of an account', () => {
  test('take no more than their bytes, whatever endpoints answer: the oldest go, and the account says so', async () => {
    await using harness = await createHarness(redis, { attemptsBytesMax: bytesMax });
    const ids = [await harness.subscribe(url), await harness.subscribe(url), await harness.subscribe(url)];
    // Long and short ones in turn: a bound by their number alone would let either through.
    const answers = ['\u0001'.repeat(1024), 'ok', 'b'.repeat(1024), ''];
    const written = Array.from({ length: 4_000 }, (_, n) => attempt(n, answers[(n >> 8) % 4] ?? ''));
    const settlements = Array.from({ length: 400 }, (_, i) => ({
      attempts: written.slice(10 * i, 10 * i + 10),
    }));
    for (const id of ids) await write(harness, id, settlements);
    expect(await bytesOf(harness, 'attempts', ids)).toBeLessThan(bytesMax);
    for (const id of ids) {
      const { items } = await harness.journal.list(harness.account, id, 'attempts', null, 100);
      expect(items.map(({ eventId }) => eventId)).toEqual(
        written
          .slice(-items.length)
          .map(({ eventId }) => eventId)
          .toReversed(),
      );
      expect(items.length).toBeGreaterThan(50);
    }
    const { attemptsDroppedAt, deadLettersDroppedAt } = await marksOf(harness);
    expect(Date.now() - attemptsDroppedAt).toBeLessThan(60_000);
    expect(deadLettersDroppedAt).toBe(0);
  });

  test('are all kept while there is room, and the last of each subscription stays where there are many', async () => {
    await using harness = await createHarness(redis, { attemptsBytesMax: 64 * 1024 });
    const ids: string[] = [];
    for (let i = 0; i < 50; i += 1) ids.push(await harness.subscribe(url));
    const [roomy = '', ...others] = ids;
    for (const id of ids) await write(harness, id, [{ attempts: [attempt(0, 'ok')] }]);
    expect((await marksOf(harness)).attemptsDroppedAt).toBe(0);
    for (const id of others)
      await write(
        harness,
        id,
        Array.from({ length: 40 }, (_, n) => ({ attempts: [attempt(n, 'b'.repeat(1024))] })),
      );
    for (const id of others) {
      const { items } = await harness.journal.list(harness.account, id, 'attempts', null, 100);
      expect(items.length).toBeLessThan(10);
      expect(items[0]?.eventId).toBe('evt_39');
    }
    expect((await harness.journal.list(harness.account, roomy, 'attempts', null, 100)).items).toHaveLength(1);
  });
});

describe('the dead letters of an account', () => {
  test('are none of them lost while a subscription has few; beyond its bytes the oldest go', async () => {
    await using harness = await createHarness(redis, { attemptsBytesMax: 64 * 1024 });
    const [few, many] = [await harness.subscribe(url), await harness.subscribe(url)];
    const letters = (count: number) =>
      Array.from({ length: count / 10 }, (_, i) => ({
        deadLetters: Array.from({ length: 10 }, (__, n) => deadLetter(10 * i + n)),
      }));
    await write(harness, few, letters(100));
    expect((await marksOf(harness)).deadLettersDroppedAt).toBe(0);
    await write(harness, many, letters(2_000));
    const list = async (id: string) =>
      (await harness.journal.list(harness.account, id, 'dead', null, 3_000)).items;
    expect(await list(few)).toHaveLength(100);
    const left = await list(many);
    expect(left.length).toBeGreaterThanOrEqual(100);
    expect(left.length).toBeLessThan(250);
    expect(left[0]).toMatchObject({ position: 1_999 });
    expect(Date.now() - (await marksOf(harness)).deadLettersDroppedAt).toBeLessThan(60_000);
    expect((await marksOf(harness)).attemptsDroppedAt).toBe(0);
  });
});

test('an event whose dead letter made way is not taken for delivered; for other subscriptions it is', async () => {
  await using harness = await createHarness(redis, { attemptsBytesMax: 64 * 1024 });
  const longAgo = { createdAt: 1, updatedAt: 1 };
  const ids = [await harness.subscribe(url, longAgo), await harness.subscribe(url, longAgo)];
  const [bad = '', good = ''] = ids;
  const positions = await harness.append(...Array.from({ length: 400 }, (_, i) => `f${i}`));
  const events = await harness.log.outlineAt(harness.account, positions);
  const deadLetters = events.map((each, n) => ({ ...deadLetter(n + 1), eventId: each?.id ?? '' }));
  const progress = { cursor: 400, done: '' };
  await write(harness, bad, [{ progress, deadLetters }]);
  await write(harness, good, [{ progress, attempts: [attempt(0, 'ok')] }]);
  const stateOf = async (id: string, n: number) => {
    const record = await harness.subscriptions.get(harness.account, id);
    const event = events[n];
    if (record === null || event == null) throw new Error('no such subscription or event');
    return harness.stores.readDelivery(harness.account, record, event);
  };
  expect((await harness.journal.list(harness.account, bad, 'dead', null, 500)).items.length).toBeLessThan(
    300,
  );
  expect(await stateOf(bad, 399)).toMatchObject({ state: 'given_up', attempts: 10 });
  expect(await stateOf(bad, 0)).toMatchObject({ state: 'given_up', attempts: null });
  expect(await stateOf(good, 0)).toMatchObject({ state: 'delivered' });
});

test('attempts and dead letters count in what an account stores', async () => {
  await using harness = await createHarness(redis);
  const ids = [await harness.subscribe(url), await harness.subscribe(url)];
  const before = await harness.stores.quota(harness.account);
  const attempts = Array.from({ length: 500 }, (_, n) => attempt(n, 'b'.repeat(1024)));
  const deadLetters = Array.from({ length: 500 }, (_, n) => deadLetter(n));
  await write(harness, ids[0] ?? '', [{ attempts }]);
  await write(harness, ids[1] ?? '', [{ deadLetters }]);
  const stored = (await bytesOf(harness, 'attempts', ids)) + (await bytesOf(harness, 'dead', ids));
  const counted = (await harness.stores.quota(harness.account)) - before;
  expect(counted).toBeGreaterThan(500_000);
  expect(counted / stored).toBeCloseTo(1, 1);
});

test('pings alone stay within the bytes of the account too', async () => {
  await using harness = await createHarness(redis, { attemptsBytesMax: bytesMax });
  const id = await harness.subscribe(url);
  for (let n = 0; n < 1_500; n += 1)
    await harness.journal.addTest(harness.account, id, attempt(n, 'x'.repeat(1_000)), Date.now());
  const bytes = await harness.stored.of(id).memory('attempts');
  expect(bytes).toBeLessThan(bytesMax);
  const { items } = await harness.journal.list(harness.account, id, 'attempts', null, 1);
  expect(items[0]?.eventId).toBe('evt_1499');
});
