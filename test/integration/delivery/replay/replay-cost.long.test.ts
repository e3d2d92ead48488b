import type { Redis } from 'ioredis';
import { afterAll, describe, expect, test } from 'vitest';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, startReplay } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const times = (count: number, name: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => name(i));
const hourMs = 3_600_000;

/** What an action sends to Redis and gets from it over one connection, in bytes. */
async function bytesOf(client: Redis, action: () => Promise<unknown>) {
  const { bytesWritten, bytesRead } = client.stream;
  await action();
  return { written: client.stream.bytesWritten - bytesWritten, read: client.stream.bytesRead - bytesRead };
}

describe('the half of a replay that fails', () => {
  test('makes it write little more than the live drain did, and a live event beside it costs as much as without', async () => {
    await using receiver = await startReceiver();
    const client = redis.connect();
    // One at a time, so that after each failure comes a success and the endpoint never looks down.
    await using harness = await createHarness(redis, {
      redis: client,
      retryMs: [hourMs, hourMs],
      maxInFlight: 2,
    });
    const id = await harness.subscribe(receiver.url);
    // As one process that goes on; another one reads the lanes once.
    const drain = () =>
      bytesOf(client, () => harness.deliverers.run(harness.account, new AbortController().signal));
    await harness.append(...times(1_000, (i) => `f${i}`));
    const live = await drain();
    await harness.append('good');
    const alone = await drain();

    receiver.answer(({ filingId }) => (Number(filingId.slice(1)) % 2 === 0 ? 422 : 200));
    await startReplay(harness, id);
    const replay = await drain();
    expect(await harness.stored.of(id).replayLanes()).toBe(500);
    expect(replay.written).toBeLessThan(3 * live.written);
    expect(replay.read).toBeLessThan(3 * live.read);

    await harness.append('good');
    const beside = await drain();
    expect(beside.written).toBeLessThan(1.5 * alone.written);
    expect(beside.read).toBeLessThan(1.5 * alone.read);
    expect(receiver.accepted.at(-1)?.filingId).toBe('good');
  });

  test('is tried again without its lanes being read each time', async () => {
    // Each callback takes a millisecond, so that hardly two lanes are due at the same time.
    let clock = Date.now();
    await using receiver = await startReceiver(() => {
      clock += 1;
      return 200;
    });
    const client = redis.connect();
    await using harness = await createHarness(redis, {
      redis: client,
      retryMs: [hourMs, hourMs],
      maxInFlight: 2,
      now: () => clock,
    });
    const id = await harness.subscribe(receiver.url);
    await harness.append(...times(400, (i) => `f${i}`));
    await harness.drain(id);
    receiver.answer(({ filingId }) => {
      clock += 1;
      return Number(filingId.slice(1)) % 2 === 0 ? 422 : 200;
    });
    const { id: replay } = await startReplay(harness, id);
    // As the process that has delivered before does.
    const deliverOn = () => harness.deliverers.run(harness.account, new AbortController().signal);
    let { wakeAt } = await deliverOn();

    receiver.answer(200);
    let runs = 0;
    const { read } = await bytesOf(client, async () => {
      for (; wakeAt !== null; runs += 1) {
        clock = wakeAt;
        ({ wakeAt } = await deliverOn());
      }
    });
    expect(await harness.replayer.progress(harness.account, id, replay)).toMatchObject({
      state: 'finished',
      delivered: 400,
    });
    expect(runs).toBeGreaterThan(100);
    // Two hundred lanes are 20 KB; the rest is what a run reads anyway.
    expect(read / runs).toBeLessThan(5_000);
  });
});
