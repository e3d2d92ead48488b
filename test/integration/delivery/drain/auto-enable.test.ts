import { afterAll, describe, expect, test } from 'vitest';
import type { Subscription } from '../../../../src/subscriptions/subscription.ts';
import { startReceiver, type Receiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, startReplay, type Harness, type HarnessOptions } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const [minuteMs, hourMs] = [60_000, 3_600_000];
const [disabled, recovered] = ['subscription.disabled', 'subscription.recovered'];

/** A subscription that was disabled because its endpoint failed for a minute, by a clock that stands still. */
interface Stage extends AsyncDisposable {
  readonly harness: Harness;
  readonly receiver: Receiver;
  readonly id: string;
  readonly clock: { at: number };
  readonly disabledAt: number;
  /** Delivers after these milliseconds, as a process that knows nothing yet; returns the callbacks of that. */
  after(ms: number): Promise<string[]>;
}

async function createStage(
  settings: Partial<Subscription> = {},
  options: HarnessOptions = {},
  filings = ['a', 'b', 'c', 'd'],
): Promise<Stage> {
  const clock = { at: Date.now() };
  const receiver = await startReceiver(500);
  const retryMs = [minuteMs, minuteMs, minuteMs, minuteMs];
  const rules = { now: () => clock.at, disableAfterMs: minuteMs, retryMs, ...options };
  const harness = await createHarness(redis, rules);
  const id = await harness.subscribe(receiver.url, settings);
  await harness.append(...filings);
  await untilDisabled(harness, clock);
  return {
    harness,
    receiver,
    id,
    clock,
    disabledAt: clock.at,
    async after(ms) {
      clock.at += ms;
      const before = receiver.received.length;
      await harness.drain();
      return receiver.received.slice(before).map(({ filingId, sequence }) => `${filingId}${sequence}`);
    },
    async [Symbol.asyncDispose]() {
      await harness[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

async function untilDisabled(harness: Harness, clock: { at: number }): Promise<void> {
  const before = harness.disabled.length;
  await harness.drain();
  while (harness.disabled.length === before) {
    clock.at += minuteMs;
    await harness.drain();
  }
}

/** The operational events in the log. */
async function operational({ log, account }: Harness) {
  const { entries } = await log.readAfter(account, { position: 0, timeline: '' }, 1_000);
  return entries
    .filter(({ filingId }) => filingId === '')
    .map(({ id, type, body }) => ({ id, type, ...(JSON.parse(body.toString()) as { data: Data }) }));
}

type Data = Readonly<Record<string, unknown>>;

const types = async (harness: Harness) => (await operational(harness)).map(({ type }) => type);

describe('an endpoint that was disabled for failing', () => {
  test('is asked by one event an hour, and enabled at the first 2xx: all comes in order, under its ids', async () => {
    await using stage = await createStage();
    const { harness, receiver, id, after, disabledAt } = stage;
    expect(await harness.state(id)).toMatchObject({ enabled: false, disabledAt });
    await harness.append('a', 'e');
    expect(await after(hourMs - 1)).toEqual([]);
    receiver.answer(503);
    expect(await after(1)).toHaveLength(1);
    const askedAt = disabledAt + 2 * hourMs;
    expect(await harness.state(id)).toMatchObject({ enabled: false, pausedUntil: askedAt });
    expect(harness.reports.at(-1)?.nextAttemptAt).toBe(askedAt);
    expect(await after(hourMs - 1)).toEqual([]);
    const failed = [...receiver.received];
    receiver.answer(200);
    expect((await after(1)).toSorted()).toEqual(['a1', 'a2', 'b1', 'c1', 'd1', 'e1']);
    const order = receiver.accepted.map(({ filingId, sequence }) => `${filingId}${sequence}`);
    expect(order.indexOf('a1')).toBeLessThan(order.indexOf('a2'));
    for (const former of failed) {
      const again = receiver.accepted.find((each) => each.id === former.id);
      expect([again?.filingId, again?.raw]).toEqual([former.filingId, former.raw]);
    }
    expect(receiver.overlapping).toEqual([]);
    const healthy = { enabled: true, disabledAt: 0, disabledReason: '', failures: 0, parked: 0 };
    expect(await harness.state(id)).toMatchObject(healthy);
    expect(await types(harness)).toEqual([disabled, recovered]);
    const missed = { disabledAt: new Date(disabledAt).toISOString(), waiting: 6, lost: 0 };
    expect((await operational(harness)).at(-1)?.data).toEqual({
      account: harness.account,
      subscription: id,
      endpoint: new URL(receiver.url).origin,
      ...missed,
    });
    await harness.append('a');
    expect(await after(0)).toEqual(['a3']);
    expect(await types(harness)).toHaveLength(2);
  });

  test('is asked once an hour also by a process that goes on, and by two at the same time', async () => {
    await using stage = await createStage();
    const { harness, receiver, clock } = stage;
    const { signal } = new AbortController();
    const goOn = () => harness.deliverers.run(harness.account, signal);
    await goOn();
    for (const hour of [1, 2, 3]) {
      const before = receiver.received.length;
      clock.at += hourMs;
      expect([hour, await goOn()]).toEqual([hour, { wakeAt: clock.at + hourMs }]);
      await Promise.all([goOn(), harness.drain()]);
      await goOn();
      expect(receiver.received.length - before).toBe(1);
    }
  });

  test('is disabled and recovers as often as it fails, each time with events of their own', async () => {
    await using stage = await createStage();
    const { harness, receiver, id, after, clock } = stage;
    receiver.answer(200);
    await after(hourMs);
    receiver.answer(500);
    await harness.append('a', 'b', 'c');
    await untilDisabled(harness, clock);
    receiver.answer(200);
    await after(hourMs);
    expect(await harness.state(id)).toMatchObject({ enabled: true, parked: 0 });
    const events = await operational(harness);
    expect(events.map(({ type }) => type)).toEqual([disabled, recovered, disabled, recovered]);
    expect(new Set(events.map((event) => event.id)).size).toBe(4);
  });

  test('is asked by a ping if nothing waits', async () => {
    await using stage = await createStage({}, { retryMs: [2 * minuteMs] }, ['a']);
    const { harness, receiver, id, after } = stage;
    expect(await harness.state(id)).toMatchObject({ enabled: false, parked: 0 });
    expect(await after(hourMs)).toHaveLength(1);
    const ping = JSON.parse(receiver.received.at(-1)?.raw ?? '{}') as Data;
    expect(ping).toMatchObject({ type: 'ping', data: { account: harness.account, subscription: id } });
    expect(await after(hourMs - 1)).toEqual([]);
    receiver.answer(200);
    expect(await after(1)).toHaveLength(1);
    expect(await harness.state(id)).toMatchObject({ enabled: true, parked: 0, done: '' });
    expect((await operational(harness)).at(-1)).toMatchObject({
      type: recovered,
      data: { waiting: 0, lost: 0 },
    });
    expect(harness.reports.slice(-2).map(({ attempt }) => [attempt.eventType, attempt.outcome])).toEqual([
      ['ping', 'http_error'],
      ['ping', 'delivered'],
    ]);
    await after(hourMs);
    expect(await types(harness)).toHaveLength(2);
  });

  test('says how many events have left the log', async () => {
    await using stage = await createStage();
    const { harness, receiver, after } = stage;
    await harness.append(...Array.from({ length: 20 }, (_, i) => `late${i}`));
    const { position } = await harness.log.head(harness.account);
    await harness.stored.dropEventsBelow(position - 4);
    await after(hourMs);
    receiver.answer(200);
    await after(hourMs);
    const events = await operational(harness);
    // All but five, and but the event of the disabling, which it never asked for and got past.
    const lost = position - 6;
    expect(events.find(({ type }) => type === recovered)?.data).toMatchObject({ waiting: 5, lost });
    const fellBehind = events.filter(({ type }) => type === 'subscription.fell_behind');
    expect(fellBehind.reduce((sum, { data }) => sum + Number(data['events']), 0)).toBe(lost);
  });

  test('is asked again, and enabled once, if its process dies between its answer and the write', async () => {
    await using stage = await createStage();
    const { harness, receiver, after } = stage;
    receiver.answer(async () => {
      await harness.stored.overtake();
      return 200;
    });
    const [asked, ...others] = await after(hourMs);
    expect(others).toEqual([]);
    expect(await types(harness)).toEqual([disabled]);
    receiver.answer(200);
    const repeated = await after(0);
    expect(repeated[0]).toBe(asked);
    expect(repeated.toSorted()).toEqual(['a1', 'b1', 'c1', 'd1']);
    expect(await types(harness)).toEqual([disabled, recovered]);
  });

  test('is asked no more after a 410', async () => {
    await using stage = await createStage();
    const { harness, receiver, id, after } = stage;
    receiver.answer(410);
    expect(await after(hourMs)).toHaveLength(1);
    const disabledReason = 'the endpoint answered 410 Gone';
    expect(await harness.state(id)).toMatchObject({ enabled: false, disabledAt: 0, disabledReason });
    const events = await operational(harness);
    expect(events.map(({ data }) => data['reason'])).toEqual([harness.disabled[0], disabledReason]);
    expect(new Set(events.map((event) => event.id)).size).toBe(2);
    receiver.answer(200);
    expect(await after(2 * hourMs)).toEqual([]);
  });

  test('is asked at once by one event when it has moved', async () => {
    await using stage = await createStage();
    const { harness, receiver, id, after, clock } = stage;
    await using other = await startReceiver(500);
    await harness.change(id, { url: other.url }, { release: true });
    expect(await after(minuteMs)).toEqual([]);
    expect(other.received).toHaveLength(1);
    expect((await harness.state(id)).pausedUntil).toBe(clock.at + hourMs);
    other.answer(200);
    await after(hourMs);
    expect(other.accepted).toHaveLength(4);
    expect(receiver.accepted).toEqual([]);
  });

  test('is asked by an event of a replay if only that waits', async () => {
    await using stage = await createStage({}, { retryMs: [2 * minuteMs] }, ['a']);
    const { harness, receiver, id, after } = stage;
    await startReplay(harness, id);
    receiver.answer(200);
    expect(await after(hourMs)).toEqual(['a1']);
    expect(await types(harness)).toEqual([disabled, recovered]);
  });
});

describe('nobody is asked', () => {
  test('if the subscription says so, until it says otherwise', async () => {
    await using stage = await createStage({ autoEnable: false });
    const { harness, receiver, id, after } = stage;
    receiver.answer(200);
    expect(await after(3 * hourMs)).toEqual([]);
    await harness.change(id, { autoEnable: true });
    expect(await after(0)).toHaveLength(4);
    expect(await harness.state(id)).toMatchObject({ enabled: true });
  });

  test('once a client has disabled it, or if a client did from the start', async () => {
    await using stage = await createStage();
    const { harness, receiver, id, after } = stage;
    receiver.answer(200);
    const other = await harness.subscribe(receiver.url);
    await harness.change(other, {}, { enabled: false });
    await harness.append('z');
    await harness.change(id, {}, { enabled: false });
    expect(await after(3 * hourMs)).toEqual([]);
    expect(await harness.state(id)).toMatchObject({ enabled: false, disabledReason: 'by request' });
  });

  test('while a client disables it: the answer that comes then enables nothing', async () => {
    await using stage = await createStage();
    const { harness, receiver, id, after } = stage;
    receiver.answer(async () => {
      await harness.change(id, {}, { enabled: false });
      return 200;
    });
    expect(await after(hourMs)).toHaveLength(1);
    expect(await harness.state(id)).toMatchObject({ enabled: false, disabledReason: 'by request' });
    expect(await types(harness)).toEqual([disabled]);
  });

  test('after its time is over, or before it has shown that it wants the callbacks', async () => {
    await using stage = await createStage({ expiresAt: Date.now() + hourMs / 2 });
    const { harness, receiver, id, after } = stage;
    receiver.answer(200);
    expect(await after(3 * hourMs)).toEqual([]);
    await harness.change(id, { expiresAt: null, verification: 'challenge', verified: null });
    expect(await after(3 * hourMs)).toEqual([]);
  });
});
