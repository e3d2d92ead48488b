import { afterAll, expect, test } from 'vitest';
import { startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, startReplay, type Harness } from '../drain-harness.ts';
import { createFilings } from '../snapshot/filing-states.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const hourMs = 3_600_000;
/** What has not changed since tells by itself that an event was delivered. */
const longAgo = { createdAt: Date.now() - hourMs, updatedAt: Date.now() - hourMs };

/** The descriptions of those who were told of a filing, with a mark where the time is known; null if lost. */
async function toldOf({ account, stores }: Harness, id: string): Promise<string[] | null> {
  const filing = await stores.filings.get(account, id);
  if (filing === null) throw new Error(`no filing ${id}`);
  const told = await (await stores.openTold(account, null))([filing]);
  return (
    told.get(id)?.map(({ description, at }) => `${description}${at === null ? '' : ` ${typeof at}`}`) ?? null
  );
}

test('those were told that acknowledged the present rejection, and when', async () => {
  await using good = await startReceiver();
  await using bad = await startReceiver(503);
  await using harness = await createHarness(redis, { retryMs: [hourMs] });
  const filings = createFilings(harness);
  await harness.subscribe(good.url, { description: 'claims', ...longAgo });
  await harness.subscribe(bad.url, { description: 'broken', ...longAgo });
  await harness.subscribe(good.url, { description: 'completed', statuses: ['COMPLETED'], ...longAgo });
  await filings.change('PENDING', ['f']);
  await harness.drain();
  await filings.change('REJECTED', ['f']);
  expect(await toldOf(harness, 'f')).toEqual([]);
  await harness.drain();
  expect(await toldOf(harness, 'f')).toEqual(['claims number']);
  const [told] =
    (
      await (
        await harness.stores.openTold(harness.account, null)
      )([(await harness.stores.filings.get(harness.account, 'f'))!])
    ).get('f') ?? [];
  const report = harness.reports.find(({ attempt }) => attempt.eventType === 'filing.rejected');
  expect(told?.at).toBe(report?.attempt.at);
});

test('a rejection that was told of counts for its own stay only', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const filings = createFilings(harness);
  const id = await harness.subscribe(receiver.url, { description: 'claims', ...longAgo });
  await filings.change('REJECTED', ['f']);
  await harness.drain();
  await harness.change(id, {}, { enabled: false });
  await filings.change('PENDING', ['f']);
  await filings.change('REJECTED', ['f']);
  expect(await toldOf(harness, 'f')).toEqual([]);
});

test('one who gave the event up was not told, until a replay delivers it', async () => {
  await using receiver = await startReceiver(422);
  await using harness = await createHarness(redis, { retryMs: [1] });
  const filings = createFilings(harness);
  const id = await harness.subscribe(receiver.url, { description: 'claims', ...longAgo });
  await filings.change('REJECTED', ['f']);
  await expect
    .poll(async () => {
      await harness.drain();
      return (await harness.journal.list(harness.account, id, 'dead', null, 1)).items.length;
    })
    .toBe(1);
  expect(await toldOf(harness, 'f')).toEqual([]);
  await harness.stored.of(id).dropAttempts();
  expect(await toldOf(harness, 'f')).toEqual([]);
  receiver.answer(200);
  await startReplay(harness, id, { deadLettersOnly: true });
  await harness.drain();
  expect(await toldOf(harness, 'f')).toEqual(['claims number']);
});

test('what was acknowledged stays so when its attempt is no longer kept, and is not known without its event', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const filings = createFilings(harness);
  const id = await harness.subscribe(receiver.url, { description: 'claims', ...longAgo });
  await filings.change('REJECTED', ['f']);
  await harness.drain();
  await harness.stored.of(id).dropAttempts();
  expect(await toldOf(harness, 'f')).toEqual(['claims']);
  // Asked for since: whether it was asked for then is not known.
  await harness.change(id, { updatedAt: Date.now() + 1 });
  expect(await toldOf(harness, 'f')).toEqual([]);
  await harness.log.trim(harness.account, Date.now() + 1);
  expect(await toldOf(harness, 'f')).toBeNull();
});

test('an acknowledgement is found behind thousands of other attempts', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const filings = createFilings(harness);
  const id = await harness.subscribe(receiver.url, { description: 'claims', ...longAgo });
  await filings.change('REJECTED', ['f']);
  await harness.drain();
  const [own] = await harness.stored.of(id).attempts();
  const other = { ...own, eventId: 'evt_other', outcome: 'http_error', response: '"outcome":"delivered"' };
  await harness.stored.of(id).dropAttempts();
  await harness.stored.of(id).addAttempts([...Array.from({ length: 3_000 }, () => other), own ?? {}]);
  expect(await toldOf(harness, 'f')).toEqual(['claims number']);
});

test('where the oldest attempts have made way, times are known of the later ones', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis, { attemptsBytesMax: 200_000 });
  const filings = createFilings(harness);
  await harness.subscribe(receiver.url, { description: 'claims', ...longAgo });
  await filings.change('REJECTED', ['first']);
  await harness.drain();
  for (let i = 0; i < 10; i += 1) {
    await filings.change(
      'PENDING',
      Array.from({ length: 40 }, (_, k) => `f${i}-${k}`),
    );
    await harness.drain();
  }
  await filings.change('REJECTED', ['last']);
  await harness.drain();
  expect(await toldOf(harness, 'first')).toEqual(['claims']);
  expect(await toldOf(harness, 'last')).toEqual(['claims number']);
});

test('of a rejection of the baseline nobody was told, until it is sent to somebody', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const filings = createFilings(harness);
  const completed = { description: 'completed', statuses: ['COMPLETED'] };
  const id = await harness.subscribe(receiver.url, completed);
  await filings.baseline('REJECTED', ['bad', 'other']);
  expect(await toldOf(harness, 'bad')).toEqual([]);
  expect(await harness.replayer.snapshot(harness.account, id, 'bad')).toBe(
    await harness.replayer.snapshot(harness.account, id, 'bad'),
  );
  await harness.drain();
  expect(receiver.accepted.map(({ raw }) => JSON.parse(raw))).toMatchObject([
    { type: 'filing.snapshot', data: { filingId: 'bad', status: 'REJECTED' } },
  ]);
  expect(await toldOf(harness, 'bad')).toEqual(['completed number']);
  expect(await toldOf(harness, 'other')).toEqual([]);
  await harness.stored.of(id).dropAttempts();
  expect(await toldOf(harness, 'bad')).toEqual(['completed']);
});

test('a subscription that began with what is was told of all that it asks for', async () => {
  await using receiver = await startReceiver(({ filingId }) => (filingId === 'worse' ? 422 : 200));
  await using harness = await createHarness(redis, { retryMs: [hourMs] });
  const filings = createFilings(harness);
  await filings.baseline('REJECTED', ['bad', 'worse']);
  await filings.baseline('COMPLETED', ['done']);
  await harness.subscribe(receiver.url, { description: 'claims', statuses: ['REJECTED'] }, 'state');
  await harness.drain();
  expect(await toldOf(harness, 'bad')).toEqual(['claims number']);
  expect(await toldOf(harness, 'worse')).toEqual([]);
});
