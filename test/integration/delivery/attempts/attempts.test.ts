import { afterAll, describe, expect, test } from 'vitest';
import type { AttemptFilter, AttemptOf } from '../../../../src/delivery/attempts/attempt-list.ts';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, startReplay, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const all: AttemptFilter = {
  subscription: null,
  eventId: null,
  filingId: null,
  outcome: null,
  after: null,
  before: null,
};

/** Every attempt that passes a filter, page by page, and the number of pages. */
async function listAll(harness: Harness, filter: Partial<AttemptFilter> = {}, limit = 100) {
  const { attempts } = harness.stores;
  const items: AttemptOf[] = [];
  let [next, pages]: [string | null, number] = [null, 0];
  do {
    // Each page begins where the one before ended.
    const page = await attempts.list(harness.account, { ...all, ...filter }, next, limit);
    items.push(...page.items);
    ({ next } = page);
    pages += 1;
  } while (next !== null);
  return { items, pages };
}

const names = (items: readonly AttemptOf[]) => items.map(({ filingId, outcome }) => `${filingId} ${outcome}`);

describe('the attempts of an account', () => {
  test('are those of all its subscriptions, newest first, on every page length', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis);
    const ids = [await harness.subscribe(receiver.url), await harness.subscribe(receiver.url)];
    for (const filing of ['a', 'b', 'c']) {
      await harness.append(filing);
      for (const id of ids) await harness.drain(id);
    }
    const { items } = await listAll(harness);
    expect(names(items)).toEqual(['c', 'c', 'b', 'b', 'a', 'a'].map((filing) => `${filing} delivered`));
    expect(
      items
        .map(({ subscription }) => subscription)
        .slice(0, 2)
        .toSorted(),
    ).toEqual(ids.toSorted());
    for (const limit of [1, 2, 4, 6]) {
      const paged = await listAll(harness, {}, limit);
      expect(paged).toEqual({ items, pages: Math.ceil(6 / limit) });
    }
    const [first = ''] = ids;
    expect(names((await listAll(harness, { subscription: first })).items)).toHaveLength(3);
    await harness.subscriptions.remove(harness.account, first);
    expect((await listAll(harness)).items).toHaveLength(3);
  });

  test('keep why they failed where outcome and status do not say it, and nothing more otherwise', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId === 'bad' ? 422 : 200));
    await using harness = await createHarness(redis, { retryMs: [3_600_000] });
    const id = await harness.subscribe(receiver.url);
    const mute = await harness.subscribe(receiver.url.replace('http:', 'https:'));
    await harness.append('good', 'bad');
    for (const each of [id, mute]) await harness.drain(each);
    const reason = 'The port of the endpoint does not speak TLS.';
    const { items } = await listAll(harness, { subscription: mute });
    expect(items.map((each) => [each.outcome, each.reason])).toEqual([
      ['tls_error', reason],
      ['tls_error', reason],
    ]);
    const stored = await harness.stored.of(id).attempts();
    expect(stored.map((each) => Object.hasOwn(each, 'reason'))).toEqual([false, false]);
  });

  test('are found by event, filing, outcome and time, also far behind others', async () => {
    await using receiver = await startReceiver(({ filingId }) => (filingId === 'bad' ? 422 : 200));
    await using harness = await createHarness(redis, { retryMs: [3_600_000] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('bad', 'good');
    await harness.drain(id);
    const [bad] = (await listAll(harness, { outcome: 'http_error' })).items;
    // More than one step of the search reads, and texts of responses that look like members.
    const filler = { ...bad, filingId: 'x', eventId: 'evt_x', outcome: 'timeout', at: 1 };
    const quoting = { ...bad, filingId: 'y', eventId: 'evt_y', outcome: 'timeout', at: 2 };
    const fillers = Array.from({ length: 1_100 }, () => filler);
    await harness.stored.of(id).addAttempts([...fillers, { ...quoting, response: '"filingId":"bad"' }]);
    for (const filter of [{ eventId: bad?.eventId ?? '' }, { filingId: 'bad' }, { outcome: 'http_error' }])
      expect(names((await listAll(harness, filter)).items)).toEqual(['bad http_error']);
    expect(names((await listAll(harness, { filingId: 'good', outcome: 'http_error' })).items)).toEqual([]);
    const at = bad?.at ?? 0;
    expect((await listAll(harness, { after: at })).items).toHaveLength(2);
    expect((await listAll(harness, { before: at })).items).toHaveLength(1_101);
    expect((await listAll(harness, { before: at, after: 2 })).items).toHaveLength(1);
  });

  test('of one moment are all listed, whichever page they are on', async () => {
    await using harness = await createHarness(redis);
    const ids = await Promise.all([1, 2, 3].map(() => harness.subscribe('http://127.0.0.1:1/')));
    const attempt = { eventId: 'e', eventType: 't', filingId: 'x', attempt: 1, outcome: 'timeout', at: 5 };
    for (const id of ids)
      for (const entry of ['5-1', '5-2']) await harness.stored.of(id).addAttempts([attempt], entry);
    const wanted = ['5-2', '5-1'].flatMap((entry) => ids.toSorted().map((id) => `${entry} ${id}`));
    for (const filter of [{}, { outcome: 'timeout' }])
      for (const limit of [1, 2, 4]) {
        const { items } = await listAll(harness, filter, limit);
        const listed = items.map(({ id, subscription }) => `${id} ${subscription}`);
        expect(listed.toSorted()).toEqual(wanted.toSorted());
      }
    await harness.stored.of('sub_other').spoilAttempts();
    await harness.stored.setSubscription('sub_other', '{}');
    expect((await listAll(harness)).items).toHaveLength(6);
  });

  test('are searched in bounded steps, with a page that continues behind the last one', async () => {
    await using harness = await createHarness(redis);
    const ids = [
      await harness.subscribe('http://127.0.0.1:1/'),
      await harness.subscribe('http://127.0.0.1:1/'),
    ];
    const other = { eventId: 'e', eventType: 't', filingId: 'x', attempt: 1, outcome: 'delivered', at: 1 };
    for (const id of ids) {
      await harness.stored.of(id).addAttempts([{ ...other, outcome: 'timeout' }], '1-1');
      await harness.stored.of(id).addAttempts(Array.from({ length: 10_998 }, () => other));
    }
    const { items, pages } = await listAll(harness, { outcome: 'timeout' });
    expect(items.map(({ subscription, id }) => `${subscription} ${id}`).toSorted()).toEqual(
      ids.map((id) => `${id} 1-1`).toSorted(),
    );
    expect(pages).toBe(2);
  });
});

