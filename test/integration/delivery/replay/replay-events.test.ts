import { afterAll, expect, test, vi } from 'vitest';
import { appendEvent } from '../../../support/redis/append-script.ts';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, eventOf, startReplay, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

async function idsOf(harness: Harness): Promise<string[]> {
  const entries = await harness.log.outlineAfter(harness.account, 0, 10_000);
  return entries.map(({ id }) => id);
}

test('a replay by ids delivers these events and no others, wherever in the log they are', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const id = await harness.subscribe(receiver.url);
  await harness.append(...Array.from({ length: 600 }, (_, i) => `f${i % 200}`));
  await harness.drain(id);
  const all = await idsOf(harness);
  const wanted = [0, 255, 256, 511, 512, 599].map((i) => all[i] ?? '');
  const request = { eventIds: wanted };
  const dry = await harness.replayer.count(harness.account, id, {
    after: null,
    before: null,
    eventTypes: null,
    filingId: null,
    deadLettersOnly: false,
    ...request,
  });
  expect(dry).toBe(6);
  expect((await harness.state(id)).replaying).toBe(0);
  const replay = await startReplay(harness, id, request);
  expect(replay.matched).toBe(6);
  await harness.drain(id);
  expect(
    receiver.accepted
      .slice(600)
      .map((callback) => callback.id)
      .toSorted(),
  ).toEqual(wanted.toSorted());
  // Asked for again with the ids in another order while it runs, it is the same replay.
  const again = await startReplay(harness, id, { eventIds: wanted });
  expect((await startReplay(harness, id, { eventIds: wanted.toReversed() })).id).toBe(again.id);
});

test('events that are not in the log are named, and nothing is begun', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const id = await harness.subscribe(receiver.url);
  await harness.append('a', 'b');
  await harness.drain(id);
  const [a = '', b = ''] = await idsOf(harness);
  const unknown = `evt_${'0'.repeat(32)}`;
  for (const filingId of [null, 'a'])
    await expect(startReplay(harness, id, { eventIds: [a, unknown], filingId })).rejects.toMatchObject({
      reason: 'unknown_events',
      eventIds: [unknown],
    });
  await expect(startReplay(harness, id, { eventIds: [b], filingId: 'a' })).rejects.toMatchObject({
    eventIds: [b],
  });
  expect((await harness.state(id)).replaying).toBe(0);
  expect((await startReplay(harness, id, { eventIds: [a], filingId: 'a' })).matched).toBe(1);
});

test('a search by id forgets what it has read of a log that was set back', async () => {
  await using harness = await createHarness(redis);
  const { findEvents } = harness.stores;
  const filings = (letter: string) => Array.from({ length: 300 }, (_, i) => `${letter}${i}`);
  await harness.append('first');
  const [first = ''] = await idsOf(harness);
  const setBack = await harness.stored.remember();
  await harness.append(...filings('a'));
  const former = await idsOf(harness);
  const find = (id: string) => findEvents(harness.account, [id], null);
  expect((await find(former[100] ?? '')).entries.size).toBe(1);
  const again = await find(former[100] ?? '');
  expect([again.entries.size, again.read]).toEqual([1, 45]);
  await setBack();
  await harness.append(...filings('b'));
  expect((await find(former[100] ?? '')).entries.size).toBe(0);
  expect((await find((await idsOf(harness))[100] ?? '')).entries.size).toBe(1);
  expect((await find(first)).entries.get(first)?.filingId).toBe('first');
});

test('a replay passes over events whose bodies are lost, however large these were', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const id = await harness.subscribe(receiver.url);
  // Two of them are more than is read at once.
  for (const filing of ['a', 'b', 'c', 'd']) {
    const event = eventOf(harness.account, filing, 1);
    const body = event.body.padEnd(600_000);
    await appendEvent(harness.redis, harness.keys, { ...event, body }, Date.now());
  }
  await harness.drain(id);
  const eventIds = await idsOf(harness);
  await harness.stored.dropBodies(1, 2, 3);
  const [ofAll, byIds] = [await startReplay(harness, id), await startReplay(harness, id, { eventIds })];
  harness.startWorker();
  await vi.waitFor(async () => expect((await harness.state(id)).replaying).toBe(0));
  for (const replay of [ofAll, byIds])
    expect(await harness.replayer.progress(harness.account, id, replay.id)).toMatchObject({
      state: 'finished',
      delivered: 1,
    });
  expect(receiver.accepted.slice(4).map(({ filingId }) => filingId)).toEqual(['d', 'd']);
});
