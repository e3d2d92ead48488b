import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLatch, startReceiver } from '../../support/receivers/receiver.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness } from './drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const filings = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`);
const slowMs = 60;

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
    let serving = 0;
    const queue: (() => void)[] = [];
    await using receiver = await startReceiver(async () => {
      if (serving >= 10) await new Promise<void>((resolve) => queue.push(resolve));
      serving += 1;
      await sleep(slowMs);
      serving -= 1;
      queue.shift()?.();
      return 200;
    });
    await using harness = await createHarness(redis, { maxInFlight: 64 });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...filings(300));
    await harness.drain(id);
    expect(receiver.accepted).toHaveLength(300);
    expect(receiver.inFlightMax()).toBeLessThanOrEqual(40);
  });

  test('are ten at most while none is answered, and all arrive once they are', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(() => latch.opened.then(() => 200));
    await using harness = await createHarness(redis, { maxInFlight: 64, timeoutMs: 20_000 });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...filings(40));
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(10));
    // The drain looks for changes meanwhile, and finds no place.
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
