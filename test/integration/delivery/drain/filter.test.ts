import { afterAll, describe, expect, test } from 'vitest';
import { undecidedCount } from '../../../../src/subscriptions/content-filter/selection.ts';
import { eventWith } from '../../../support/filter-expressions.ts';
import { appendEvent } from '../../../support/redis/append-script.ts';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, startReplay, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const filter = 'filing.premium > 10000';

/** Appends an event for each of these premiums, each of a filing of its own. */
async function appendPremiums(harness: Harness, premiums: readonly unknown[]): Promise<string[]> {
  const ids: string[] = [];
  for (const premium of premiums) {
    const filing = premium === undefined ? {} : { premium, filingState: { stateAbbr: 'TX' } };
    const event = eventWith(filing);
    const filingId = `f${ids.length}`;
    const id = `evt_${filingId}`;
    await appendEvent(harness.redis, harness.keys, { ...event, id, filingId }, Date.now());
    ids.push(id);
  }
  return ids;
}

const premiums = [5, 20_000, '30000.50', undefined, 9_999, 'much'];

describe('a subscription with a filter', () => {
  test('gets what passes and what cannot be decided, and the rest is done without a callback', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, { filter, payload: 'thin' });
    await using other = await startReceiver();
    const plain = await harness.subscribe(other.url);
    await appendPremiums(harness, premiums);
    await harness.drain(id);
    const heard = receiver.accepted.map((each) => each.id).toSorted();
    expect(heard).toEqual(['evt_f1', 'evt_f2', 'evt_f3', 'evt_f5']);
    const state = await harness.state(id);
    expect(state).toMatchObject({ cursor: premiums.length, done: '' });
    expect(undecidedCount(state.undecided, filter)).toBe(2);
    expect(undecidedCount(state.undecided, 'filing.premium > 1')).toBe(0);
    await appendPremiums(harness, [undefined]);
    await harness.drain(id);
    expect(undecidedCount((await harness.state(id)).undecided, filter)).toBe(3);
    // A subscription without a filter has no such field.
    expect(await harness.stored.of(plain).state()).not.toHaveProperty('undecided');
  });

  test('counts what passes in its lag and in replays, which send no more', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, { filter });
    const ids = await appendPremiums(harness, premiums);
    const lagOf = async () => {
      const record = await harness.subscriptions.get(harness.account, id);
      if (record === null) throw new Error('gone');
      return harness.stores.lags(harness.account, [
        { filter: record.subscription, delivery: record.delivery },
      ]);
    };
    expect(await lagOf()).toEqual([4]);
    await harness.drain(id);
    expect(await lagOf()).toEqual([0]);
    const everything = {
      after: null,
      before: null,
      eventTypes: null,
      filingId: null,
      deadLettersOnly: false,
    };
    const count = (request: object) =>
      harness.replayer.count(harness.account, id, { ...everything, ...request });
    expect(await count({})).toBe(4);
    expect(await count({ filingId: 'f0' })).toBe(0);
    expect(await count({ filingId: 'f1' })).toBe(1);
    expect(await count({ eventIds: ids })).toBe(4);
    await harness.change(id, { filter: 'filing.premium > 25000' });
    expect(await count({})).toBe(3);
    expect((await startReplay(harness, id)).matched).toBe(3);
    await harness.drain(id);
    const again = receiver.accepted
      .slice(4)
      .map((each) => each.id)
      .toSorted();
    expect(again).toEqual(['evt_f2', 'evt_f3', 'evt_f5']);
  });

  test('gets what waits for a retry only if the filter of that time lets it pass', async () => {
    let isDown = true;
    await using receiver = await startReceiver(() => (isDown ? { status: 500 } : { status: 200 }));
    await using harness = await createHarness(redis, { retryMs: [1, 1, 1, 1] });
    const id = await harness.subscribe(receiver.url, { filter });
    await appendPremiums(harness, [20_000]);
    await harness.drain(id);
    isDown = false;
    await harness.change(id, { filter: 'filing.premium < 10' }, { release: true });
    await harness.drain(id);
    expect(receiver.accepted).toEqual([]);
    expect(await harness.state(id)).toMatchObject({ parked: 0 });
  });

  test('gets an event without its filing, unless the filter says what to do with it', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const filters = [filter, 'data.omitted == "too_large"', 'has(data.filing) && filing.premium > 10000'];
    const ids = await Promise.all(filters.map((each) => harness.subscribe(receiver.url, { filter: each })));
    const { body, ...event } = eventWith({ premium: 20_000, notes: 'n'.repeat(500) }, 'filing.rejected', 100);
    expect(JSON.parse(body)).toMatchObject({ data: { omitted: 'too_large' } });
    expect(body).not.toContain('premium');
    await appendEvent(harness.redis, harness.keys, { ...event, body }, Date.now());
    for (const id of ids) await harness.drain(id);
    const heard = new Set(harness.reports.map(({ subscription }) => subscription.id));
    expect(ids.map((id) => heard.has(id))).toEqual([true, true, false]);
    const states = await Promise.all(ids.map((id) => harness.state(id)));
    expect(states.map(({ undecided }, i) => undecidedCount(undecided, filters[i] ?? ''))).toEqual([1, 0, 0]);
  });

  test('whose stored filter has a macro, which this version refuses, gets everything and says so', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, { filter: 'filing.userFiles.all(f, has(f.name))' });
    await appendPremiums(harness, [1, 2]);
    await harness.drain(id);
    expect(receiver.accepted).toHaveLength(2);
    expect((await harness.state(id)).undecided).toMatch(/^2 /);
  });
});
