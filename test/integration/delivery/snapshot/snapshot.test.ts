import { afterAll, describe, expect, test, vi } from 'vitest';
import { undecidedCount } from '../../../../src/subscriptions/content-filter/selection.ts';
import {
  createLatch,
  startReceiver,
  type Callback,
  type Receiver,
} from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness } from '../drain-harness.ts';
import { createFilings } from './filing-states.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const many = (count: number, name = 'f') => Array.from({ length: count }, (_, i) => `${name}${i}`);
interface Body {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const bodyOf = ({ raw }: Pick<Callback, 'raw'>) => JSON.parse(raw) as Body;
const typesOf = ({ accepted }: Receiver) => accepted.map((each) => `${bodyOf(each).type} ${each.filingId}`);

describe('a subscription that begins with what is', () => {
  test('gets each filing once as it is, with what is kept of it, and then changes', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const filings = createFilings(harness);
    await filings.baseline('COMPLETED', ['done']);
    await filings.baseline('REJECTED', ['bad']);
    await filings.baseline('', ['gone']);
    await filings.change('PAID', ['moved']);
    const id = await harness.subscribe(receiver.url, {}, 'state');
    expect(await harness.state(id)).toMatchObject({ replaying: 1, snapshots: 3, cursor: 1 });
    await harness.drain(id);
    expect(typesOf(receiver).toSorted()).toEqual([
      'filing.snapshot bad',
      'filing.snapshot done',
      'filing.snapshot moved',
    ]);
    const [bad, done, moved] = ['bad', 'done', 'moved'].map(
      (filing) => receiver.accepted.filter(({ filingId }) => filingId === filing).map(bodyOf)[0]?.data,
    );
    const untouched = {
      previousStatus: null,
      changed: [],
      inferred: false,
      sequence: 0,
      omitted: 'not_kept',
    };
    expect(bad).toMatchObject({ ...untouched, status: 'REJECTED', details: { policyNumber: 'SL-1' } });
    expect(done).toMatchObject({ ...untouched, status: 'COMPLETED', details: null });
    expect(done).not.toHaveProperty('filing');
    expect(moved).toMatchObject({ sequence: 1, status: 'PAID', filing: { id: 'moved', premium: 7 } });
    expect(moved).not.toHaveProperty('omitted');
    await filings.change('REJECTED', ['moved']);
    await harness.drain(id);
    expect(typesOf(receiver).slice(3)).toEqual(['filing.rejected moved']);
    expect(await harness.state(id)).toMatchObject({ replaying: 0, snapshots: 0, cursor: 2 });
    const listed = await harness.replayer.list(harness.account, id);
    expect(listed).toMatchObject([{ source: 'filings', state: 'finished', delivered: 3 }]);
    expect((await harness.log.head(harness.account)).position).toBe(2);
  });

  test('gets only what it asks for', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const filings = createFilings(harness);
    await filings.baseline('COMPLETED', many(300));
    await filings.baseline('REJECTED', ['bad']);
    await filings.baseline('PAID', ['paid']);
    const rejections = await harness.subscribe(receiver.url, { statuses: ['REJECTED'] }, 'state');
    const elsewhere = await harness.subscribe(receiver.url, { states: ['CA'], statuses: ['PAID'] }, 'state');
    await harness.drain(rejections);
    await harness.drain(elsewhere);
    expect(typesOf(receiver)).toEqual(['filing.snapshot bad']);
    expect(await harness.state(rejections)).toMatchObject({ replaying: 0, snapshots: 0 });
  });

