import { afterAll, describe, expect, test, vi } from 'vitest';
import type { Lane } from '../../../../src/delivery/schedule/lanes.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { createStoreWatch } from '../../../../src/redis/durability/store-watch.ts';
import { startReceiver, type Receiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../../delivery/drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const hour = 3_600_000;

/** Filings of the log that `writeFormat1` leaves, by position from 1 on. */
const written = ['f1', 'f2', 'f1', 'f2', 'f1', 'f3', 'f2', 'f1'];

interface Stage extends AsyncDisposable {
  readonly harness: Harness;
  readonly receiver: Receiver;
  readonly id: string;
  /** The log's key of then. */
  readonly formerEvents: string;
  /** Starts a process of the present version on it. */
  begin(): Promise<{ problem(): string | null; check(): Promise<void> }>;
}

/**
 * An account with a subscription as version 1 of the format left them: mid-way in its log, with a waiting
 * lane and a replay under way.
 */
async function openStage(): Promise<Stage> {
  const receiver = await startReceiver();
  const harness = await createHarness({
    ...redis,
    prefix: `${redis.prefix}${crypto.randomUUID().slice(0, 8)}`,
  });
  const id = await harness.subscribe(receiver.url);
  const prefix = harness.keys.base.slice(0, harness.keys.base.indexOf(':{'));
  const keys = createKeys(prefix);
  await harness.redis.set(keys.store, `1 ${crypto.randomUUID()}`);
  await harness.redis.hset(keys.accounts, harness.account, '{"v":1}');
  await writeFormat1(harness, id);
  return {
    harness,
    receiver,
    id,
    formerEvents: formerEvents(harness),
    async begin() {
      const watch = createStoreWatch(harness.redis, keys);
      expect(await watch.begin()).toEqual({ fresh: false });
      return watch;
    },
    async [Symbol.asyncDispose]() {
      await harness[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

const formerEvents = ({ keys }: Harness) => `${keys.base}:events`;

async function writeFormat1(harness: Harness, id: string): Promise<void> {
  const { keys } = harness;
  for (const filing of written) await appendAsFormer(harness, filing);
  const own = keys.subscription(id);
  await harness.redis.del(own.state);
  const progress = { cursor: 5, done: '7', parked: 2, replaying: 1 };
  await harness.redis.hset(own.state, { epoch: 12, version: 3, enabled: 1, ...progress });
  const lane: Lane = { positions: [3, 5], spent: 1, tried: 1, dueAt: 0, decidedAt: Date.now() - hour };
  await harness.redis.hset(own.lanes, 'f1', JSON.stringify(lane));
  const request = { after: null, before: null, eventTypes: null, filingId: null, deadLettersOnly: false };
  const replay = { id: 'rep_1', request, createdAt: 0, matched: 2, first: 1, last: 2, positions: null };
  const replayed = { ...lane, positions: [2] };
  const state = { cursor: 2, done: '', lanes: [['f2', replayed]], delivered: 1, failed: 0, finished: false };
  await harness.redis.hset(own.replays, {
    rep_1: JSON.stringify({ ...replay, letters: null }),
    'rep_1:request': JSON.stringify([null, null, null, null, false]),
    'rep_1:state': JSON.stringify(state),
    kept: 'rep_1',
    running: 'rep_1',
  });
}

/** What the former commit-changes.lua did for an event. */
async function appendAsFormer(harness: Harness, filing: string): Promise<void> {
  const { keys } = harness;
  const position = await harness.redis.incr(keys.head);
  const sequence = written.slice(0, position).filter((name) => name === filing).length;
  const body = JSON.stringify({ type: 'filing.paid', data: { filingId: filing, sequence } });
  const recordedAt = Date.now() - (position <= 2 ? 2 * hour : 0);
  const entry = { id: `evt_${position}`, type: 'filing.paid', filing, state: 'TX', at: recordedAt, body };
  const fields = Object.entries(entry).flatMap(([name, value]) => [name, String(value)]);
  await harness.redis.xadd(formerEvents(harness), `${position}-0`, ...fields);
  const earlier = await harness.redis.hget(keys.filingEvents, filing);
  await harness.redis.hset(keys.filingEvents, filing, earlier === null ? position : `${earlier},${position}`);
}

const heardOf = ({ accepted }: Receiver, filing: string) =>
  accepted.filter(({ filingId }) => filingId === filing).map(({ id }) => id);

async function drainAll({ harness, id }: Stage): Promise<void> {
  await vi.waitFor(async () => {
    await harness.drain(id);
    const { position } = await harness.log.head(harness.account);
    expect(await harness.state(id)).toMatchObject({ cursor: position, done: '', parked: 0, replaying: 0 });
  });
}

describe('a store of format 1', () => {
  test('is taken up: what waited, what is new and what is replayed comes in order and once', async () => {
    await using stage = await openStage();
    const { harness, receiver, id } = stage;
    await stage.begin();
    expect(await harness.log.head(harness.account)).toMatchObject({ position: 8 });
    await harness.append('f9');
    await drainAll(stage);
    expect(heardOf(receiver, 'f1')).toEqual(['evt_3', 'evt_5', 'evt_8']);
    expect(heardOf(receiver, 'f2')).toEqual(['evt_2']);
    expect(heardOf(receiver, 'f3')).toEqual(['evt_6']);
    expect(heardOf(receiver, 'f9')).toHaveLength(1);
    expect(receiver.accepted).toHaveLength(6);
    expect(await harness.delivery.deadLetters(harness.account, id, null, 10)).toMatchObject({ items: [] });
    const { log, account } = harness;
    const state = await harness.state(id);
    expect({ position: state.cursor, timeline: state.timeline }).toEqual(await log.head(account));
  });

  test('is listed and trimmed like any other', async () => {
    await using stage = await openStage();
    const { harness } = stage;
    const { log, account } = harness;
    await stage.begin();
    await harness.append('f9');
    const ids = async () => (await log.outlineBefore(account, 100, 100)).map(({ position }) => position);
    expect(await ids()).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
    const [first] = await log.load(account, await log.outlineAfter(account, 0, 1));
    expect(JSON.parse(String(first?.body))).toMatchObject({ data: { filingId: 'f1', sequence: 1 } });
    expect((await log.trim(account, Date.now() - hour)).removed).toBe(2);
    expect(await ids()).toEqual([9, 8, 7, 6, 5, 4, 3]);
    expect(await log.positionsOf(account, 'f1')).toEqual([3, 5, 8]);
    expect((await log.trim(account, Date.now() + hour)).removed).toBe(7);
    expect(await ids()).toEqual([]);
    expect(await log.head(account)).toMatchObject({ position: 9 });
  });

  test('is brought over by each process that starts before one has got through with it', async () => {
    await using stage = await openStage();
    const { harness } = stage;
    const watches = await Promise.all([stage.begin(), stage.begin()]);
    const keys = createKeys(harness.keys.base.slice(0, harness.keys.base.indexOf(':{')));
    const mark = await harness.redis.get(keys.store);
    await harness.append('f9');
    // As one leaves it that ends in the middle of it.
    await harness.redis.set(keys.store, `${mark} upgrading`);
    const later = await stage.begin();
    expect(await harness.redis.get(keys.store)).toBe(mark);
    for (const watch of [...watches, later]) {
      await watch.check();
      expect(watch.problem()).toBeNull();
    }
    await drainAll(stage);
    expect(stage.receiver.accepted).toHaveLength(6);
  });

  test('can be written, read for delivery and claimed by no process of that format any more', async () => {
    await using stage = await openStage();
    const { harness, id, formerEvents: events } = stage;
    const client = harness.redis;
    const emptyAccount = harness.keys.base.replace(harness.account, `${harness.account}-empty`);
    const keys = createKeys(harness.keys.base.slice(0, harness.keys.base.indexOf(':{')));
    await client.hset(keys.accounts, `${harness.account}-empty`, '{"v":1}');
    const former = await client.get(keys.store);
    await stage.begin();
    expect(await client.get(keys.store)).not.toBe(former);
    // Its commits, its reads of the log, its claims, and the comparison before its settles.
    for (const base of [harness.keys.base, emptyAccount])
      await expect(client.incr(`${base}:head`)).rejects.toThrow('not an integer');
    await expect(client.xrange(events, '(5-0', '+')).rejects.toThrow('WRONGTYPE');
    const { state } = harness.keys.subscription(id);
    await expect(client.hincrby(state, 'epoch', 1)).rejects.toThrow('not an integer');
    expect(await client.hget(state, 'epoch')).not.toBe('12');
  });
});
