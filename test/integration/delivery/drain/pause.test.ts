import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLatch, startReceiver, type Receiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const times = (count: number, name: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => name(i));

async function drainUntil(harness: Harness, id: string, holds: () => void): Promise<void> {
  await vi.waitFor(
    async () => {
      await harness.drain(id);
      holds();
    },
    { timeout: 10_000, interval: 20 },
  );
}

/** A clock that stands still until it is set: however slow the machine, a drain does not outlast a pause. */
function createStillClock() {
  const clock = {
    time: Date.now(),
    now: () => clock.time,
    /** Drains again and again, each time when the next attempt is due. */
    async drainUntil(harness: Harness, id: string, holds: () => void): Promise<void> {
      await vi.waitFor(
        async () => {
          clock.time = Math.max(clock.time, (await harness.state(id)).nextAttemptAt);
          await harness.drain(id);
          holds();
        },
        { timeout: 20_000, interval: 5 },
      );
    },
  };
  return clock;
}

/** Sequences of each filing in the order of their acceptance. */
function sequences({ accepted }: Receiver): Record<string, number[]> {
  const byFiling: Record<string, number[]> = {};
  for (const { filingId, sequence } of accepted) (byFiling[filingId] ??= []).push(sequence);
  return byFiling;
}

describe('an endpoint that is down', () => {
  test('is paused as a whole, spends no retries, and gets everything in order once it is back', async () => {
    await using receiver = await startReceiver(503);
    const clock = createStillClock();
    await using harness = await createHarness(redis, { retryMs: [100, 100], now: clock.now });
    const id = await harness.subscribe(receiver.url);
    const filings = times(40, (i) => `f${i % 20}`);
    await harness.append(...filings);
    const { wakeAt } = await harness.drain(id);
    const paused = await harness.state(id);
    expect(paused.probes).toBe(1);
    expect(wakeAt).toBe(paused.pausedUntil);
    expect(paused.nextAttemptAt).toBe(paused.pausedUntil);
    // Ten in flight, and two more until the third failure tells that it is not those filings' own.
    const tried = receiver.received.length;
    expect(tried).toBeLessThanOrEqual(12);
    // More probes than the schedule has retries.
    await clock.drainUntil(harness, id, () => expect(receiver.received.length).toBeGreaterThan(tried + 4));
    receiver.answer(200);
    await clock.drainUntil(harness, id, () => expect(receiver.accepted).toHaveLength(40));
    expect(sequences(receiver)).toEqual(
      Object.fromEntries(times(20, (i) => `f${i}`).map((filing) => [filing, [1, 2]])),
    );
    expect(receiver.overlapping).toEqual([]);
    expect((await harness.journal.list(harness.account, id, 'dead', null, 10)).items).toEqual([]);
    expect(await harness.state(id)).toMatchObject({
      probes: 0,
      failures: 0,
      parked: 0,
      cursor: 40,
      pausedUntil: 0,
    });
  });

  test('is sent one probe at a time, at growing intervals', async () => {
    await using receiver = await startReceiver(500);
    const clock = createStillClock();
    await using harness = await createHarness(redis, { retryMs: [150], now: clock.now });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...times(30, (i) => `f${i}`));
    await harness.drain(id);
    const before = receiver.received.length;
    const pauses: number[] = [];
    for (const probe of [1, 2, 3]) {
      await clock.drainUntil(harness, id, () => expect(receiver.received).toHaveLength(before + probe));
      const { pausedUntil } = await harness.state(id);
      pauses.push(pausedUntil - (harness.reports.at(-1)?.attempt.at ?? 0));
      expect(harness.reports.at(-1)?.nextAttemptAt).toBe(pausedUntil);
      await harness.drain(id);
      expect(receiver.received).toHaveLength(before + probe);
    }
    // Doubled from 150 each time and shortened by a tenth: the harness's random is 0.5.
    expect(pauses).toEqual([270, 540, 1_080]);
  });

  test('gets what waits in lanes at once when it is back, whatever their schedule says', async () => {
    await using receiver = await startReceiver(500);
    await using harness = await createHarness(redis, { retryMs: [30, 3_600_000] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a');
    await harness.drain(id);
    await drainUntil(harness, id, () => expect(receiver.received).toHaveLength(2));
    expect((await harness.state(id)).nextAttemptAt).toBeGreaterThan(Date.now() + 2_000_000);
    await harness.append('b', 'c');
    await harness.drain(id);
    receiver.answer(200);
    await drainUntil(harness, id, () => expect(receiver.accepted).toHaveLength(3));
  });

  test('is found again although one event in a lane always fails', async () => {
    await using receiver = await startReceiver(500);
    await using harness = await createHarness(redis, { retryMs: [15, 15, 3_600_000] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('poison', 'b', 'c', 'd');
    await harness.drain(id);
    receiver.answer(({ filingId }) => (filingId === 'poison' ? 500 : 200));
    await drainUntil(harness, id, () => expect(receiver.accepted).toHaveLength(3));
    expect((await harness.state(id)).parked).toBe(1);
  });

  test('refusing connections keeps its backlog too', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { retryMs: [25] });
    const id = await harness.subscribe(receiver.url);
    await receiver.stop();
    await harness.append(...times(30, (i) => `f${i % 10}`));
    await harness.drain(id);
    expect(harness.reports[0]?.attempt).toMatchObject({
      outcome: 'connection_refused',
      statusCode: null,
      response: null,
    });
    await receiver.start();
    await drainUntil(harness, id, () => expect(receiver.accepted).toHaveLength(30));
  });
});

describe('Retry-After', () => {
  test('pauses the whole subscription, also when callbacks under way succeed meanwhile', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async ({ filingId }) => {
      if (filingId === 'busy') return { status: 429, headers: { 'retry-after': '2' } };
      await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis, { maxInFlight: 3 });
    const id = await harness.subscribe(receiver.url);
    await harness.append('busy', 'a', 'b', 'c', 'd');
    const drained = harness.drain(id);
    await vi.waitFor(async () =>
      expect((await harness.state(id)).pausedUntil).toBeGreaterThan(Date.now() + 1_000),
    );
    latch.open();
    const { wakeAt } = await drained;
    expect(receiver.accepted.map(({ filingId }) => filingId).toSorted()).toEqual(['a', 'b']);
    const { pausedUntil, probes } = await harness.state(id);
    expect(pausedUntil - Date.now()).toBeGreaterThan(1_000);
    expect([wakeAt, probes]).toEqual([pausedUntil, 0]);
    await harness.drain(id);
    expect(receiver.received).toHaveLength(3);
  });

  test('costs no retries', async () => {
    await using receiver = await startReceiver(({ attempt }) =>
      attempt < 4 ? { status: 503, headers: { 'retry-after': '0' } } : 200,
    );
    await using harness = await createHarness(redis, { retryMs: [10] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a');
    await drainUntil(harness, id, () => expect(receiver.accepted).toHaveLength(1));
    expect(receiver.received).toHaveLength(4);
  });
});

describe('disabling', () => {
  test('410 disables at once, says so in the log, keeps its place; enabling delivers what was missed', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId === 'gone' ? 410 : 200));
    await using watching = await startReceiver();
    await using harness = await createHarness(redis, { maxInFlight: 1, retryMs: [3_600_000] });
    const id = await harness.subscribe(receiver.url);
    await harness.subscribe(watching.url, { eventTypes: ['subscription.disabled'] });
    await harness.append('a', 'gone', 'b', 'gone');
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    const disabled = await harness.state(id);
    expect(disabled).toMatchObject({ enabled: false, disabledReason: 'the endpoint answered 410 Gone' });
    expect(harness.disabled).toEqual(['the endpoint answered 410 Gone']);
    const ofIt = harness.reports.filter(({ subscription }) => subscription.id === id);
    expect(ofIt.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([null, null]);
    expect(receiver.received).toHaveLength(2);
    expect((await harness.log.head(harness.account)).position).toBe(5);

    expect(JSON.parse(watching.accepted[0]?.raw ?? '{}')).toMatchObject({
      type: 'subscription.disabled',
      data: { subscription: id, reason: 'the endpoint answered 410 Gone' },
    });

    await harness.append('c');
    await harness.drain(id);
    expect(receiver.received).toHaveLength(2);
    receiver.answer(200);
    await harness.change(id, {}, { enabled: true, release: true });
    await harness.drain(id);
    expect(sequences(receiver)).toEqual({ a: [1], gone: [1, 2], b: [1], c: [1] });
    expect(await harness.state(id)).toMatchObject({ enabled: true, cursor: 6, parked: 0 });
  });

  test('an endpoint without one success for long enough is disabled', async () => {
    await using receiver = await startReceiver(500);
    await using harness = await createHarness(redis, {
      retryMs: [20, 20, 20, 20, 20, 20, 20],
      disableAfterMs: 60,
    });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a');
    await drainUntil(harness, id, () => expect(harness.disabled).toHaveLength(1));
    expect(harness.disabled[0]).toMatch(/^no callback has succeeded since \d{4}-/);
    expect(await harness.state(id)).toMatchObject({ enabled: false, parked: 1 });
    const seen = receiver.received.length;
    await harness.drain(id);
    expect(receiver.received).toHaveLength(seen);
  });

  test('410 from the former endpoint does not disable the new one', async () => {
    const latch = createLatch();
    await using former = await startReceiver(async () => {
      await latch.opened;
      return 410;
    });
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(former.url);
    await harness.append('a');
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(former.inFlight()).toBe(1));
    await harness.change(id, { url: receiver.url }, { release: true });
    latch.open();
    await drained;
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['a']);
    expect(await harness.state(id)).toMatchObject({ enabled: true, failures: 0, cursor: 1, parked: 0 });
    expect(harness.disabled).toEqual([]);
  });

  test('410 for several events in flight disables once, and is reported once', async () => {
    const latches = { a: createLatch(), b: createLatch() };
    await using receiver = await startReceiver(async ({ filingId }) => {
      await latches[filingId === 'a' ? 'a' : 'b'].opened;
      return 410;
    });
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b');
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(2));
    latches.a.open();
    await vi.waitFor(async () => expect(await harness.state(id)).toMatchObject({ enabled: false }));
    latches.b.open();
    await drained;
    expect(harness.reports).toHaveLength(2);
    expect(harness.disabled).toEqual(['the endpoint answered 410 Gone']);
    // The two events, and one that says so.
    expect((await harness.log.head(harness.account)).position).toBe(3);
  });
});

