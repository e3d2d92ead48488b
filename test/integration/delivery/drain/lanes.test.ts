import { afterAll, expect, test, vi } from 'vitest';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const poison = Array.from({ length: 120 }, (_, i) => `poison${i}`);

/**
 * A subscription with 120 lanes that are not due for an hour, and an endpoint that accepts everything else.
 */
async function fillLanes(harness: Harness, url: string): Promise<string> {
  const id = await harness.subscribe(url);
  for (const [i, filing] of poison.entries()) {
    // After each failure a success, so that the endpoint does not look down.
    // oxlint-disable no-await-in-loop
    await harness.append(filing, `good${i}`);
    await run(harness);
    // oxlint-enable no-await-in-loop
  }
  expect((await harness.state(id)).parked).toBe(120);
  return id;
}

/** As the process that delivered last. */
const run = ({ deliverers, account }: Harness) => deliverers.run(account, new AbortController().signal);

const isPoison = ({ filingId }: { filingId: string }) => (filingId.startsWith('poison') ? 500 : 200);

test('lanes are not read anew for every event as long as nobody else has delivered', async () => {
  await using receiver = await startReceiver(isPoison);
  await using harness = await createHarness(redis, { retryMs: [3_600_000], maxInFlight: 2 });
  const id = await fillLanes(harness, receiver.url);
  const waiting = vi.spyOn(harness.stores.deliveries, 'waiting');

  await harness.append('poison7', 'good');
  await run(harness);
  expect(waiting).not.toHaveBeenCalled();
  expect((await harness.state(id)).parked).toBe(121);

  // As another process would.
  await harness.stored.overtake();
  await harness.append('poison7');
  await run(harness);
  expect((await waiting.mock.results.at(-1)?.value)?.lanes.size).toBe(120);
  expect((await harness.state(id)).parked).toBe(122);
});

test('lanes that are kept are released with the others when the endpoint changes, each in order', async () => {
  await using receiver = await startReceiver(isPoison);
  await using harness = await createHarness(redis, { retryMs: [3_600_000], maxInFlight: 2 });
  const id = await fillLanes(harness, receiver.url);
  await harness.append('poison7');
  await run(harness);
  receiver.answer(200);
  await harness.change(id, {}, { release: true });
  await run(harness);
  expect(await harness.state(id)).toMatchObject({ parked: 0, nextAttemptAt: 0 });
  const ofSeven = receiver.accepted.filter(({ filingId }) => filingId === 'poison7');
  expect(ofSeven.map(({ sequence }) => sequence)).toEqual([1, 2]);
});
