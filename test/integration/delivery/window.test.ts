import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLatch, startReceiver } from '../../support/receivers/receiver.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness, type Harness } from './drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const filings = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`);
const slowMs = 60;

/** Delivers as the process that has done so before. */
const deliverOn = ({ deliverers, account }: Harness) => deliverers.run(account, new AbortController().signal);

/**
 * Delivers fewer at once than a window begins with until a whole round took little more than `servedMs`: the product
 * takes the lowest latency that it has measured for the endpoint's own, and a busy machine spoils some measures.
 */
async function measureAlone(harness: Harness, servedMs: number): Promise<void> {
  await vi.waitFor(
    async () => {
      await harness.append(...filings(9));
      await deliverOn(harness);
      // Twenty hold a round of ten, wherever that begins.
      const measured = harness.reports.slice(-20).map(({ sent }) => sent.durationMs);
      expect(measured).toHaveLength(20);
      expect(Math.max(...measured)).toBeLessThan(1.5 * servedMs);
    },
    { timeout: 20_000, interval: 0 },
  );
}

describe.concurrent('callbacks in flight', () => {
  test('become many to an endpoint that is slow and well, which gets each event once', async () => {
    await using receiver = await startReceiver(() => sleep(slowMs, 200));
    await using harness = await createHarness(redis, { maxInFlight: 64 });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...filings(500));
    await harness.drain(id);
    expect(receiver.received).toHaveLength(500);
    expect(receiver.accepted).toHaveLength(500);
    expect(receiver.inFlightMax()).toBeGreaterThan(30);
    expect(receiver.inFlightMax()).toBeLessThanOrEqual(64);
  });

  test('stay few to an endpoint that serves ten at once and lets the others wait', async () => {
    const servedMs = 100;
    let [serving, served] = [0, 0];
    const queue: (() => void)[] = [];
    await using receiver = await startReceiver(async () => {
      if (serving >= 10) await new Promise<void>((resolve) => queue.push(resolve));
      serving += 1;
      served += 1;
      // Times differ, as an endpoint's do: ten that ended together would make every wait a multiple of one time.
      await sleep(servedMs * (0.75 + ((served * 7) % 10) / 20));
      serving -= 1;
      queue.shift()?.();
      return 200;
    });
    await using harness = await createHarness(redis, { maxInFlight: 64 });
    await harness.subscribe(receiver.url);
    await measureAlone(harness, servedMs);
    const before = receiver.accepted.length;
    await harness.append(...filings(200));
    await deliverOn(harness);
    expect(receiver.accepted).toHaveLength(before + 200);
    // Where answers to fewer in flight are still the most of a round, the window grows from 35 to 53 before it falls.
    expect(receiver.inFlightMax()).toBeLessThanOrEqual(53);
  });

  test('are ten at most while none is answered, and all arrive once they are', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(() => latch.opened.then(() => 200));
    await using harness = await createHarness(redis, { maxInFlight: 64, timeoutMs: 20_000 });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...filings(40));
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(10));
    // The deliverer looks for changes meanwhile, and finds no place.
    await harness.append('late');
    await sleep(slowMs);
    expect(receiver.inFlightMax()).toBe(10);
    latch.open();
    await drained;
    expect(receiver.accepted).toHaveLength(41);
  });

  test('become no more than ten while answers are failures', async () => {
    await using receiver = await startReceiver(({ filingId }) => (Number(filingId.slice(1)) % 2 ? 500 : 200));
    await using harness = await createHarness(redis, { maxInFlight: 64, retryMs: [3_600_000] });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...filings(120));
    await harness.drain(id);
    expect(receiver.received.length).toBeGreaterThanOrEqual(60);
    expect(receiver.inFlightMax()).toBeLessThanOrEqual(16);
  });
});
