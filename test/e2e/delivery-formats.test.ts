import { CloudEvent, HTTP } from 'cloudevents';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { startReceiver, type Callback } from '../support/receivers/receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { startStage, type DeliveryStage } from '../support/daemon/delivery-stage.ts';

const redis = testRedis();
const slow = { timeout: 20_000, interval: 50 };
const formats = ['standard', 'cloudevents', 'slack', 'teams'] as const;
type HttpFormat = (typeof formats)[number];
const payloads = ['full', 'thin'] as const;
const settings = formats.flatMap((format) => payloads.map((payload) => ({ format, payload })));
let stage: DeliveryStage;

beforeAll(async () => {
  stage = await startStage(redis, 1);
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await redis.cleanup();
});

interface Told {
  readonly type: string;
  readonly data: object;
}

/**
 * The type and data of a verified callback, by the rules of its format; a message for people begins with its
 * headline.
 */
const read: Readonly<Record<HttpFormat, (callback: Callback) => Told>> = {
  standard: ({ raw }) => JSON.parse(raw) as Told,
  cloudevents({ raw, headers, id }) {
    const event = HTTP.toEvent<object>({ headers, body: raw });
    if (!(event instanceof CloudEvent) || !event.validate() || event.id !== id) throw new Error(raw);
    return { type: event.type, data: event.data ?? {} };
  },
  slack({ raw }) {
    const { text } = JSON.parse(raw) as { text: string };
    return { type: typeOf(/^\*(.+?):\*/.exec(text)?.[1]), data: {} };
  },
  teams({ raw }) {
    const { attachments } = JSON.parse(raw) as { attachments: { content: { fallbackText: string } }[] };
    return { type: typeOf(/^(.+?): /.exec(attachments[0]?.content.fallbackText ?? '')?.[1]), data: {} };
  },
};

// The types of the events here by the headlines of messages.
const headlines: Readonly<Record<string, string>> = {
  Unpaid: 'filing.unpaid',
  Paid: 'filing.paid',
  Pending: 'filing.pending',
  'Paid (new filing)': 'filing.created',
  'Test: messages arrive': 'ping',
  Test: 'ping',
};

function typeOf(headline = ''): string {
  return headlines[headline] ?? headline;
}

const isMessage = (format: HttpFormat) => format === 'slack' || format === 'teams';

test.each(settings)(
  'events and test calls arrive as $format, $payload, verified and with the headers asked for',
  async ({ format, payload }) => {
    await using receiver = await startReceiver();
    const headers = { 'x-team': 'filings', authorization: 'Bearer of-the-receiver' };
    const path = await stage.subscribe(receiver.url, { format, payload, headers });
    await stage.move();
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(1), slow);
    const tested = await stage.daemon.api.ok('POST', `${path}/test`);
    expect(tested).toMatchObject({ outcome: 'delivered', reason: null, statusCode: 200, response: 'noted' });
    const [event, ping] = receiver.accepted.map(read[format]);
    expect([event?.type, ping?.type]).toEqual([
      expect.stringMatching(/^filing\.(unpaid|paid|pending)$/),
      'ping',
    ]);
    expect(event?.data).toMatchObject(isMessage(format) ? {} : { account: 'default', filingId: 'f0' });
    const hasFiling = !isMessage(format) && payload === 'full';
    expect('filing' in (event?.data ?? {})).toBe(hasFiling);
    const contentType = format === 'cloudevents' ? 'application/cloudevents+json' : 'application/json';
    for (const callback of receiver.accepted)
      expect(callback.headers).toMatchObject({ ...headers, 'content-type': contentType });
    expect(receiver.refused).toEqual([]);
    await stage.daemon.api.ok('DELETE', path);
  },
);

test('after a change of its format and beginning, the log arrives in the new format, under the same ids', async () => {
  await using receiver = await startReceiver();
  const path = await stage.subscribe(receiver.url);
  await stage.move();
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(1), slow);
  const log = await stage.all<{ id: string }>('/v1/accounts/default/events');
  await stage.daemon.api.ok('PATCH', path, { format: 'cloudevents', payload: 'thin', from: 'earliest' });
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(1 + log.length), slow);
  const again = receiver.accepted.slice(1);
  expect(again.map(({ id }) => id)).toEqual(log.map(({ id }) => id));
  for (const callback of again) expect(read.cloudevents(callback).data).not.toHaveProperty('filing');
});

test('an event of a filing of 300 KB arrives without it in every format, and the daemon warns once', async () => {
  const receivers = await Promise.all(settings.map(() => startReceiver()));
  onTestFinished(async () => {
    for (const receiver of receivers) await receiver[Symbol.asyncDispose]();
  });
  const states = ['OK'];
  for (const [i, one] of settings.entries())
    await stage.subscribe(receivers[i]?.url ?? '', { ...one, states, eventTypes: ['filing.created'] });
  const filing = { filingState: { stateAbbr: 'OK' }, userNotes: 'x'.repeat(300_000) };
  await stage.sandbox.set('f_large', { status: 'PAID', ...filing });
  for (const [i, { format }] of settings.entries()) {
    const receiver = receivers[i];
    await vi.waitFor(() => expect(receiver?.accepted).toHaveLength(1), slow);
    const [callback] = receiver?.accepted ?? [];
    if (callback === undefined) throw new Error('there is one');
    expect(callback.raw.length).toBeLessThan(2_000);
    const { type, data } = read[format](callback);
    const told = { filingId: 'f_large', status: 'PAID', omitted: 'too_large' };
    expect({ type, data }).toMatchObject({ type: 'filing.created', data: isMessage(format) ? {} : told });
    expect(data).not.toHaveProperty('filing');
    expect(callback.raw).toContain('f_large');
  }
  const [id = ''] = new Set(receivers.map(({ accepted }) => accepted[0]?.id));
  const warnings = stage.daemon.logs.filter(({ msg }) => msg === 'poll.too_large');
  const bytes = expect.toSatisfy((size: number) => size > 300_000 && size < 302_000) as number;
  expect(warnings).toMatchObject([
    { level: 40, account: 'default', filing: 'f_large', event: id, bytes, max: 262_144 },
  ]);
  const metrics = await (await fetch(`${stage.daemon.url}/metrics`)).text();
  expect(metrics).toMatch(/^filing_webhooks_filings_too_large_total 1$/m);
});

test('a test call tells what is wrong, and changes nothing but the list of attempts', async () => {
  await using receiver = await startReceiver(410);
  const path = await stage.subscribe(receiver.url, { eventTypes: ['account.*'] });
  const { outcome, statusCode } = await stage.daemon.api.ok<{ outcome: string; statusCode: number }>(
    'POST',
    `${path}/test`,
  );
  expect([outcome, statusCode]).toEqual(['gone', 410]);
  expect(await stage.show(path)).toMatchObject({ state: 'active', consecutiveFailures: 0 });
  expect(await stage.all(`${path}/attempts`)).toMatchObject([{ eventType: 'ping', outcome: 'gone' }]);
});
