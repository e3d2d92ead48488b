import { afterAll, beforeAll, expect, test } from 'vitest';
import { toExpiredLetter } from '../../../src/delivery/store/delivery-records.ts';
import { ReplayRefusedError } from '../../../src/delivery/replay/replay.ts';
import type { Sent } from '../../../src/callbacks/send-callback.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createApiFixture, hookUrl, type ApiFixture } from '../../support/api/api-fixture.ts';

const redis = testRedis();
let api: ApiFixture;
let account: string;
let id: string;
let one: string;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  account = await api.createAccount('one');
  id = String((await api.ok('POST', `${account}/subscriptions`, { url: hookUrl }))['id']);
  one = `${account}/subscriptions/${id}`;
  await settleSome();
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

/** Three attempts and one dead letter, as a drain writes them. */
async function settleSome(): Promise<void> {
  const stored = api.stored.of('one').of(id);
  const event = { eventId: 'evt_1', eventType: 'filing.paid', filingId: 'f_1' };
  for (const attempt of [1, 2, 3]) {
    const failed = attempt === 2;
    const written = {
      ...event,
      filingId: attempt === 3 ? '' : 'f_1',
      attempt,
      outcome: 'http_error',
      statusCode: failed ? null : 500,
      durationMs: 10 * attempt,
      response: failed ? null : '<img onerror=alert(1)>',
      at: attempt * 1000,
    };
    // One after the other: their order is the list's.
    await stored.addAttempts([written]);
  }
  const deadLetter = { ...event, position: 1, attempts: 3, lastOutcome: 'http_error', events: 1, at: 3000 };
  await stored.addDeadLetter(deadLetter);
}

test('attempts are listed newest first, page by page', async () => {
  const first = await api.ok('GET', `${one}/attempts?limit=2`);
  const second = await api.ok('GET', `${one}/attempts?limit=2&cursor=${String(first['nextCursor'])}`);
  const items = [...(first['items'] as object[]), ...(second['items'] as object[])];
  expect(items).toEqual([
    expect.objectContaining({
      attempt: 3,
      filingId: null,
      statusCode: 500,
      durationMs: 30,
      at: '1970-01-01T00:00:03.000Z',
    }),
    expect.objectContaining({ attempt: 2, filingId: 'f_1', statusCode: null, response: null }),
    expect.objectContaining({
      attempt: 1,
      eventId: 'evt_1',
      outcome: 'http_error',
      response: '<img onerror=alert(1)>',
    }),
  ]);
  expect(second['nextCursor']).toBeNull();
});

test('dead letters are listed', async () => {
  expect(await api.ok('GET', `${one}/dead-letters`)).toEqual({
    items: [
      {
        eventId: 'evt_1',
        eventType: 'filing.paid',
        filingId: 'f_1',
        attempts: 3,
        lastOutcome: 'http_error',
        events: 1,
        at: '1970-01-01T00:00:03.000Z',
      },
    ],
    nextCursor: null,
  });
});

test('a dead letter of events that retention took says so, and how many there were', async () => {
  const other = String((await api.ok('POST', `${account}/subscriptions`, { url: hookUrl }))['id']);
  const letter = toExpiredLetter({ position: 100, filingId: '', attempts: 0 }, 100, 3000);
  await api.stored.of('one').of(other).addDeadLetter(letter);
  const { items } = await api.ok('GET', `${account}/subscriptions/${other}/dead-letters`);
  expect(items).toEqual([
    {
      eventId: '',
      eventType: '',
      filingId: null,
      attempts: 0,
      lastOutcome: 'expired',
      events: 100,
      at: '1970-01-01T00:00:03.000Z',
    },
  ]);
});

test('a cursor of another list is refused', async () => {
  const { nextCursor } = await api.ok('GET', `${one}/attempts?limit=1`);
  const answer = await api.call('GET', `${one}/dead-letters?cursor=${String(nextCursor)}`);
  expect([answer.status, answer.body['code']]).toEqual([422, 'invalid_cursor']);
});

test('a cursor with one character changed is refused', async () => {
  const cursor = String((await api.ok('GET', `${one}/attempts?limit=1`))['nextCursor']);
  const altered = cursor
    .split('')
    .map((character, i) => cursor.slice(0, i) + (character === 'A' ? 'B' : 'A') + cursor.slice(i + 1));
  const answers = await Promise.all(altered.map((text) => api.call('GET', `${one}/attempts?cursor=${text}`)));
  expect(answers.map(({ body }) => body['code'])).toEqual(altered.map(() => 'invalid_cursor'));
});

test('a test call answers the classified outcome', async () => {
  expect(await api.ok('POST', `${one}/test`)).toEqual({
    outcome: 'http_error',
    reason: 'The receiver answered 500.',
    statusCode: 500,
    durationMs: 12,
    response: 'no',
  });
  expect(api.calls.at(-1)).toEqual(['ping', id]);
});

test('a second test of a subscription waits for the first', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<Sent>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const slow = await createApiFixture(redis.connect(), redis.prefix, {
    hooks: {
      ...api.deps.hooks,
      ping() {
        begin();
        return answered;
      },
    },
  });
  const first = slow.call('POST', `${one}/test`);
  await begun;
  const second = await slow.call('POST', `${one}/test`);
  expect([second.status, second.body['code'], second.headers['retry-after']]).toEqual([
    429,
    'test_running',
    '1',
  ]);
  answer({
    outcome: { kind: 'delivered', code: 'delivered' },
    statusCode: 204,
    durationMs: 1,
    response: '',
    request: null,
    responseHeaders: null,
    traceparent: null,
  });
  expect((await first).body).toEqual({
    outcome: 'delivered',
    reason: null,
    statusCode: 204,
    durationMs: 1,
    response: '',
  });
  expect((await slow.call('POST', `${one}/test`)).status).toBe(200);
  await slow.app.close();
});

