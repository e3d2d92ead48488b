import { CloudEvent, HTTP } from 'cloudevents';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { formatBody } from '../../../src/callbacks/body-formats.ts';
import { toMessage, type EventBody } from '../../../src/callbacks/messages/message.ts';
import { toSlackMessage } from '../../../src/callbacks/messages/slack.ts';
import { toTeamsMessage } from '../../../src/callbacks/messages/teams.ts';
import { buildFilingEvent } from '../../../src/events/event.ts';
import { expectNone } from '../../support/expect-none.ts';

const source =
  '{"type":"filing.rejected","timestamp":"2026-11-21T10:00:03.120Z","data":{"account":"a/b","filingId":"f_1","status":"REJECTED",' +
  '"previousStatus":"PENDING","changed":["status"],"rejectionReason":"Not <signed> & \\"late\\"\\nsee page 2","completedAt":null,"sequence":4,' +
  '"filing":{"id":"f_1","insuredsName":"Ö & Söhne <Ltd>","policyNumber":"P-1","premium":1200.10,"big":12345678901234567890}}}';
const entry = { id: 'evt_1', filingId: 'f_1', body: Buffer.from(source) };
const subscription = { account: 'a/b', format: 'standard', payload: 'full' } as const;

const textOf = (bytes: Buffer) => bytes.toString();

describe('the standard format', () => {
  it('is the very bytes of the log', () => {
    expect(formatBody(subscription, entry)).toEqual({ contentType: 'application/json', bytes: entry.body });
    expect(formatBody(subscription, entry).bytes).toBe(entry.body);
  });

  it('thin is the same without the filing, numbers kept as they were written', () => {
    const { contentType, bytes } = formatBody({ ...subscription, payload: 'thin' }, entry);
    expect(contentType).toBe('application/json');
    expect(textOf(bytes)).toBe(source.replace(/,"filing":\{.*\}\}\}$/, '}}'));
  });
});

describe('the format cloudevents', () => {
  it('is a structured event of CloudEvents 1.0', () => {
    const { contentType, bytes } = formatBody({ ...subscription, format: 'cloudevents' }, entry);
    expect(contentType).toBe('application/cloudevents+json');
    expect(textOf(bytes)).toContain('"premium":1200.10,"big":12345678901234567890');
    const { data, ...attributes } = JSON.parse(textOf(bytes)) as { data: { sequence: number } };
    expect(data.sequence).toBe(4);
    expect(attributes).toEqual({
      specversion: '1.0',
      id: 'evt_1',
      source: '/accounts/a%2Fb',
      type: 'filing.rejected',
      subject: 'f_1',
      time: '2026-11-21T10:00:03.120Z',
      datacontenttype: 'application/json',
    });
    // Attribute names are lower-case letters and digits, the mandatory ones are not empty (CloudEvents 1.0.2,
    // §3).
    expectNone(Object.keys(attributes), (name) => !/^[a-z0-9]{1,20}$/.test(name), 'attributes');
    expect(Object.values(attributes).every((value) => typeof value === 'string' && value !== '')).toBe(true);
  });

  it('has no empty subject, and no filing when it is thin', () => {
    const bytes = Buffer.from(
      '{"type":"account.stale","timestamp":"2026-11-21T10:00:03.120Z","data":{"a":2,"filing":1}}',
    );
    const out = formatBody(
      { ...subscription, format: 'cloudevents', payload: 'thin' },
      { id: 'e', filingId: '', body: bytes },
    );
    const event = JSON.parse(textOf(out.bytes)) as Record<string, unknown>;
    expect(event).not.toHaveProperty('subject');
    expect(event['data']).toEqual({ a: 2 });
  });
});

describe('an event whose filing was too large', () => {
  const body = Buffer.from(source.replace(/"filing":\{.*\}\}\}$/, () => '"omitted":"too_large"}}'));
  const formatted = (settings: Partial<Parameters<typeof formatBody>[0]>) =>
    JSON.parse(textOf(formatBody({ ...subscription, ...settings }, { ...entry, body }).bytes)) as {
      data: Record<string, unknown>;
      text: string;
    };

  it.each(['full', 'thin'] as const)(
    'says so in every format that has its data, with the payload %s',
    (payload) => {
      for (const format of ['standard', 'cloudevents'] as const) {
        const { data } = formatted({ format, payload });
        expect(data).toMatchObject({ status: 'REJECTED', sequence: 4, omitted: 'too_large' });
        expect(data).not.toHaveProperty('filing');
      }
    },
  );

  it('is known by its id in a message', () => {
    expect(formatted({ format: 'slack' }).text.split('\n')[0]).toBe('*Rejected:* filing f_1');
  });
});

