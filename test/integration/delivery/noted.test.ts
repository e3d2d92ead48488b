import { afterAll, expect, test } from 'vitest';
import { linkAnswer } from '../../../src/filings/link-answer.ts';
import { noteFilings } from '../../../src/filings/note-filings.ts';
import { startReceiver, type Receiver } from '../../support/receivers/receiver.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness, type Harness } from './drain-harness.ts';
import { createFilings } from './snapshot/filing-states.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

interface Body {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const bodiesOf = ({ accepted }: Receiver) => accepted.map(({ raw }) => JSON.parse(raw) as Body);
const note = ({ stores, account }: Harness, id: string, text: string) =>
  noteFilings({ ...stores, now: Date.now }, account, [id], { kind: 'note', by: 'Dana', text });

test('what is noted goes to those who name it or ask for everything, in the order of the filing', async () => {
  await using named = await startReceiver();
  await using plain = await startReceiver();
  await using every = await startReceiver();
  await using harness = await createHarness(redis);
  const filings = createFilings(harness);
  const ids = [
    await harness.subscribe(named.url, { eventTypes: ['filing.rejected', 'filing.noted'] }),
    await harness.subscribe(plain.url, { eventTypes: ['filing.*'] }),
    await harness.subscribe(every.url, { eventTypes: ['*'] }),
  ];
  await filings.change('REJECTED', ['f']);
  await note(harness, 'f', 'asked');
  await filings.change('PENDING', ['f']);
  for (const id of ids) await harness.drain(id);
  const typesOf = (receiver: Receiver) =>
    bodiesOf(receiver).map(({ type, data }) => [type, data['sequence']]);
  expect(typesOf(named)).toEqual([
    ['filing.rejected', 1],
    ['filing.noted', 2],
  ]);
  expect(typesOf(plain)).toEqual([
    ['filing.rejected', 1],
    ['filing.pending', 3],
  ]);
  expect(typesOf(every)).toEqual([
    ['filing.rejected', 1],
    ['filing.noted', 2],
    ['filing.pending', 3],
  ]);
  expect(bodiesOf(named)[1]?.data).toMatchObject({
    note: { by: 'Dana', kind: 'note', text: 'asked', assignee: null },
    details: { policyNumber: 'SL-1' },
  });
});

test('a snapshot has the filing although something was noted of it, or answers it, since', async () => {
  await using receiver = await startReceiver();
  await using harness = await createHarness(redis);
  const { stores, account } = harness;
  await createFilings(harness).baseline('PENDING', ['answer']);
  await createFilings(harness).change('REJECTED', ['f']);
  await note(harness, 'f', 'asked');
  await note(harness, 'f', 'asked again');
  expect(await linkAnswer({ ...stores, now: Date.now }, account, 'f', 'answer')).toBe('linked');
  const id = await harness.subscribe(receiver.url, { statuses: ['REJECTED'] }, 'state');
  await harness.drain(id);
  expect(bodiesOf(receiver)).toMatchObject([
    { type: 'filing.snapshot', data: { sequence: 4, status: 'REJECTED', filing: { id: 'f', premium: 7 } } },
  ]);
});
