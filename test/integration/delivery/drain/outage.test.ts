import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { variables } from '../../../../src/config/variables.ts';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const hour = 3_600_000;
const schedule = variables.DELIVERY_RETRY_MS.default.split(',').map(Number);

async function drainUntil(harness: Harness, id: string, holds: () => unknown): Promise<void> {
  await vi.waitFor(
    async () => {
      await harness.drain(id);
      await holds();
    },
    { timeout: 10_000, interval: 10 },
  );
}

const lanesOf = (harness: Harness, id: string) => harness.stored.of(id).lanes();

const deadLetters = async (harness: Harness, id: string) =>
  (await harness.journal.list(harness.account, id, 'dead', null, 50)).items;

describe('an outage that touches few filings', () => {
  test('ends for all of them with the first success, whatever their schedule says', async () => {
    await using receiver = await startReceiver(503);
    await using harness = await createHarness(redis, { retryMs: [20, hour] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b', 'a');
    await drainUntil(harness, id, () => expect(receiver.received).toHaveLength(4));
    expect((await harness.state(id)).nextAttemptAt).toBeGreaterThan(Date.now() + hour / 2);
    receiver.answer(200);
    await harness.append('c');
    await harness.drain(id);
    expect(receiver.accepted.map(({ filingId, sequence }) => `${filingId}${sequence}`)).toEqual([
      'c1',
      'a1',
      'b1',
      'a2',
    ]);
    expect(await harness.state(id)).toMatchObject({ failures: 0, parked: 0, cursor: 4, nextAttemptAt: 0 });
  });

  test('gives back the attempts that it has cost', async () => {
    await using receiver = await startReceiver(503);
    await using harness = await createHarness(redis, { retryMs: [20, hour] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a');
    await drainUntil(harness, id, () => expect(receiver.received).toHaveLength(2));
    receiver.answer(({ filingId, attempt }) => (filingId === 'a' && attempt < 5 ? 500 : 200));
    await harness.append('b');
    await drainUntil(harness, id, () => expect(receiver.received).toHaveLength(5));
    expect((await lanesOf(harness, id))['a']).toMatchObject({ spent: 2, tried: 4, proven: true });
    expect(await deadLetters(harness, id)).toEqual([]);
  });

  test('costs a single filing nothing while no connection comes about', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { retryMs: [10] });
    const id = await harness.subscribe(receiver.url);
    await receiver.stop();
    await harness.append('a', 'a');
    await drainUntil(harness, id, () => expect(harness.reports.length).toBeGreaterThan(4));
    expect(await harness.state(id)).toMatchObject({ parked: 2, failures: harness.reports.length });
    expect((await harness.state(id)).probes).toBeGreaterThan(2);
    await receiver.start();
    await drainUntil(harness, id, () => expect(receiver.accepted).toHaveLength(2));
    expect(receiver.accepted.map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect(await deadLetters(harness, id)).toEqual([]);
  });
});

describe('an outage of an hour', () => {
  test.each(['refuses', 'fails'])(
    'that %s is probed ever less often and costs nothing; all goes within one probe interval once it is over',
    async (how) => {
      let clock = Date.now();
      const over = clock + hour;
      await using receiver = await startReceiver(500);
      if (how === 'refuses') await receiver.stop();
      await using harness = await createHarness(redis, { retryMs: schedule, now: () => clock });
      const id = await harness.subscribe(receiver.url);
      const filings = ['a', 'b', 'c', 'd', 'e'];
      await harness.append(...filings, ...filings);
      let { wakeAt } = await harness.drain(id);
      const probed: number[] = [];
      while (wakeAt !== null && wakeAt < over) {
        probed.push(wakeAt - clock);
        clock = wakeAt;
        await harness.append('a');
        ({ wakeAt } = await harness.drain(id));
      }
      // Doubled from five seconds up to five minutes, shortened by a tenth: the harness's random is 0.5.
      expect(probed.slice(0, 7)).toEqual([4_500, 9_000, 18_000, 36_000, 72_000, 144_000, 270_000]);
      expect(new Set(probed.slice(6))).toEqual(new Set([270_000]));
      // Only what failed before it was known to be an outage has spent a retry, which it gets back.
      const lanes = Object.values(await lanesOf(harness, id));
      expect(lanes.filter(({ spent }) => spent > 0).length).toBeLessThanOrEqual(2);
      expect(Math.max(...lanes.map(({ spent }) => spent))).toBeLessThanOrEqual(1);

      receiver.answer(200);
      if (how === 'refuses') await receiver.start();
      expect((wakeAt ?? 0) - over).toBeLessThanOrEqual(5 * 60_000);
      clock = wakeAt ?? 0;
      await harness.drain(id);
      const expected = { a: probed.length + 2, b: 2, c: 2, d: 2, e: 2 };
      const order = Map.groupBy(receiver.accepted, ({ filingId }) => filingId);
      for (const [filing, events] of Object.entries(expected))
        expect(order.get(filing)?.map(({ sequence }) => sequence)).toEqual(
          Array.from({ length: events }, (_, i) => i + 1),
        );
      expect(await deadLetters(harness, id)).toEqual([]);
      expect(await harness.state(id)).toMatchObject({ failures: 0, parked: 0, probes: 0, nextAttemptAt: 0 });
    },
  );
});

describe('an event that always fails', () => {
  test('is given up after its schedule although nothing else tells of the endpoint', async () => {
    await using receiver = await startReceiver(500);
    let clock = Date.now();
    await using harness = await createHarness(redis, { retryMs: [30_000, 60_000], now: () => clock });
    const id = await harness.subscribe(receiver.url);
    await harness.append('poison');
    const delays: number[] = [];
    for (const _ of ['first try', 'first retry', 'second retry']) {
      await harness.drain(id);
      const lane = (await lanesOf(harness, id))['poison'];
      if (lane === undefined) break;
      delays.push(lane.dueAt - clock);
      clock = lane.dueAt;
    }
    expect(delays).toEqual([30_000, 60_000]);
    expect(harness.reports.map(({ attempt }) => attempt.attempt)).toEqual([1, 2, 3]);
    expect(await deadLetters(harness, id)).toMatchObject([{ attempts: 3, lastOutcome: 'http_error' }]);
  });

  test('keeps to its schedule while others succeed', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId === 'poison' ? 500 : 200));
    let clock = Date.now();
    await using harness = await createHarness(redis, { retryMs: [20, hour], now: () => clock });
    const id = await harness.subscribe(receiver.url);
    await harness.append('poison');
    await harness.drain(id);
    for (let i = 0; i < 2; i += 1) {
      clock += 10;
      await harness.append('a');
      await harness.drain(id);
    }
    expect(harness.reports).toHaveLength(4);
    for (let i = 0; i < 3; i += 1) {
      clock += 10;
      // One drain after the other: each brings a success.
      await harness.append('a');
      await harness.drain(id);
    }
    expect((await lanesOf(harness, id))['poison']).toMatchObject({ tried: 2, spent: 2 });
  });

  test('has as many attempts as its schedule says, however seldom others succeed', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId === 'poison' ? 500 : 200));
    let clock = Date.now();
    await using harness = await createHarness(redis, { retryMs: [1_000, 60_000, 300_000], now: () => clock });
    const id = await harness.subscribe(receiver.url);
    await harness.append('poison');
    const delays: number[] = [];
    for (let triedAt = clock; (await deadLetters(harness, id)).length === 0;) {
      const tried = harness.reports.length;
      await harness.drain(id);
      if (harness.reports.length > tried) {
        delays.push(clock - triedAt);
        triedAt = clock;
      }
      if (delays.length === 2) {
        // Two failed without a success between: in doubt.
        await harness.append('a');
        await harness.drain(id);
      }
      clock = (await lanesOf(harness, id))['poison']?.dueAt ?? clock;
    }
    expect(delays).toEqual([0, 1_000, 60_000, 300_000]);
    expect(await deadLetters(harness, id)).toMatchObject([{ attempts: 4 }]);
  });

  test('that would wait for long is tried early once at the most, however seldom others succeed', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId === 'poison' ? 500 : 200));
    await using harness = await createHarness(redis, { retryMs: [10, hour, hour] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('poison');
    const attempts = () => harness.reports.filter(({ entry }) => entry.filingId === 'poison').length;
    await drainUntil(harness, id, () => expect(attempts()).toBe(2));
    // What is sent in the millisecond of a failure is no proof that the endpoint worked after it.
    await delay(2);
    await harness.append('a');
    await drainUntil(harness, id, () => expect(attempts()).toBe(4));
    for (let i = 0; i < 3; i += 1) {
      // One drain after the other: each brings a success.
      await harness.append('a');
      await harness.drain(id);
    }
    expect(attempts()).toBe(4);
    expect((await lanesOf(harness, id))['poison']).toMatchObject({ tried: 4, spent: 2, proven: true });
  });

  test('is found out also among as many as make an endpoint look down', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId.startsWith('poison') ? 500 : 200));
    let clock = Date.now();
    await using harness = await createHarness(redis, { retryMs: [10, 10], now: () => clock });
    const id = await harness.subscribe(receiver.url);
    await harness.append('poison1', 'poison2', 'poison3');
    await harness.drain(id);
    expect((await harness.state(id)).probes).toBe(1);
    await harness.append('good');
    await drainUntil(harness, id, async () => {
      clock += 10;
      expect(await deadLetters(harness, id)).toHaveLength(3);
    });
    expect(await harness.state(id)).toMatchObject({ parked: 0, probes: 0 });
  });
});
