import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import type { EventDelivery } from '../../../../src/delivery/attempts/event-deliveries.ts';
import { eventWith } from '../../../support/filter-expressions.ts';
import { appendEvent } from '../../../support/redis/append-script.ts';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, startReplay, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const hourMs = 3_600_000;
/** What has not changed since tells by itself that an event was delivered. */
const longAgo = { createdAt: Date.now() - hourMs, updatedAt: Date.now() - hourMs };

/** What has become of the event at a position for a subscription. */
async function deliveryOf(harness: Harness, id: string, position: number): Promise<EventDelivery> {
  const record = await harness.subscriptions.get(harness.account, id);
  const [event] = await harness.log.outlineAt(harness.account, [position]);
  if (record === null || event == null) throw new Error('no such subscription or event');
  return harness.stores.readDelivery(harness.account, record, event);
}

const drop = (harness: Harness, id: string) => harness.stored.of(id).dropAttempts();

test('an event is delivered, with its time as long as the attempt is kept', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const id = await harness.subscribe(receiver.url, longAgo);
  await harness.append('a', 'b');
  expect(await deliveryOf(harness, id, 1)).toMatchObject({ state: 'waiting', attempts: 0 });
  await harness.drain(id);
  const [report] = harness.reports;
  expect(await deliveryOf(harness, id, 1)).toMatchObject({
    state: 'delivered',
    attempts: 1,
    lastOutcome: 'delivered',
    deliveredAt: report?.attempt.at,
    nextAttemptAt: null,
    lastAttempt: { statusCode: 200 },
  });
  await drop(harness, id);
  expect(await deliveryOf(harness, id, 1)).toMatchObject({
    state: 'delivered',
    attempts: null,
    deliveredAt: null,
  });
});

test('an event that is tried again waits, with its last attempt and its next', async () => {
  await using receiver = await startReceiver(({ filingId }) => (filingId === 'bad' ? 422 : 200));
  await using harness = await createHarness(redis, { retryMs: [hourMs] });
  const id = await harness.subscribe(receiver.url);
  await harness.append('bad', 'bad', 'good');
  await harness.drain(id);
  const { nextAttemptAt } = await harness.state(id);
  expect(await deliveryOf(harness, id, 1)).toMatchObject({
    state: 'waiting',
    attempts: 1,
    lastOutcome: 'http_error',
    lastAttempt: { statusCode: 422 },
    nextAttemptAt,
  });
  // The filing's next event waits behind it.
  expect(await deliveryOf(harness, id, 2)).toMatchObject({
    state: 'waiting',
    attempts: 0,
    lastAttempt: null,
    nextAttemptAt: null,
  });
  await drop(harness, id);
  expect(await deliveryOf(harness, id, 1)).toMatchObject({
    state: 'waiting',
    attempts: 1,
    lastOutcome: null,
  });
  await harness.change(id, {}, { enabled: false });
  expect(await deliveryOf(harness, id, 1)).toMatchObject({ state: 'waiting', nextAttemptAt: null });
});

test('an event that was given up is so until a replay delivers it', async () => {
  await using receiver = await startReceiver(({ filingId }) => (filingId === 'bad' ? 422 : 200));
  await using harness = await createHarness(redis, { retryMs: [1] });
  const id = await harness.subscribe(receiver.url);
  await harness.append('bad', 'good');
  await expect
    .poll(async () => {
      await harness.drain(id);
      return (await harness.journal.list(harness.account, id, 'dead', null, 1)).items.length;
    })
    .toBe(1);
  const givenUp = { state: 'given_up', attempts: 2, lastOutcome: 'http_error', deliveredAt: null };
  expect(await deliveryOf(harness, id, 1)).toMatchObject({ ...givenUp, lastAttempt: { attempt: 2 } });
  await drop(harness, id);
  expect(await deliveryOf(harness, id, 1)).toMatchObject({ ...givenUp, lastAttempt: null });
  receiver.answer(200);
  await startReplay(harness, id, { deadLettersOnly: true });
  await harness.drain(id);
  expect(await deliveryOf(harness, id, 1)).toMatchObject({ state: 'delivered', attempts: 1 });
});

test('an event is not selected by another type, nor by a subscription that began after it', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const other = await harness.subscribe(receiver.url, { eventTypes: ['filing.rejected'] });
  await harness.append('a');
  expect(await deliveryOf(harness, other, 1)).toMatchObject({ state: 'not_selected', attempts: 0 });
  await harness.drain(other);
  expect(await deliveryOf(harness, other, 1)).toMatchObject({ state: 'not_selected', attempts: 0 });
  const late = await harness.subscribe(receiver.url, { createdAt: Date.now() + 1 });
  expect(await deliveryOf(harness, late, 1)).toMatchObject({ state: 'not_selected' });
  const early = await harness.subscribe(receiver.url, { createdAt: Date.now() + 1 }, 'earliest');
  expect(await deliveryOf(harness, early, 1)).toMatchObject({ state: 'waiting' });
  await harness.drain(early);
  expect(await deliveryOf(harness, early, 1)).toMatchObject({ state: 'delivered' });
  // A PATCH with `from: "earliest"` starts a replay of what the subscription has passed.
  await harness.change(late, { from: 'earliest' });
  await startReplay(harness, late);
  expect(await deliveryOf(harness, late, 1)).toMatchObject({ state: 'waiting' });
  await harness.drain(late);
  expect(await deliveryOf(harness, late, 1)).toMatchObject({ state: 'delivered', attempts: 1 });
});