  test('gets what its filter lets pass, and filings of which too little is kept to decide', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const filings = createFilings(harness);
    await filings.baseline('COMPLETED', ['unread']);
    await filings.change('PAID', ['known']);
    const filters = ['filing.premium > 5', 'filing.premium > 10', 'has(data.filing) && filing.premium > 5'];
    const heard: string[][] = [];
    for (const filter of filters) {
      const id = await harness.subscribe(receiver.url, { filter }, 'state');
      const before = receiver.accepted.length;
      await harness.drain(id);
      heard.push(typesOf(receiver).slice(before).toSorted());
      const state = await harness.state(id);
      expect(state).toMatchObject({ replaying: 0, snapshots: 0, parked: 0 });
      // Only events of the log count.
      expect(undecidedCount(state.undecided, filter)).toBe(0);
    }
    const [unread, known] = ['filing.snapshot unread', 'filing.snapshot known'];
    expect(heard).toEqual([[known, unread], [unread], [known]]);
  });

  test('may get it again, under the same ids where nothing changed', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const filings = createFilings(harness);
    await filings.baseline('PAID', ['a', 'b']);
    const id = await harness.subscribe(receiver.url, {}, 'state');
    await harness.drain(id);
    await filings.change('REJECTED', ['b']);
    await harness.drain(id);
    const former = new Map(receiver.accepted.slice(0, 2).map((callback) => [callback.filingId, callback.id]));
    const replay = await harness.startSnapshot(id);
    expect(await harness.startSnapshot(id), 'an unfinished one goes on').toBe(replay);
    await harness.drain(id);
    const again = new Map(receiver.accepted.slice(3).map((callback) => [callback.filingId, callback]));
    expect(again.size).toBe(2);
    expect(again.get('a')?.id).toBe(former.get('a'));
    expect(again.get('b')?.id).not.toBe(former.get('b'));
    expect([...again.values()].map(bodyOf).find(({ data }) => data['filingId'] === 'b')?.data).toMatchObject({
      status: 'REJECTED',
      sequence: 1,
    });
  });

  test('never gets an older state after a newer one, and hears of each filing, while they change', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { retryMs: [5, 10, 20, 40] });
    const filings = createFilings(harness);
    const ids = many(600);
    await filings.baseline('UNPAID', ids);
    // Some filings fail for a while, each by itself.
    const calls = new Map<string, number>();
    receiver.answer(({ filingId }) => {
      const call = (calls.get(filingId) ?? 0) + 1;
      calls.set(filingId, call);
      return Number(filingId.slice(1)) % 9 === 0 && call < 4 ? 500 : 204;
    });
    const id = await harness.subscribe(receiver.url, {}, 'state');
    const over = new AbortController();
    const changing = filings.keepChanging(id, ids, over.signal);
    harness.startWorker();
    await harness.queue.wake(harness.account);
    await vi.waitFor(
      async () => expect(await harness.state(id)).toMatchObject({ snapshots: 0, replaying: 0 }),
      {
        timeout: 20_000,
      },
    );
    over.abort();
    await changing;
    await harness.queue.wake(harness.account);
    const head = (await harness.log.head(harness.account)).position;
    await vi.waitFor(async () => expect(await harness.state(id)).toMatchObject({ cursor: head, parked: 0 }), {
      timeout: 20_000,
    });
    const newest = new Map<string, number>();
    for (const { filingId, sequence } of receiver.accepted) {
      expect(sequence).toBeGreaterThanOrEqual(newest.get(filingId) ?? 0);
      newest.set(filingId, sequence);
    }
    const last = new Map(
      receiver.accepted.map((each) => [
        each.filingId,
        `${each.sequence} ${String(bodyOf(each).data['status'])}`,
      ]),
    );
    expect(last).toEqual(await filings.truth(ids));
    const snapshots = receiver.accepted.filter((each) => bodyOf(each).type === 'filing.snapshot');
    expect(new Set(snapshots.map(({ filingId }) => filingId)).size).toBe(600);
    expect(snapshots).toHaveLength(600);
    expect(harness.errors).toEqual([]);
  });

  test('waits for an event of the filing that is tried again, and is then as new', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { retryMs: [60_000] });
    const filings = createFilings(harness);
    await filings.baseline('UNPAID', ['a', 'b']);
    const id = await harness.subscribe(receiver.url, {}, 'state');
    receiver.answer((each) => (bodyOf(each).type === 'filing.paid' ? 500 : 204));
    await filings.change('PAID', ['a']);
    const { wakeAt } = await harness.drain(id);
    // The next drain is due with the retry, not at once.
    expect(wakeAt).toBeGreaterThan(Date.now() + 10_000);
    expect(typesOf(receiver)).toEqual(['filing.snapshot b']);
    expect(await harness.state(id)).toMatchObject({ replaying: 1, snapshots: 1, parked: 1 });
    receiver.answer(204);
    await harness.change(id, {}, { release: true });
    await harness.drain(id);
    await harness.drain(id);
    expect(typesOf(receiver).slice(1)).toEqual(['filing.paid a', 'filing.snapshot a']);
    expect(await harness.state(id)).toMatchObject({ replaying: 0, snapshots: 0 });
  });

  test('goes on behind a callback that hangs, and resumes where it was', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const filings = createFilings(harness);
    await filings.baseline('PAID', many(900));
    const id = await harness.subscribe(receiver.url, {}, 'state');
    receiver.answer(async ({ filingId }) => {
      if (filingId === 'f0') await latch.opened;
      return 204;
    });
    const over = new AbortController();
    const draining = harness.drain(id, over.signal);
    await vi.waitFor(() => expect(receiver.accepted.length).toBeGreaterThan(500), 10_000);
    over.abort();
    latch.open();
    await draining;
    const first = receiver.accepted.length;
    expect(first).toBeLessThan(900);
    expect((await harness.state(id)).snapshots).toBe(900 - first);
    await harness.drain(id);
    expect(receiver.accepted).toHaveLength(900);
    expect(new Set(receiver.accepted.map(({ filingId }) => filingId)).size).toBe(900);
  });
});