test('a replay passes its conditions on and answers where its progress is', async () => {
  const answer = await api.call('POST', `${one}/replay`, {
    after: '2026-11-21T10:00:00+01:00',
    before: '2026-11-21T10:00:00Z',
    eventTypes: ['filing.rejected'],
    filingId: 'f_1',
    deadLettersOnly: true,
  });
  expect([answer.status, answer.body]).toEqual([202, { id: `rpl_1.${id}`, matched: 3 }]);
  expect(api.calls.at(-1)).toEqual([
    'replay',
    'one',
    id,
    {
      after: Date.UTC(2026, 10, 21, 9),
      before: Date.UTC(2026, 10, 21, 10),
      eventTypes: ['filing.rejected'],
      filingId: 'f_1',
      deadLettersOnly: true,
    },
  ]);
  const progress = {
    id: `rpl_1.${id}`,
    state: 'running',
    matched: 3,
    delivered: 1,
    failed: 0,
    createdAt: '2026-11-21T00:00:00.000Z',
    conditions: {
      after: null,
      before: null,
      eventTypes: null,
      filingId: null,
      deadLettersOnly: false,
      eventIds: null,
      fromState: false,
    },
  };
  expect(await api.ok('GET', String(answer.headers['location']))).toEqual(progress);
  expect(await api.ok('GET', `${account}/replays/rpl_1.${id}`)).toEqual(progress);
  expect(await api.ok('GET', `${one}/replays`)).toEqual({ items: [progress], nextCursor: null });
});

test('a replay up to the start of 1970 shows that condition', async () => {
  const [running] = await api.deps.replayer.list('one', id);
  if (running === undefined) throw new Error('The fixture has no replay');
  const ofEpoch = { ...running, request: { ...running.request, after: -1_000, before: 0 } };
  const shown = await createApiFixture(redis.connect(), redis.prefix, {
    replayer: { ...api.deps.replayer, progress: async () => ofEpoch },
  });
  expect(await shown.ok('GET', `${one}/replays/rpl_1.${id}`)).toMatchObject({
    conditions: { after: '1969-12-31T23:59:59.000Z', before: '1970-01-01T00:00:00.000Z' },
  });
  await shown.app.close();
});

test('an event that is not of the filing in filingId is refused as such', async () => {
  const refusing = await createApiFixture(redis.connect(), redis.prefix, {
    replayer: {
      ...api.deps.replayer,
      start: () => Promise.reject(new ReplayRefusedError('unknown_events', ['evt_1'])),
    },
  });
  const messages = [];
  for (const filing of [{}, { filingId: 'f_1' }]) {
    const { body } = await refusing.call('POST', `${one}/replay`, { eventIds: ['evt_1'], ...filing });
    messages.push(body['detail']);
  }
  expect(messages).toEqual([
    'eventIds.0 evt_1 is no event in the log of this account.',
    'eventIds.0 evt_1 is no event of the filing in filingId.',
  ]);
  await refusing.app.close();
});

test('a dry run counts and starts nothing', async () => {
  const started = api.calls.length;
  const answer = await api.call('POST', `${one}/replay?dryRun=true`, { filingId: 'f_1' });
  expect([answer.status, answer.body]).toEqual([200, { matched: 3 }]);
  expect(api.calls).toHaveLength(started);
  expect((await api.call('POST', `${one}/replay?dryrun=true`, {})).status).toBe(422);
});

test('a replay is cancelled below its account and below its subscription', async () => {
  for (const path of [`${account}/replays`, `${one}/replays`]) {
    expect((await api.call('DELETE', `${path}/rpl_1.${id}`)).status).toBe(204);
    expect(api.calls.at(-1)).toEqual(['replayCancel', 'one', id, 'rpl_1']);
    expect((await api.call('DELETE', `${path}/rpl_2.${id}`)).body['code']).toBe('replay_not_found');
  }
});

test('a replay without conditions leaves every side open', async () => {
  await api.ok('POST', `${one}/replay`);
  const open = { after: null, before: null, eventTypes: null, filingId: null, deadLettersOnly: false };
  expect(api.calls.at(-1)).toEqual(['replay', 'one', id, open]);
});

test.each([
  ['too_many', 429, 'too_many_replays'],
  ['no_subscription', 404, 'subscription_not_found'],
] as const)('a replay that is refused (%s) answers %i', async (reason, status, code) => {
  const refusing = await createApiFixture(redis.connect(), redis.prefix, {
    replayer: { ...api.deps.replayer, start: () => Promise.reject(new ReplayRefusedError(reason)) },
  });
  const answer = await refusing.call('POST', `${one}/replay`);
  expect([answer.status, answer.body['code']]).toEqual([status, code]);
  await refusing.app.close();
});

test.each([`rpl_2`, `rpl_1`, `rpl_1.sub_other`, 'nonsense'])('there is no replay %s', async (replay) => {
  const name = replay === 'rpl_2' ? `rpl_2.${id}` : replay;
  const answers = [
    await api.call('GET', `${one}/replays/${name}`),
    await api.call('GET', `${account}/replays/${name}`),
  ];
  expect(answers.map(({ status, body }) => [status, body['code']])).toEqual([
    [404, 'replay_not_found'],
    [404, 'replay_not_found'],
  ]);
});