it('every format gives the same bytes on every attempt, days later too', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  for (const format of ['standard', 'cloudevents', 'slack'] as const)
    for (const payload of ['full', 'thin'] as const) {
      const asked = { ...subscription, format, payload };
      vi.setSystemTime('2026-11-21T10:00:04Z');
      const first = formatBody(asked, entry).bytes.toString();
      vi.setSystemTime('2026-11-24T10:00:04Z');
      expect(formatBody({ ...asked }, { ...entry }).bytes.toString()).toBe(first);
    }
});

// JSON as somebody else may write it: numbers that doubles cannot hold, keys that mean something to
// JavaScript, lone surrogates.
const text = fc.string({ unit: 'binary' }).filter((value) => !/^\d+$/.test(value));
const oddNumber = fc.constantFrom('1.10', '12345678901234567890', '1e400', '-0', '0.1e-7');
const oddKey = fc.constantFrom('__proto__', 'constructor', 'toJSON', 'data', 'filing', 'id');
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('null', 'true', '0', '""'),
    oddNumber,
    text.map((value) => JSON.stringify(value)),
    fc.array(tie('json')).map((values) => `[${values.join(',')}]`),
    fc.array(fc.tuple(fc.oneof(text, oddKey), tie('json'))).map((pairs) => {
      const fields = [...new Map(pairs)].map(([key, value]) => `${JSON.stringify(key)}:${value}`);
      return `{${fields.join(',')}}`;
    }),
  ),
}));

it('no filing, whatever is in it, is changed by a format, breaks it, or shows in a thin body', () => {
  fc.assert(
    fc.property(json, text, (filing, id) => {
      const start = '{"type":"filing.paid","timestamp":"2026-11-21T10:00:03.120Z","data":';
      const data = `{"account":"a","filingId":${JSON.stringify(id)}`;
      const body = Buffer.from(`${start}${data},"filing":${filing}}}`);
      const format = (settings: Partial<Parameters<typeof formatBody>[0]>) =>
        textOf(formatBody({ ...subscription, ...settings }, { id: 'evt_1', filingId: id, body }).bytes);
      const event = format({ format: 'cloudevents' });
      expect(event.endsWith(`"data":${data},"filing":${filing}}}`)).toBe(true);
      const headers = { 'content-type': 'application/cloudevents+json' };
      expect(HTTP.toEvent({ headers, body: event })).toBeInstanceOf(CloudEvent);
      expect(format({ payload: 'thin' })).toBe(`${start}${data}}}`);
      expect(Object.keys(JSON.parse(format({ format: 'slack' })) as object)).toEqual(['text', 'blocks']);
      expect(Object.keys(JSON.parse(format({ format: 'teams' })) as object)).toEqual(['type', 'attachments']);
    }),
  );
});

describe('a body whose filing is cut out without being parsed', () => {
  const tricky = fc.oneof(
    fc.constantFrom(',"filing":', '"data":{', String.raw`\",\"filing\":`, '\\', '}}', '"', 'Ö'),
    fc.string(),
  );
  const document = fc.dictionary(
    fc.oneof(
      fc.constantFrom('filing', 'data', 'policyNumber', 'insuredsName', 'filingState', 'premium'),
      tricky,
    ),
    fc.oneof(tricky, fc.jsonValue({ maxDepth: 3 })),
  );
  const events = fc.tuple(tricky, tricky, fc.option(document)).map(([account, reason, filing]) => {
    const side = { status: 'REJECTED', completedAt: null, rejectionReason: reason, removed: false };
    return buildFilingEvent({
      account,
      generation: 'g',
      filingId: 'f_1',
      type: 'filing.rejected',
      sequence: 1,
      before: null,
      after: side,
      changed: ['status', 'filing'],
      inferred: false,
      notBefore: 1,
      notAfter: 2,
      document: filing,
    });
  });

  it('has the members that it had, in every format', () => {
    fc.assert(
      fc.property(events, ({ id, filingId, body: written }) => {
        const logged = { id, filingId, body: Buffer.from(written) };
        const whole = JSON.parse(written) as EventBody;
        const { filing: _, ...data } = whole.data;
        const read = (settings: object) =>
          JSON.parse(textOf(formatBody({ ...subscription, ...settings }, logged).bytes)) as EventBody;
        expect(read({ payload: 'thin' })).toEqual({ ...whole, data });
        expect(read({ format: 'cloudevents' }).data).toEqual(whole.data);
        expect(read({ format: 'cloudevents', payload: 'thin' }).data).toEqual(data);
        expect(read({ format: 'slack' })).toEqual(
          JSON.parse(JSON.stringify(toSlackMessage(toMessage(whole)))),
        );
        expect(read({ format: 'teams', payload: 'thin' })).toEqual(
          JSON.parse(JSON.stringify(toTeamsMessage(toMessage({ ...whole, data })))),
        );
      }),
      { numRuns: 500 },
    );
  });
});