test('an event recorded while a subscription was being made is not selected where it came first', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const createdAt = Date.now();
  await harness.append('a');
  const id = await harness.subscribe(receiver.url, { createdAt, updatedAt: createdAt });
  await harness.append('b');
  await harness.drain(id);
  expect(receiver.received).toHaveLength(1);
  expect(await deliveryOf(harness, id, 1)).toMatchObject({ state: 'not_selected', attempts: 0 });
  expect(await deliveryOf(harness, id, 2)).toMatchObject({ state: 'delivered', attempts: 1 });
});

test('an event that was not asked for in its time is not delivered, whatever is asked for now', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const unasked = { eventTypes: ['filing.rejected'] };
  const asked = { eventTypes: ['filing.pending'] };
  const id = await harness.subscribe(receiver.url, unasked);
  await harness.append('a');
  await harness.drain(id);
  await harness.change(id, { ...asked, updatedAt: Date.now() + 1 });
  expect(await deliveryOf(harness, id, 1)).toMatchObject({ state: 'not_selected', attempts: 0 });
  await harness.append('b');
  await harness.drain(id);
  await harness.change(id, { ...unasked, updatedAt: Date.now() + 1 });
  expect(await deliveryOf(harness, id, 1)).toMatchObject({ state: 'not_selected', attempts: 0 });
  expect(await deliveryOf(harness, id, 2)).toMatchObject({ state: 'delivered', attempts: 1 });
  await harness.change(id, { ...asked, updatedAt: Date.now() + 1 });
  await startReplay(harness, id, { after: 0 });
  await harness.drain(id);
  expect(await deliveryOf(harness, id, 1)).toMatchObject({ state: 'delivered', attempts: 1 });
});

test('an event of which attempts are kept no longer was delivered, whatever is asked for now', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis, { retentionMs: 1 });
  const id = await harness.subscribe(receiver.url);
  await harness.append('a');
  await delay(5);
  await harness.drain(id);
  await drop(harness, id);
  await harness.change(id, { description: 'another', updatedAt: Date.now() + 1 });
  expect(await deliveryOf(harness, id, 1)).toMatchObject({ state: 'delivered', attempts: null });
});

test('an event whose retry was dropped, because it is no longer asked for, is not delivered', async () => {
  await using receiver = await startReceiver(500);
  await using harness = await createHarness(redis, { retryMs: [hourMs] });
  const id = await harness.subscribe(receiver.url);
  await harness.append('a');
  await harness.drain(id);
  expect(await deliveryOf(harness, id, 1)).toMatchObject({ state: 'waiting', attempts: 1 });
  await harness.change(id, { eventTypes: ['filing.rejected'], updatedAt: Date.now() + 1 });
  const dropped = { state: 'not_selected', attempts: 1, lastOutcome: 'http_error', deliveredAt: null };
  expect(await deliveryOf(harness, id, 1)).toMatchObject({ ...dropped, nextAttemptAt: null });
  await harness.change(id, {}, { release: true });
  await expect
    .poll(async () => {
      await harness.drain(id);
      return (await harness.state(id)).parked;
    })
    .toBe(0);
  expect(receiver.received).toHaveLength(1);
  expect(await deliveryOf(harness, id, 1)).toMatchObject(dropped);
});

test('an event that the filter holds back is not selected, before and after its turn', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const filter = 'filing.premium > 10000';
  const id = await harness.subscribe(receiver.url, { ...longAgo, filter });
  const premiums = [5, 20_000, undefined];
  for (const [i, premium] of premiums.entries()) {
    const event = { ...eventWith({ premium }), id: `evt_${i}`, filingId: `f${i}` };
    await appendEvent(harness.redis, harness.keys, event, Date.now());
  }
  const wordsOf = () =>
    Promise.all(premiums.map(async (_, i) => (await deliveryOf(harness, id, i + 1)).state));
  expect(await wordsOf()).toEqual(['not_selected', 'waiting', 'waiting']);
  await harness.drain(id);
  expect(await wordsOf()).toEqual(['not_selected', 'delivered', 'delivered']);
  await drop(harness, id);
  expect(await wordsOf()).toEqual(['not_selected', 'delivered', 'delivered']);
});
