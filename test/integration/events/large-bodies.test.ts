import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEventLog } from '../../../src/events/event-log.ts';
import { createLagReader } from '../../../src/subscriptions/lag.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { appendEvent, paidEvent } from '../../support/redis/append-script.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness, startReplay } from '../delivery/drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
const client = redis.connect();
const harness = await createHarness(redis, { redis: client, maxInFlight: 2 });
afterAll(() => harness[Symbol.asyncDispose]());
const { account, keys, log } = harness;
const outline = createEventLog(client, createKeys(redis.prefix)).outlineAfter;
const bodyBytes = 1_000_000;
const events = 12;

beforeAll(async () => {
  for (let i = 1; i <= events; i += 1) {
    const event = {
      ...paidEvent('f'),
      id: `evt_${i}`,
      body: JSON.stringify({ notes: 'x'.repeat(bodyBytes) }),
    };
    await appendEvent(client, keys, event, i);
  }
});

/** Bytes that Redis sends this client while it works. */
async function bytesOf(work: () => Promise<unknown>): Promise<number> {
  const before = client.stream.bytesRead;
  await work();
  return client.stream.bytesRead - before;
}

it('keeps bodies out of what scripts and scans look at', async () => {
  expect(await harness.stored.logMemory()).toBeLessThan(64 * 1024);
  const positions = Array.from({ length: events }, (_, i) => i + 1);
  const id = await harness.subscribe('http://127.0.0.1:9/', {}, 'now');
  const delivery = { ...(await harness.state(id)), cursor: 0 };
  const filter = { eventTypes: ['filing.*'], states: null };
  const looks: Record<string, () => Promise<unknown>> = {
    outlineAfter: () => log.outlineAfter(account, 0, 100),
    outlineBefore: () => log.outlineBefore(account, events + 1, 100),
    outlineAt: () => log.outlineAt(account, positions),
    positionsOf: () => log.positionsOf(account, 'f'),
    trim: () => log.trim(account, 0),
    lags: () => createLagReader({ log, outline })(account, [{ filter, delivery }]),
    'replay of a range': () => startReplay(harness, id),
    'replay of a filing': () => startReplay(harness, id, { filingId: 'f' }),
  };
  for (const [name, look] of Object.entries(looks)) expect([name, await bytesOf(look)]).toSatisfy(isSmall);
});

const isSmall = ([, bytes]: [string, number]) => bytes < 64 * 1024;

it('looks for dead letters to be replayed without their bodies', async () => {
  const id = await harness.subscribe('http://127.0.0.1:9/', {}, 'now');
  const letter = {
    eventType: 'filing.paid',
    filingId: 'f',
    attempts: 1,
    lastOutcome: 'http_error',
    events: 1,
    at: 1,
  };
  for (let i = 1; i <= events; i += 1)
    await harness.stored.of(id).addDeadLetter({ ...letter, eventId: `evt_${i}`, position: i });
  let matched = 0;
  const bytes = await bytesOf(async () => {
    ({ matched } = await startReplay(harness, id, { deadLettersOnly: true }));
  });
  expect(matched).toBe(events);
  expect(bytes).toBeLessThan(64 * 1024);
});

it('begins a delivery with no more than a quarter of a megabyte of bodies, and reads one at least', async () => {
  const { deliveries } = harness.stores;
  await harness.subscribe('http://127.0.0.1:9/', {}, 'earliest');
  const opened = await deliveries.open(account);
  if (opened === null) throw new Error('there are no subscriptions');
  const beginning = { position: 0, timeline: '' };
  const read = await deliveries.read(account, opened.fence, beginning, '', 100);
  if (typeof read === 'string') throw new Error(read);
  expect([read.stretch.entries.length, read.stretch.more]).toEqual([1, true]);
  const { entries, more } = await log.readAfter(account, { position: 0, timeline: '' }, 100);
  expect([entries.length, more]).toEqual([1, true]);
  const at = await log.readAt(account, [3, 4, 5]);
  expect([at.entries.map(({ position }) => position), at.more]).toEqual([[3], true]);
});

it('delivers and replays them all, those of one filing in their order', async () => {
  await using receiver = await startReceiver();
  const id = await harness.subscribe(receiver.url, {}, 'earliest');
  await harness.drain(id);
  await startReplay(harness, id, { filingId: 'f' });
  await harness.drain(id);
  const ids = Array.from({ length: events }, (_, i) => `evt_${i + 1}`);
  expect(receiver.received.map((callback) => callback.id)).toEqual([...ids, ...ids]);
});