describe('what comes during a pause', () => {
  test('is not sent, until a success, a release or enabling ends that', async () => {
    await using receiver = await startReceiver(500);
    await using harness = await createHarness(redis, { retryMs: [60_000] });
    const id = await harness.subscribe(receiver.url);
    const { deliverers, account, stores } = harness;
    /** Number of callbacks that a new event causes in the process that delivers. */
    const sent = async () => {
      const before = receiver.received.length;
      await harness.append('a');
      await deliverers.run(account, new AbortController().signal);
      expect(await stores.deliveries.isDue(account, Date.now())).toBe(false);
      return receiver.received.length - before;
    };
    expect(await sent()).toBe(1);
    await harness.append('b', 'c', 'd');
    expect(await sent()).toBeGreaterThan(0);
    expect((await harness.state(id)).pausedUntil).toBeGreaterThan(Date.now());
    expect(await sent()).toBe(0);
    await harness.change(id, {}, { release: true });
    expect(await sent()).toBeGreaterThan(0);
    expect(await sent()).toBe(0);
    await harness.change(id, {}, { enabled: false });
    await harness.change(id, { description: 'still disabled' });
    expect(await sent()).toBe(0);
    receiver.answer(200);
    await harness.change(id, {}, { enabled: true, release: true });
    expect(await sent()).toBeGreaterThan(5);
    receiver.answer(410);
    expect(await sent()).toBe(1);
    expect(await sent()).toBe(0);
    await harness.subscriptions.remove(harness.account, id);
    expect(await sent()).toBe(0);
  });
});
