import { afterAll, expect, test } from 'vitest';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, startReplay, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const hourMs = 3_600_000;

/**
 * Two events of `poison`, which a replay has failed to deliver again, and one of `good`; retries come after
 * an hour.
 */
async function replayPoison(receiver: { readonly url: string; answer(status: number): void }) {
  const clock = { now: Date.now() };
  const harness = await createHarness(redis, {
    retryMs: [hourMs, hourMs],
    maxInFlight: 2,
    now: () => clock.now,
  });
  const id = await harness.subscribe(receiver.url);
  await harness.append('poison', 'poison');
  await harness.drain(id);
  receiver.answer(422);
  const replay = (await startReplay(harness, id)).id;
  const { wakeAt } = await harness.drain(id);
  expect(wakeAt).toBe(clock.now + hourMs);
  receiver.answer(200);
  return { harness, id, replay, clock };
}

/** Delivers as the process that has done so before. */
const deliverOn = ({ deliverers, account }: Harness) => deliverers.run(account, new AbortController().signal);

const progress = (harness: Harness, id: string, replay: string) =>
  harness.replayer.progress(harness.account, id, replay);

test('a replay that waits for a retry is woken for it, and its filing keeps its order', async () => {
  await using receiver = await startReceiver();
  const { harness, id, replay, clock } = await replayPoison(receiver);
  await using _ = harness;
  await harness.append('good');
  expect(await harness.drain(id)).toEqual({ wakeAt: clock.now + hourMs });
  expect((await harness.state(id)).nextAttemptAt).toBe(clock.now + hourMs);
  expect(receiver.accepted).toHaveLength(3);

  clock.now += hourMs;
  expect(await harness.drain(id)).toEqual({ wakeAt: null });
  expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 2, failed: 0 });
  expect(receiver.accepted.slice(3).map(({ sequence }) => sequence)).toEqual([1, 2]);
  expect(await harness.stored.of(id).replayLanes()).toBe(0);
});

test.each([
  ['by the process that has sent it', deliverOn],
  ['by another one', (harness: Harness) => harness.drain()],
])(
  'a replay that waits for a retry goes on at once when the subscription is released, %s',
  async (_name, deliver) => {
    await using receiver = await startReceiver();
    const { harness, id, replay, clock } = await replayPoison(receiver);
    await using _ = harness;
    clock.now += 1;
    await harness.change(id, {}, { release: true });
    await deliver(harness);
    expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 2 });
  },
);

test('a replay with so many retries that they are kept in memory goes on at once when the subscription is released', async () => {
  await using receiver = await startReceiver();
  let clock = Date.now();
  await using harness = await createHarness(redis, {
    retryMs: [hourMs, hourMs],
    maxInFlight: 2,
    now: () => clock,
  });
  const id = await harness.subscribe(receiver.url);
  // After each failure a success, so that the endpoint does not look down.
  await harness.append(...Array.from({ length: 240 }, (_, i) => (i % 2 === 0 ? `poison${i}` : `good${i}`)));
  await deliverOn(harness);
  receiver.answer(({ filingId }) => (filingId.startsWith('poison') ? 422 : 200));
  const { id: replay } = await startReplay(harness, id);
  await deliverOn(harness);
  expect(await progress(harness, id, replay)).toMatchObject({ state: 'running', delivered: 120 });

  receiver.answer(200);
  clock += 1;
  await harness.change(id, {}, { release: true });
  await deliverOn(harness);
  expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 240 });
});

test('a replay that waited for a retry when another delivery released the subscription goes on with the next one', async () => {
  await using receiver = await startReceiver();
  const { harness, id, replay, clock } = await replayPoison(receiver);
  await using _ = harness;
  await harness.stored.of(id).setState({ releasedAt: clock.now + 1 });
  clock.now += 2;
  await harness.drain(id);
  expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 2 });
});

test('a replay is a probe of an endpoint that is down when nothing else waits', async () => {
  await using receiver = await startReceiver();
  let clock = Date.now();
  await using harness = await createHarness(redis, {
    retryMs: [hourMs, hourMs],
    maxInFlight: 2,
    now: () => clock,
  });
  const id = await harness.subscribe(receiver.url);
  await harness.append('a', 'b', 'c');
  await harness.drain(id);
  receiver.answer(500);
  const { id: replay } = await startReplay(harness, id);
  const { wakeAt } = await harness.drain(id);
  expect(receiver.received).toHaveLength(6);
  expect(wakeAt).toBeLessThan(clock + hourMs / 10);

  receiver.answer(200);
  clock = wakeAt ?? 0;
  await harness.drain(id);
  expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 3 });
});

test('a replayed event that failed in an outage is tried early once the endpoint is found to work', async () => {
  await using receiver = await startReceiver();
  const { harness, id, replay, clock } = await replayPoison(receiver);
  await using _ = harness;
  receiver.answer(503);
  clock.now += hourMs;
  expect(await harness.drain(id)).toEqual({ wakeAt: clock.now + hourMs });
  receiver.answer(200);
  await harness.append('good');
  await harness.drain(id);
  expect(await progress(harness, id, replay)).toMatchObject({ state: 'finished', delivered: 2 });
});

test('the lanes of a replay go with the subscription', async () => {
  await using receiver = await startReceiver();
  const { harness, id } = await replayPoison(receiver);
  await using _ = harness;
  expect(await harness.stored.of(id).replayLanes()).toBe(1);
  await harness.subscriptions.remove(harness.account, id);
  expect(await harness.stored.of(id).keys()).toEqual([]);
});