describe('an attempt in full', () => {
  test('has the request byte for byte as the receiver got it, without secrets', async () => {
    const answer = { status: 200, headers: { 'x-receiver': 'one' }, body: 'taken' };
    await using receiver = await startReceiver(() => answer);
    await using harness = await createHarness(redis);
    for (const settings of [
      {},
      { payload: 'thin' },
      { format: 'cloudevents', headers: { 'x-key': 'secret-1' } },
      { format: 'slack' },
    ] as const) {
      const id = await harness.subscribe(`${receiver.url}?key=1`, settings);
      await harness.append('f');
      await harness.drain(id);
      const [attempt] = (await listAll(harness, { subscription: id })).items;
      const detail = await harness.stores.readAttempt(harness.account, id, attempt?.id ?? '');
      const sent = receiver.received.at(-1);
      expect(detail?.request).toEqual({
        url: `${receiver.url}?key=1`,
        contentType: sent?.headers['content-type'],
        timestamp: sent?.timestamp,
        signature: sent?.headers['webhook-signature'],
        names: 'headers' in settings ? ['x-key'] : [],
        traceparent: null,
        body: sent?.raw,
      });
      expect(JSON.stringify(detail)).not.toContain('secret-1');
      expect(detail?.attempt).toMatchObject({ response: 'taken', outcome: 'delivered' });
      await harness.change(id, {}, { enabled: false });
    }
  });

  test('keeps the headers of a failed response, the first twenty and two kilobytes of them', async () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`x-${i}`, 'v'.repeat(8)]));
    const headers: Record<string, string> = { 'x-long': 'l'.repeat(5_000), ...many };
    await using receiver = await startReceiver(({ attempt }) =>
      attempt === 1 ? { status: 500, headers } : { status: 200, headers },
    );
    await using harness = await createHarness(redis, { retryMs: [1] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('f');
    await harness.drain(id);
    await expect
      .poll(async () => {
        await harness.drain(id);
        return receiver.accepted.length;
      })
      .toBe(1);
    const [delivered, failed] = (await listAll(harness)).items;
    expect(delivered?.headers).toBeUndefined();
    expect(Object.keys(failed?.headers ?? {})).toHaveLength(20);
    expect(failed?.headers?.['x-long']).toBe('l'.repeat(512));
    expect(JSON.stringify(failed?.headers).length).toBeLessThan(2_500);
  });

  test('names those of the same event before and after it, and says why a request is gone', async () => {
    await using receiver = await startReceiver(({ attempt, filingId }) =>
      filingId === 'bad' && attempt < 3 ? 422 : 200,
    );
    await using harness = await createHarness(redis, { retryMs: [1, 1, 1] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('bad', 'good');
    await expect
      .poll(async () => {
        await harness.drain(id);
        return receiver.accepted.length;
      })
      .toBe(2);
    await startReplay(harness, id, { filingId: 'bad' });
    await harness.drain(id);
    const [replayed, third, second, first] = (await listAll(harness, { filingId: 'bad' })).items;
    const read = () => harness.stores.readAttempt(harness.account, id, third?.id ?? '');
    const detail = await read();
    expect(detail?.later.map((each) => each.id)).toEqual([replayed?.id]);
    expect(detail?.earlier.map((each) => each.id)).toEqual([second?.id, first?.id]);
    expect(replayed?.replay).toMatch(/^rpl_/);
    expect(await harness.stores.readAttempt(harness.account, id, '1-1')).toBeNull();
    await harness.log.trim(harness.account, Date.now() + 60_000);
    expect((await read())?.request).toBe('event_trimmed');
    const { request: _, ...bare } = third as AttemptOf;
    await harness.stored.of(id).addAttempts([bare]);
    const [old] = (await listAll(harness, {}, 1)).items;
    expect((await harness.stores.readAttempt(harness.account, id, old?.id ?? ''))?.request).toBe('not_kept');
  });
});
