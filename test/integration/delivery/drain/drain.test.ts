import { pino } from 'pino';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { appendEvent } from '../../../support/redis/append-script.ts';
import { createLatch, startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const times = (count: number, name: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => name(i));

describe('a run', () => {
  test('delivers the log in order per filing, signed, and leaves nothing behind', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b', 'a', 'c', 'a', 'b');
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    expect(receiver.refused).toEqual([]);
    expect(
      receiver.accepted.filter(({ filingId }) => filingId === 'a').map(({ sequence }) => sequence),
    ).toEqual([1, 2, 3]);
    expect(receiver.accepted).toHaveLength(6);
    expect(receiver.overlapping).toEqual([]);
    expect(await harness.state(id)).toMatchObject({
      cursor: 6,
      done: '',
      parked: 0,
      nextAttemptAt: 0,
      failures: 0,
    });
    expect((await harness.state(id)).lastSuccessAt).toBeGreaterThan(Date.now() - 10_000);
  });

  test('sends as many filings at once as it may, and never more', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async () => {
      await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis, { maxInFlight: 4 });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...times(30, (i) => `f${i}`));
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(4));
    latch.open();
    await drained;
    expect(receiver.accepted).toHaveLength(30);
    expect(receiver.inFlightMax()).toBe(4);
  });

  test('sends what it has read before it reads more', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { maxInFlight: 10 });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...times(150, (i) => `f${i}`));
    const { deliveries } = harness.stores;
    const { read } = deliveries;
    const reads = vi.spyOn(deliveries, 'read').mockImplementation(async (...args) => {
      if (args[2].position > 0) await latch.opened;
      return read(...args);
    });
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(100), 5_000);
    expect(reads).toHaveBeenCalledTimes(2);
    latch.open();
    await drained;
    expect(receiver.accepted).toHaveLength(150);
  });

  test('goes on with other filings, also with those that come later, while one callback hangs', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async ({ filingId }) => {
      if (filingId === 'slow') await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis, { maxInFlight: 2, timeoutMs: 20_000 });
    const id = await harness.subscribe(receiver.url);
    // More followers of the hanging filing than the window has places must not fill it up.
    await harness.append(...times(150, () => 'slow'), ...times(20, (i) => `f${i}`));
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(20), 5_000);
    await harness.append('late');
    await vi.waitFor(() => expect(receiver.accepted.at(-1)?.filingId).toBe('late'), 5_000);
    expect(receiver.inFlight()).toBe(1);
    latch.open();
    await drained;
    const slow = receiver.accepted.filter(({ filingId }) => filingId === 'slow');
    expect(slow.map(({ sequence }) => sequence)).toEqual(times(150, (i) => String(i + 1)).map(Number));
    expect(receiver.overlapping).toEqual([]);
    expect((await harness.state(id)).cursor).toBe(171);
  });

  test('remembers what was acknowledged beyond a callback that hangs', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async ({ filingId }) => {
      if (filingId === 'slow') await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'slow', 'b', 'c', 'slow', 'd');
    const drained = harness.drain(id);
    await vi.waitFor(async () => expect(await harness.state(id)).toMatchObject({ cursor: 1, done: '3-4,6' }));
    latch.open();
    await drained;
    expect(await harness.state(id)).toMatchObject({ cursor: 6, done: '' });
  });

  test('passes over what was not asked for, and operational events unless they are named', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const some = await harness.subscribe(receiver.url, { eventTypes: ['filing.rejected'] });
    await harness.subscribe(receiver.url, { eventTypes: ['account.*'] });
    await harness.append(...times(300, (i) => `f${i}`));
    const event = {
      id: 'evt_stale',
      type: 'account.stale',
      filingId: '',
      state: '',
      status: '',
      body: '{"type":"account.stale"}',
    };
    await appendEvent(harness.redis, harness.keys, event, Date.now());
    await harness.drain();
    expect(receiver.received.map(({ id }) => id)).toEqual(['evt_stale']);
    expect((await harness.state(some)).cursor).toBe(301);
  });

  test('takes filing ids that JavaScript or Redis could trip over', async () => {
    const ids = ['__proto__', 'constructor', 'a:b{c}', ' ', '" \\ \n', 'ü'.repeat(500)];
    let fails = true;
    await using receiver = await startReceiver(() => (fails ? 500 : 200));
    await using harness = await createHarness(redis, { retryMs: [1, 1, 1, 1, 1, 1] });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...ids, ...ids);
    await harness.drain(id);
    fails = false;
    await vi.waitFor(async () => {
      await harness.drain(id);
      expect(receiver.accepted).toHaveLength(12);
    });
    for (const filing of ids)
      expect(
        receiver.accepted.filter(({ filingId }) => filingId === filing).map(({ sequence }) => sequence),
      ).toEqual([1, 2]);
  });

  test('does nothing for a subscription that is disabled or gone', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a');
    await harness.change(id, {}, { enabled: false });
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    await harness.subscriptions.remove(harness.account, id);
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    expect(receiver.received).toEqual([]);
    expect(await harness.stored.of(id).state()).toEqual({});
  });

  test('ends when asked to, with what is in flight finished and written', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async () => {
      await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis, { maxInFlight: 2 });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b', 'c');
    const stopping = new AbortController();
    const drained = harness.drain(id, stopping.signal);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(2));
    stopping.abort();
    latch.open();
    expect((await drained).wakeAt).not.toBeNull();
    expect(receiver.received).toHaveLength(2);
    expect((await harness.state(id)).cursor).toBe(2);
  });
});

