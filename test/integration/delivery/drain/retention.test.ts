import { afterAll, describe, expect, test, vi } from 'vitest';
import type { ListedAttempt } from '../../../../src/delivery/store/delivery-records.ts';
import type { Listed } from '../../../../src/delivery/store/journal.ts';
import { createEventLog } from '../../../../src/events/event-log.ts';
import { createLagReader } from '../../../../src/subscriptions/lag.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { subscriptionLag } from '../../../../src/subscriptions/subscription.ts';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const times = (count: number, name: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => name(i));

describe('events that retention takes before they are delivered', () => {
  test('are told as one dead letter per stretch, and the rest is delivered', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append(...times(120, (i) => `f${i}`));
    await harness.stored.dropEventsBelow(101);
    expect(subscriptionLag(await harness.state(id), 120)).toBe(120);
    await harness.drain(id);
    expect(receiver.accepted).toHaveLength(20);
    const { items } = await harness.journal.list(harness.account, id, 'dead', null, 10);
    expect(items).toMatchObject([
      { lastOutcome: 'expired', position: 100, events: 100, attempts: 0, eventId: '' },
    ]);
    expect(harness.expired).toEqual([100]);
    expect(await harness.state(id)).toMatchObject({ cursor: 121, done: '' });
  });

  test('are told to whoever asked for that event, and counted in the lag until then', async () => {
    await using receiver = await startReceiver();
    await using watching = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.subscribe(watching.url, { eventTypes: ['subscription.fell_behind'] });
    await harness.append(...times(30, (i) => `f${i}`));
    await harness.change(id, {}, { enabled: false });
    await harness.drain();
    await harness.stored.dropAllEvents();
    await harness.change(id, {}, { enabled: true });
    expect(subscriptionLag(await harness.state(id), 30)).toBe(30);
    await harness.drain(id);
    expect(subscriptionLag(await harness.state(id), 31)).toBe(0);
    expect(JSON.parse(watching.accepted[0]?.raw ?? '{}')).toMatchObject({
      type: 'subscription.fell_behind',
      data: { subscription: id, endpoint: new URL(receiver.url).origin, events: 30 },
    });
    await harness.drain(id);
    expect((await harness.log.head(harness.account)).position).toBe(31);
  });

  test('count in the lag until they are told, those still in the log only if they are wanted', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const client = redis.connect();
    const lags = createLagReader({
      log: harness.log,
      outline: createEventLog(client, createKeys(redis.prefix)).outlineAfter,
    });
    const lagOf = async (id: string) => {
      const record = await harness.subscriptions.get(harness.account, id);
      if (record === null) throw new Error(`no subscription ${id}`);
      const { subscription: filter, delivery } = record;
      return (await lags(harness.account, [{ filter, delivery }]))[0];
    };
    const id = await harness.subscribe(receiver.url);
    const other = await harness.subscribe(receiver.url, { eventTypes: ['filing.rejected'] });
    await harness.append(...times(30, (i) => `f${i}`));
    expect([await lagOf(id), await lagOf(other)]).toEqual([30, 0]);
    await harness.stored.dropEventsBelow(21);
    expect([await lagOf(id), await lagOf(other)]).toEqual([30, 20]);
    await harness.stored.dropAllEvents();
    expect([await lagOf(id), await lagOf(other)]).toEqual([30, 30]);
    await harness.change(other, {}, { enabled: false });
    await harness.drain(id);
    // What is in the log by now is the event about it.
    expect([await lagOf(id), await lagOf(other)]).toEqual([0, 30]);
    expect(await lagOf(await harness.subscribe(receiver.url))).toBe(0);
  });

  test('are told when nothing at all is left of the log', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b', 'c');
    await harness.stored.dropAllEvents();
    await harness.drain(id);
    expect(harness.expired).toEqual([3]);
    const state = await harness.state(id);
    // The fourth is the event about it.
    expect(state.cursor).toBe(4);
    expect(subscriptionLag(state, 4)).toBe(0);
    await harness.drain(id);
    expect(harness.expired).toEqual([3]);
  });

  test('leave their lane one by one, each as a dead letter', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId === 'poison' ? 500 : 200));
    await using harness = await createHarness(redis, { retryMs: [50] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('poison', 'poison');
    await harness.drain(id);
    await harness.append('a');
    await harness.stored.dropEventsBelow(3);
    await vi.waitFor(async () => {
      await harness.drain(id);
      expect((await harness.state(id)).parked).toBe(0);
    });
    const { items } = await harness.journal.list(harness.account, id, 'dead', null, 10);
    expect(items).toMatchObject([
      { lastOutcome: 'expired', filingId: 'poison', position: 2, attempts: 0 },
      { lastOutcome: 'expired', filingId: 'poison', position: 1, attempts: 1 },
    ]);
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['a']);
    expect(await harness.state(id)).toMatchObject({ parked: 0, done: '' });
    expect(harness.expired.reduce((sum, events) => sum + events, 0)).toBe(2);
  });
});

test('attempts are kept for the retention and listed page by page, newest first, however many there are', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const id = await harness.subscribe(receiver.url);
  await harness.append(...times(1_500, (i) => `f${i}`));
  await harness.drain(id);
  const listed: string[] = [];
  let before: string | null = null;
  do {
    // Each page begins where the one before ended.
    const page: Listed<ListedAttempt> = await harness.journal.list(
      harness.account,
      id,
      'attempts',
      before,
      100,
    );
    listed.push(...page.items.map(({ eventId }) => eventId));
    before = page.next;
  } while (before !== null);
  expect(listed).toEqual(harness.reports.map(({ attempt }) => attempt.eventId).toReversed());
  expect(new Set(listed).size).toBe(1_500);
});

test('attempts older than the retention go', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis, { retentionMs: 60_000 });
  const id = await harness.subscribe(receiver.url);
  const stored = harness.stored.of(id);
  const old = Date.now() - 120_000;
  // Redis trims whole nodes of a hundred entries.
  for (const i of Array.from({ length: 300 }).keys()) await stored.addAttempts([{}], `${old}-${i}`);
  await harness.append('a');
  await harness.drain(id);
  expect((await stored.attempts()).length).toBeLessThan(150);
});

test('a subscription from the earliest event misses nothing that was gone before it existed', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  await harness.append(...times(30, (i) => `f${i}`));
  await harness.stored.dropEventsBelow(21);
  const id = await harness.subscribe(receiver.url, {}, 'earliest');
  expect((await harness.state(id)).cursor).toBe(20);
  await harness.drain(id);
  expect(receiver.accepted).toHaveLength(10);
  await harness.stored.dropAllEvents();
  await harness.drain(await harness.subscribe(receiver.url, {}, 'earliest'));
  expect(harness.expired).toEqual([]);
});