describe('a failed attempt', () => {
  test('is tried again by the schedule under the same id and bytes, with new times and its number', async () => {
    await using receiver = await startReceiver(({ attempt }) => (attempt < 3 ? 503 : 200));
    let clock = Date.now();
    const retryMs = [30_000, 60_000, 90_000];
    await using harness = await createHarness(redis, { retryMs, now: () => clock });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a');
    const first = await harness.drain(id);
    const { nextAttemptAt, parked } = await harness.state(id);
    expect([first.wakeAt, parked]).toEqual([nextAttemptAt, 1]);
    expect(nextAttemptAt - (harness.reports[0]?.attempt.at ?? 0)).toBe(30_000);
    for (const retry of retryMs.slice(0, 2)) {
      clock += retry;
      await harness.drain(id);
    }
    expect(receiver.accepted).toHaveLength(1);
    expect(new Set(receiver.received.map(({ raw }) => raw)).size).toBe(1);
    expect(new Set(receiver.received.map((each) => each.id)).size).toBe(1);
    expect(receiver.received.map(({ headers }) => headers['webhook-attempt'])).toEqual(['1', '2', '3']);
    expect(harness.reports.map(({ attempt, nextAttemptAt: at }) => at && at - attempt.at)).toEqual([
      30_000,
      60_000,
      null,
    ]);
    const { items } = await harness.journal.list(harness.account, id, 'attempts', null, 10);
    expect(items.map(({ attempt, outcome, statusCode }) => [attempt, outcome, statusCode])).toEqual([
      [3, 'delivered', 200],
      [2, 'http_error', 503],
      [1, 'http_error', 503],
    ]);
    expect(await harness.state(id)).toMatchObject({ parked: 0, nextAttemptAt: 0, failures: 0 });
    expect(await harness.stored.of(id).lanes()).toEqual({});
  });

  test('is a log line that says how many attempts there are and when the next one is', async () => {
    await using receiver = await startReceiver(({ filingId, attempt }) =>
      filingId === 'poison' || attempt === 1 ? 503 : 200,
    );
    const lines: Record<string, unknown>[] = [];
    const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
    const logger = pino({ level: 'info' }, { write });
    await using harness = await createHarness(redis, { retryMs: [30], maxInFlight: 1, logger });
    const id = await harness.subscribe(receiver.url);
    await harness.append('poison', 'a');
    await vi.waitFor(async () => {
      await harness.drain(id);
      expect(harness.reports).toHaveLength(4);
    });
    const first = harness.reports.find(({ attempt }) => attempt.filingId === 'a');
    const nextAttemptAt = new Date((first?.attempt.at ?? 0) + 30).toISOString();
    const ofFiling = (filing: string) =>
      lines.filter((line) => line['filing'] === filing && line['attemptsMax'] === 2);
    expect(ofFiling('a')).toMatchObject([
      { msg: 'delivery.failed', attempt: 1, nextAttemptAt, deadLetter: false },
      { msg: 'delivery.delivered', attempt: 2, nextAttemptAt: null, deadLetter: false },
    ]);
    expect(ofFiling('poison')).toMatchObject([
      { msg: 'delivery.failed', attempt: 1, deadLetter: false },
      { msg: 'delivery.failed', attempt: 2, nextAttemptAt: null, deadLetter: true },
    ]);
  });

  test('holds back the events of its filing only, until it is given up; then the next one goes', async () => {
    await using receiver = await startReceiver(({ filingId, sequence }) =>
      filingId === 'poison' && sequence === 1 ? 500 : 200,
    );
    let clock = Date.now();
    await using harness = await createHarness(redis, { retryMs: [20, 20], now: () => clock });
    const id = await harness.subscribe(receiver.url);
    await harness.append('poison', 'a', 'poison', 'b');
    await harness.drain(id);
    await harness.append('poison', 'c');
    await harness.drain(id);
    expect(receiver.accepted.map(({ filingId }) => filingId).toSorted()).toEqual(['a', 'b', 'c']);
    for (let retries = 0; retries < 2; retries += 1) {
      clock += 20;
      await harness.drain(id);
    }
    expect(receiver.accepted).toHaveLength(5);
    const poison = receiver.received.filter(({ filingId }) => filingId === 'poison');
    expect(poison.map(({ sequence }) => sequence)).toEqual([1, 1, 1, 2, 3]);
    const { items } = await harness.journal.list(harness.account, id, 'dead', null, 10);
    expect(items).toMatchObject([
      { filingId: 'poison', position: 1, attempts: 3, lastOutcome: 'http_error', events: 1 },
    ]);
    const poisoned = harness.reports.filter(({ attempt }) => attempt.outcome === 'http_error');
    expect(poisoned.map(({ deadLetter, nextAttemptAt }) => [deadLetter, nextAttemptAt === null])).toEqual([
      [false, false],
      [false, false],
      [true, true],
    ]);
    expect(await harness.state(id)).toMatchObject({ cursor: 6, parked: 0 });
  });

  test('of the operational lane holds back operational events alone', async () => {
    await using receiver = await startReceiver(({ id }) => (id === 'evt_1' ? 500 : 200));
    await using harness = await createHarness(redis, { retryMs: [60_000] });
    const id = await harness.subscribe(receiver.url, { eventTypes: ['account.*', 'filing.*'] });
    for (const n of [1, 2]) {
      const event = {
        id: `evt_${n}`,
        type: 'account.stale',
        filingId: '',
        state: '',
        status: '',
        body: '{}',
      };
      await appendEvent(harness.redis, harness.keys, event, Date.now());
    }
    await harness.append('a');
    await harness.drain(id);
    expect(receiver.received.map(({ id: event }) => event)).not.toContain('evt_2');
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['a']);
    expect(await harness.state(id)).toMatchObject({ parked: 2, cursor: 3 });
  });

  test('counts in the lag together with all that waits behind it', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId === 'poison' ? 500 : 200));
    await using harness = await createHarness(redis, { retryMs: [60_000] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('poison', 'poison', 'a', 'poison');
    await harness.drain(id);
    const { parked, cursor } = await harness.state(id);
    expect({ parked, cursor }).toEqual({ parked: 3, cursor: 4 });
  });

  test('that cannot be written in the asked format waits alone; what is sent when the client closes is no attempt', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async () => {
      await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis, { retryMs: [60_000] });
    const id = await harness.subscribe(receiver.url, { eventTypes: ['account.*'], format: 'cloudevents' });
    const broken = {
      id: 'evt_1',
      type: 'account.stale',
      filingId: '',
      state: '',
      status: '',
      body: 'no JSON',
    };
    await appendEvent(harness.redis, harness.keys, broken, Date.now());
    await harness.drain(id);
    expect(harness.reports.map(({ attempt }) => attempt.outcome)).toEqual(['sender_error']);
    expect(await harness.state(id)).toMatchObject({ parked: 1, cursor: 1 });

    const other = await harness.subscribe(receiver.url);
    await harness.append('a');
    const drained = Promise.allSettled([harness.drain(other)]);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(1));
    await harness.callbacks.close();
    expect((await drained)[0]).toMatchObject({ status: 'rejected' });
    latch.open();
    expect(harness.reports).toHaveLength(1);
    expect(await harness.state(other)).toMatchObject({ failures: 0, cursor: 1 });
  });
});
