import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync, type InputType } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPartnerClient, type PartnerClient } from '../../../src/partner/partner-client.ts';
import { createAnswerRoom, type AnswerRooms } from '../../../src/partner/answer-room.ts';
import { PartnerError } from '../../../src/partner/partner-error.ts';
import { createRequestBudget } from '../../../src/partner/request-budget.ts';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
  type Misbehaviour,
} from '../../support/partner/hostile-partner.ts';

let partner: HostilePartner;
let codes: string[];
beforeEach(async () => {
  partner = await startHostilePartner([partnerRow('a', 'PAID'), partnerRow('b')]);
  codes = [];
});
afterEach(() => partner[Symbol.asyncDispose]());

const never = new AbortController().signal;
const firstPage = { offset: 0, limit: 100 };

function connect(
  options: {
    baseUrl?: string;
    key?: string;
    timeoutMs?: number;
    maxRps?: number;
    concurrency?: number;
    retries?: boolean;
    rooms?: AnswerRooms;
  } = {},
): PartnerClient {
  const budget = createRequestBudget({
    maxRps: options.maxRps ?? 1000,
    concurrency: options.concurrency ?? 4,
  });
  return createPartnerClient({
    baseUrl: options.baseUrl ?? partner.baseUrl,
    partnerKey: options.key ?? partner.key,
    timeoutMs: options.timeoutMs ?? 1_000,
    budget: options.retries === true ? budget : { ...budget, pace: () => ({ ...budget.pace(), share: 0 }) },
    clock: { now: Date.now },
    ...(options.rooms === undefined ? {} : { rooms: options.rooms }),
    random: () => 0,
    onRequest: (endpoint, code) => codes.push(`${endpoint} ${code}`),
  });
}

async function failure(work: Promise<unknown>): Promise<PartnerError> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof PartnerError)) throw new Error('expected a PartnerError', { cause: error });
  return error;
}

describe('reading', () => {
  it('gives a page, a filing, a missing filing and the account', async () => {
    const client = connect();
    const { page, span } = await client.listFilings({ ...firstPage, status: 'PAID' }, never);
    expect(page.filings.map(({ id }) => id)).toEqual(['a']);
    expect(span.end).toBeGreaterThanOrEqual(span.start);
    expect((await client.getFiling('b', never)).filing?.status).toBe('UNPAID');
    expect((await client.getFiling('c', never)).filing).toBeNull();
    await client.checkAccount(never);
    expect(codes).toEqual(['filings 200', 'filing 200', 'filing 404', 'me 200']);
    expect(partner.requests.map(({ headers }) => headers['partnerkey'])).toEqual(Array(4).fill(partner.key));
    expect(partner.requests[0]?.headers['accept-encoding']).toBe('identity');
  });

  it.each(['a/b', '?', '#', '%2e%2e', '..%2fme', 'é 𝒳', 'a\\..\\b', '\u0000', '__proto__', 'me/..'])(
    'asks for the id %j and for nothing else',
    async (id) => {
      partner.rows = [partnerRow(id)];
      expect((await connect().getFiling(id, never)).filing?.id).toBe(id);
    },
  );

  it('takes the span of the attempt that was answered, not of one that failed before', async () => {
    const release = Promise.withResolvers<void>();
    partner.misbehave = ({ number }) =>
      number === 1 ? { after: release.promise, destroy: true } : undefined;
    const reading = connect({ retries: true }).listFilings(firstPage, never);
    await expect.poll(() => partner.requests.length).toBe(1);
    await new Promise((done) => setTimeout(done, 50));
    const failedAt = Date.now();
    release.resolve();
    const { span } = await reading;
    expect(span.start).toBeGreaterThanOrEqual(failedAt);
  });
});

describe('what is no answer', () => {
  const html = { headers: { 'content-type': 'text/html' }, body: '<html>down</html>' };
  it.each<[string, Misbehaviour, string]>([
    ['401', { status: 401 }, 'auth'],
    ['403 with HTML', { status: 403, ...html }, 'auth'],
    ['404', { status: 404 }, 'unexpected_status'],
    ['400', { status: 400 }, 'unexpected_status'],
    ['500 with HTML', { status: 500, ...html }, 'unavailable'],
    ['503', { status: 503 }, 'unavailable'],
    ['429', { status: 429 }, 'rate_limited'],
    ['200 with HTML', html, 'invalid_response'],
    ['200 with nothing', { body: '' }, 'invalid_response'],
    ['204', { status: 204, body: '' }, 'invalid_response'],
    ['null', { body: 'null' }, 'invalid_response'],
    ['a list', { body: '[]' }, 'invalid_response'],
    ['cut JSON', { body: '{"items":[{"id":"a","sta' }, 'invalid_response'],
    ['items that are no list', { body: '{"items":{},"total":0}' }, 'invalid_response'],
    ['bytes that are no text', { body: Buffer.from([0xff, 0xfe, 0x00]) }, 'invalid_response'],
    [
      'a gzip bomb',
      { headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(50_000_000)) },
      'invalid_response',
    ],
    ['a connection that breaks within the body', { cutAfter: 30 }, 'network'],
    ['a connection that breaks before the answer', { destroy: true }, 'network'],
    ['a body of one byte now and then', { dripMs: 30 }, 'timeout'],
    ['silence', { after: new Promise(() => undefined) }, 'timeout'],
  ])('%s is a failure of its kind, which names neither key nor body', async (_title, odd, kind) => {
    partner.misbehave = () => odd;
    const error = await failure(connect({ timeoutMs: 300 }).listFilings(firstPage, never));
    expect(error.kind).toBe(kind);
    expect(JSON.stringify([error.message, error.stack, Object.entries(error), error.cause])).not.toContain(
      partner.key,
    );
    expect(error.message).not.toContain('html');
    // Too large a page is asked for with half the limit, down to one.
    expect(codes).toHaveLength(error.excess === null ? 1 : 7);
  });

  it('is a body beyond 2 MiB, which is not read to its end', async () => {
    partner.misbehave = () => ({ floodBytes: 1024 ** 3 });
    const before = process.memoryUsage().rss;
    const error = await failure(connect({ timeoutMs: 10_000 }).listFilings(firstPage, never));
    expect([error.kind, error.message]).toEqual([
      'invalid_response',
      'GET filings with limit=1 answered more than 2097152 bytes: the partner service has to send smaller filings',
    ]);
    expect((await failure(connect({ timeoutMs: 10_000 }).getFiling('a', never))).message).toBe(
      'GET filing answered more than 2097152 bytes: the partner service has to send smaller filings',
    );
    expect(codes).toEqual([...Array(7).fill('filings invalid_response'), 'filing invalid_response']);
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
  });

  it('is another filing than the one asked for, or an account that is none', async () => {
    const client = connect();
    partner.misbehave = () => ({ body: JSON.stringify(partnerRow('x')) });
    expect((await failure(client.getFiling('a', never))).kind).toBe('invalid_response');
    for (const body of ['<html>', 'null', '[]', '7']) {
      partner.misbehave = () => ({ body });
      expect((await failure(client.checkAccount(never))).kind).toBe('invalid_response');
    }
  });

  it.each([
    ['120', 120_000],
    ['1e12', 3_600_000],
    ['soon', null],
    ['-5', null],
    [new Date(Date.now() + 86_400_000).toUTCString(), 3_600_000],
    ['Sat, 21 Nov 1998 10:00:00 GMT', 0],
  ])('hands on Retry-After: %s as %j ms', async (value, expected) => {
    partner.misbehave = () => ({ status: 429, headers: { 'retry-after': value } });
    expect((await failure(connect().listFilings(firstPage, never))).retryAfterMs).toBe(expected);
    partner.misbehave = () => ({ status: 503, headers: { 'retry-after': value } });
    expect((await failure(connect().listFilings(firstPage, never))).retryAfterMs).toBe(expected);
  });
});

describe('an answer that cannot be read', () => {
  const page = (more: object) => ({ items: [partnerRow('a')], total: 1, offset: 0, limit: 100, ...more });
  const row = partnerRow('a', 'PAID', { insuredsName: 'Müller' });
  const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
  const named = async (work: Promise<unknown>) =>
    (await failure(work)).message.replace(/^GET \w+ answered with /, '');

  it.each<[string, (text: string) => Buffer, string]>([
    ['latin-1', (text) => Buffer.from(text, 'latin1'), 'a body that is not UTF-8'],
    [
      'bytes cut within a letter',
      (text) => Buffer.from(text.replace('ü', 'XX')).fill(0xc3, 150, 151),
      'a body that is not UTF-8',
    ],
    [
      'surrogates that were encoded',
      (text) =>
        Buffer.concat([
          Buffer.from(text.slice(0, 60)),
          Buffer.from([0xed, 0xa0, 0x80]),
          Buffer.from(text.slice(60)),
        ]),
      'a body that is not UTF-8',
    ],
    ['UTF-16', (text) => utf16(text), 'a body that is not UTF-8'],
    ['UTF-16 of the other order', (text) => utf16(text).swap16(), 'a body that is not UTF-8'],
    ['UTF-16 without a mark', (text) => Buffer.from(text, 'utf16le'), 'a body that is not UTF-8'],
    ['gzip without a word', (text) => gzipSync(text), 'a body that is not UTF-8'],
  ])('is named by its bytes: %s', async (_title, encode, expected) => {
    const client = connect();
    const large = Array.from({ length: 100 }, (_, i) => ({ ...row, id: `f${i}`, notes: 'x'.repeat(4_000) }));
    for (const items of [[row], large]) {
      partner.misbehave = () => ({ body: encode(JSON.stringify(page({ items }))) });
      expect(await named(client.listFilings(firstPage, never))).toBe(expected);
    }
    partner.misbehave = () => ({ body: encode(JSON.stringify(row)) });
    expect(await named(client.getFiling('a', never))).toBe(expected);
    partner.misbehave = () => ({
      body: encode(
        JSON.stringify({
          firstName: 'Jürgen',
          email: 'a@example.test',
          enabledStates: [],
          lastName: 'x'.repeat(200),
        }),
      ),
    });
    expect(await named(client.checkAccount(never))).toBe(expected);
  });

  it('is none with a byte order mark of UTF-8', async () => {
    const client = connect();
    const large = Array.from({ length: 100 }, (_, i) => ({ ...row, id: `f${i}`, notes: 'x'.repeat(4_000) }));
    for (const items of [[row], large]) {
      partner.misbehave = () => ({ body: `\ufeff${JSON.stringify(page({ items }))}` });
      const { filings } = (await client.listFilings(firstPage, never)).page;
      expect(filings[0]?.document()['insuredsName']).toBe('Müller');
    }
    for (const notes of ['', 'x'.repeat(400_000)]) {
      partner.misbehave = () => ({ body: `\ufeff${JSON.stringify({ ...row, notes })}` });
      expect((await client.getFiling('a', never)).filing?.document()['insuredsName']).toBe('Müller');
    }
    partner.misbehave = () => ({ body: '\ufeff{"email":"a@example.test"}' });
    expect(await client.checkAccount(never)).toHaveLength(43);
  });

  it.each<[unknown, string]>([
    [{}, 'items is required'],
    [page({ items: null }), 'items is required'],
    [page({ items: {} }), 'items must be array'],
    [null, 'items is required'],
    [
      page({ items: Array.from({ length: 10 }, () => ({ id: 7, status: 'PAID' })) }),
      'of its first record id must be string',
    ],
    [
      page({ items: Array.from({ length: 10 }, () => ({ id: 'a', status: null })) }),
      'of its first record status is required',
    ],
  ])('is named by the member that is wrong: page %#', async (body, expected) => {
    partner.misbehave = () => ({ body: JSON.stringify(body) });
    expect(await named(connect().listFilings(firstPage, never))).toBe(
      `JSON of an unexpected shape: ${expected}`,
    );
  });

  it.each<[unknown, string]>([
    [[], 'it must be object'],
    [{}, 'id is required'],
    [{ id: 'a' }, 'status is required'],
    [{ id: 'a', status: 7 }, 'status must be string'],
    [{ id: 'a', status: 'x'.repeat(65) }, 'status must not have more than 64 characters'],
    [{ id: 'a', status: 'PAID', completedAt: {} }, 'completedAt must be string'],
    [{ id: 'a', status: 'PAID', rejectionReason: ['no'] }, 'rejectionReason must be string'],
    [{ id: '..', status: 'PAID' }, 'id or status is no text to ask for'],
    [
      { id: 'a', status: 'PAID', x: JSON.parse('['.repeat(60) + ']'.repeat(60)) as unknown },
      'it is nested too deeply',
    ],
  ])('is named by the member that is wrong: filing %#', async (body, expected) => {
    partner.misbehave = () => ({ body: JSON.stringify(body) });
    expect(await named(connect().getFiling('a', never))).toBe(`JSON of an unexpected shape: ${expected}`);
  });

  it.each<[object, number | null]>([
    [{ total: null }, null],
    [{ total: null, offset: null, limit: null }, null],
    [{ items: null, total: 0 }, 0],
    [{ items: null, total: 0, offset: null, limit: null }, 0],
    [{ items: null, total: 200, offset: 200 }, 200],
  ])('is none where a member is null that need not be there: %j', async (more, total) => {
    partner.misbehave = () => ({ body: JSON.stringify(page(more)) });
    const client = connect();
    expect((await client.listFilings(firstPage, never)).page.total).toBe(total);
    partner.misbehave = () => ({ body: '{"firstName":null,"email":null,"enabledStates":null}' });
    expect(await client.checkAccount(never)).toBeNull();
    const nulls = Object.fromEntries(Object.keys(row).map((name) => [name, null]));
    partner.misbehave = () => ({ body: JSON.stringify({ ...nulls, id: 'a', status: 'PAID' }) });
    expect((await client.getFiling('a', never)).filing).toMatchObject({ completedAt: null, createdAt: null });
  });
});

describe('a 403', () => {
  it.each<[string, Record<string, string>, string]>([
    ['Retry-After in seconds', { 'retry-after': '7' }, 'rate_limited'],
    ['Retry-After as a date', { 'retry-after': new Date(Date.now() + 7_000).toUTCString() }, 'rate_limited'],
    ['a Retry-After that cannot be read', { 'retry-after': 'soon' }, 'rate_limited'],
    ['no requests left', { 'X-RateLimit-Remaining': '0' }, 'rate_limited'],
    ['no requests left, as the draft of the IETF says it', { 'RateLimit-Remaining': '0' }, 'rate_limited'],
    ['requests left', { 'x-ratelimit-remaining': '12' }, 'auth'],
    ['nothing that can be read', { 'x-ratelimit-remaining': 'many' }, 'auth'],
    ['none of this', {}, 'auth'],
  ])('with %s is not always one of the key', async (_title, headers, kind) => {
    partner.misbehave = () => ({ status: 403, headers });
    const client = connect();
    const error = await failure(client.listFilings(firstPage, never));
    expect(error).toMatchObject({ kind, status: 403, message: 'GET filings answered 403' });
    expect(error.retryAfterMs === 7_000).toBe(headers['retry-after'] === '7');
    for (const asked of [
      client.getFiling('a', never),
      client.checkAccount(never),
      client.countFilings(never),
    ])
      expect((await failure(asked)).kind).toBe(kind);
  });

  it('is the only refusal of a key that Retry-After changes', async () => {
    partner.misbehave = () => ({ status: 401, headers: { 'retry-after': '7' } });
    expect((await failure(connect().listFilings(firstPage, never))).kind).toBe('auth');
  });
});

describe('a coding that was not asked for', () => {
  const bodyOf = () => JSON.stringify({ items: partner.rows, total: 2, offset: 0, limit: 100 });
  const coded = (coding: string, body: InputType, more: Misbehaviour = {}) => {
    partner.misbehave = () => ({
      ...more,
      headers: { 'content-encoding': coding },
      body: Buffer.from(body as Buffer),
    });
  };
  const read = async () => (await connect({ timeoutMs: 10_000 }).listFilings(firstPage, never)).page.filings;

  it.each<[string, (text: InputType) => Buffer]>([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['gzip, br', (text) => brotliCompressSync(gzipSync(text))],
    ['deflate,,identity , GZIP', (text) => gzipSync(deflateSync(text))],
    ['identity', (text) => Buffer.from(text as string)],
    // Nobody undoes these, and nobody has applied them.
    ['UTF-8', (text) => Buffer.from(text as string)],
  ])('is undone: %s', async (coding, encode) => {
    coded(coding, encode(bodyOf()));
    expect((await read()).map(({ id }) => id)).toEqual(['a', 'b']);
    coded(coding, encode(JSON.stringify(partner.rows[0])));
    expect((await connect().getFiling('a', never)).filing?.status).toBe('PAID');
    coded(coding, encode('{"email":"a@example.test"}'));
    expect(await connect().checkAccount(never)).toHaveLength(43);
  });

  it('is undone where it comes byte by byte, and where the page is large', async () => {
    coded('gzip', gzipSync('{"items":[],"total":0}'), { dripMs: 0 });
    expect(await read()).toEqual([]);
    partner.rows = Array.from({ length: 100 }, (_, i) =>
      partnerRow(`f${i}`, 'PAID', { notes: 'x'.repeat(5_000) }),
    );
    coded('gzip', gzipSync(bodyOf()));
    expect(await read()).toHaveLength(100);
  });

  it.each<[string, string, () => Buffer, string]>([
    ['a cut gzip', 'gzip', () => gzipSync(bodyOf()).subarray(0, -9), 'a coding that is cut or broken'],
    [
      'a cut deflate',
      'deflate',
      () => deflateSync(bodyOf()).subarray(0, 40),
      'a coding that is cut or broken',
    ],
    ['a cut br', 'br', () => brotliCompressSync(bodyOf()).subarray(0, -1), 'a coding that is cut or broken'],
    [
      'a cut zstd',
      'zstd',
      () => zstdCompressSync(bodyOf()).subarray(0, -1),
      'a coding that is cut or broken',
    ],
    ['a broken gzip', 'gzip', () => gzipSync(bodyOf()).fill(0xff, 20, 30), 'a coding that is cut or broken'],
    ['a br that is none', 'br', () => Buffer.from(`not ${bodyOf()}`), 'a coding that is cut or broken'],
    [
      'a coding of which nothing is known',
      'Compress',
      () => gzipSync(bodyOf()),
      'a body that is not JSON, but encoded as Compress, which was not asked for',
    ],
    [
      'a coding that may be anything',
      'test-partner-key-0123456789',
      () => gzipSync(bodyOf()),
      'a body that is not UTF-8',
    ],
  ])('is named: %s', async (_title, coding, body, expected) => {
    coded(coding, body());
    const error = await failure(connect().listFilings(firstPage, never));
    expect(error).toMatchObject({
      kind: 'invalid_response',
      message: `GET filings answered with ${expected}`,
    });
  });

  it('is a failure of the connection where that breaks', async () => {
    coded('gzip', gzipSync(bodyOf()), { cutAfter: 60 });
    expect((await failure(connect().listFilings(firstPage, never))).kind).toBe('network');
  });

  it('is counted by what comes out of it, and not read any further', async () => {
    const bomb = Buffer.alloc(100_000_000, '0');
    bomb.write('{"items":["');
    const inner = gzipSync(bomb);
    const before = process.memoryUsage().rss;
    for (const [coding, body] of [
      ['gzip', inner],
      ['gzip, gzip', gzipSync(inner)],
    ] as const) {
      coded(coding, body);
      expect(
        await failure(connect({ timeoutMs: 10_000 }).listFilings({ offset: 0, limit: 1 }, never)),
      ).toMatchObject({
        kind: 'invalid_response',
        excess: { of: 'bytes', limit: 1 },
      });
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
  });

  it('changes nothing of an error, whose body is not read', async () => {
    coded('gzip', Buffer.from('no gzip'), { status: 503 });
    expect((await failure(connect().listFilings(firstPage, never))).kind).toBe('unavailable');
  });
});

describe('large answers', () => {
  const mebibyte = 1024 * 1024;
  const row = (id: string, bytes: number) => partnerRow(id, 'PAID', { notes: 'x'.repeat(bytes) });

  it('are asked for with a lower limit until they fit, and with a higher one when there is room', async () => {
    partner.rows = Array.from({ length: 60 }, (_, i) => row(`f_${i}`, i < 40 ? mebibyte / 16 : 10));
    const client = connect({ timeoutMs: 10_000 });
    const read: [number, number][] = [];
    for (let offset = 0; offset < 60;) {
      const { page, release } = await client.listFilings({ offset, limit: 100 }, never);
      release();
      read.push([partner.requests.at(-1)?.limit ?? 0, page.filings.length]);
      offset += page.length;
    }
    expect(read).toEqual([
      [25, 25],
      [25, 25],
      [50, 10],
    ]);
    expect(partner.requests.map(({ limit }) => limit)).toEqual([100, 50, 25, 25, 50]);
  });

  it('are read once more with a lower limit only down to one', async () => {
    partner.rows = [row('huge', 2 * mebibyte)];
    const error = await failure(connect({ timeoutMs: 10_000 }).listFilings(firstPage, never));
    expect(error).toMatchObject({ kind: 'invalid_response', excess: { of: 'bytes', limit: 1 } });
    expect(partner.requests.map(({ limit }) => limit)).toEqual([100, 50, 25, 12, 6, 3, 1]);
  });

  it('wait for room, and their deadline with them; small ones do not wait', async () => {
    partner.rows = [row('large', 1.5 * mebibyte)];
    const rooms = { pages: createAnswerRoom(1), others: createAnswerRoom(1) };
    const client = connect({ timeoutMs: 1_000, rooms });
    const held = await client.listFilings(firstPage, never);
    let isRead = false;
    const waiting = connect({ timeoutMs: 300, rooms })
      .listFilings(firstPage, never)
      .finally(() => (isRead = true));
    await expect.poll(() => partner.requests.length).toBe(2);
    await new Promise((done) => setTimeout(done, 600));
    expect(isRead).toBe(false);
    expect((await client.getFiling('large', never)).filing?.id).toBe('large');
    partner.misbehave = () => ({ body: '{"items":[]}' });
    await client.listFilings(firstPage, never);
    expect(isRead).toBe(false);
    held.release();
    expect((await waiting).page.filings.map(({ id }) => id)).toEqual(['large']);
  });

  it('give their room back when they fail, are stopped or were counted', async () => {
    const rooms = { pages: createAnswerRoom(1), others: createAnswerRoom(1) };
    const client = connect({ timeoutMs: 2_000, rooms });
    partner.rows = [row('large', 1.9 * mebibyte)];
    partner.misbehave = () => ({ cutAfter: 1_500_000 });
    expect((await failure(client.listFilings(firstPage, never))).kind).toBe('network');
    partner.misbehave = () => ({ replace: ['"large"', 'large'] });
    expect((await failure(client.listFilings(firstPage, never))).kind).toBe('invalid_response');
    partner.misbehave = () => ({ floodBytes: 50_000_000 });
    expect((await failure(client.getFiling('large', never))).kind).toBe('invalid_response');
    partner.misbehave = () => undefined;
    expect(await client.countFilings(never)).toBe(1);
    expect((await client.getFiling('large', never)).filing?.id).toBe('large');
    const held = await client.listFilings(firstPage, never);
    const stop = new AbortController();
    const stopped = failure(client.listFilings(firstPage, stop.signal));
    await expect.poll(() => partner.requests.length).toBe(7);
    stop.abort();
    expect((await stopped).kind).toBe('aborted');
    held.release();
    (await client.listFilings(firstPage, never)).release();
  });

  it('with a status that tells of a failure are not read', async () => {
    partner.misbehave = () => ({ status: 500, body: Buffer.alloc(20_000_000, 'x') });
    expect((await failure(connect({ timeoutMs: 10_000 }).listFilings(firstPage, never))).kind).toBe(
      'unavailable',
    );
  });
});

describe('the key', () => {
  it.each([301, 302, 303, 307, 308])('does not follow a %i', async (status) => {
    const visits: string[] = [];
    const canary = createServer((request, response) => {
      visits.push(JSON.stringify(request.headers));
      response.end('{"items":[],"total":0}');
    });
    canary.listen(0, '127.0.0.1');
    await once(canary, 'listening');
    const location = `http://127.0.0.1:${(canary.address() as AddressInfo).port}/v1/partner/filings`;
    partner.misbehave = () => ({ status, headers: { location } });
    const error = await failure(connect().listFilings(firstPage, never));
    canary.close();
    expect(error).toMatchObject({ kind: 'unexpected_status', status });
    expect(visits).toEqual([]);
  });

  it('that no header can carry is not shown in the failure', async () => {
    const error = await failure(connect({ key: 'secret\r\nx: y' }).listFilings(firstPage, never));
    expect(JSON.stringify([error.message, error.stack, Object.entries(error)])).not.toContain('secret');
  });

  it('is refused without a repeat', async () => {
    const error = await failure(connect({ key: 'wrong', retries: true }).listFilings(firstPage, never));
    expect(error.kind).toBe('auth');
    expect(codes).toEqual(['filings 401']);
  });
});

describe('repeats', () => {
  it('what passes quickly, up to two times, each counted', async () => {
    const odd: (Misbehaviour | undefined)[] = [{ status: 500 }, { cutAfter: 10 }, undefined];
    partner.misbehave = ({ number }) => odd[number - 1];
    await connect({ retries: true }).listFilings(firstPage, never);
    expect(codes).toEqual(['filings 500', 'filings network', 'filings 200']);
    partner.misbehave = () => ({ body: '<html>' });
    await failure(connect({ retries: true }).listFilings(firstPage, never));
    expect(codes.slice(3)).toEqual(['filings 200', 'filings 200', 'filings 200']);
  });
});

describe('the budget', () => {
  it('holds for repeats too: as many requests as there were seconds for and so many at once, counted at the service', async () => {
    const client = connect({ maxRps: 8, concurrency: 3, retries: true });
    partner.misbehave = ({ number }) =>
      number % 5 === 0 ? { body: '<html>' } : { after: new Promise((done) => setTimeout(done, 20)) };
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 18 }, () => client.listFilings(firstPage, never)));
    const seconds = (performance.now() - startedAt) / 1000;
    expect(partner.requests.length).toBeGreaterThan(20);
    // The eight of a first moment, and then no more than eight a second, however late they arrive.
    expect(partner.requests.length).toBeLessThanOrEqual(8 + 8 * seconds);
    expect(partner.peaks().atOnce).toBeLessThanOrEqual(3);
  });
});

describe('aborting', () => {
  it('ends requests under way, those that wait, and leaves no listener behind', async () => {
    const stop = new AbortController();
    partner.misbehave = () => ({ after: new Promise(() => undefined) });
    const client = connect({ concurrency: 2, timeoutMs: 10_000 });
    const all = Array.from({ length: 5 }, () => failure(client.listFilings(firstPage, stop.signal)));
    await expect.poll(() => partner.requests.length).toBe(2);
    stop.abort();
    expect((await Promise.all(all)).map(({ kind }) => kind)).toEqual(Array(5).fill('aborted'));
    expect(partner.requests).toHaveLength(2);
    expect((await failure(client.getFiling('a', stop.signal))).kind).toBe('aborted');
  });

  it('leaves no listeners on a signal that outlives many requests', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners += 1;
      add(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...given);
    };
    const client = connect();
    for (let i = 0; i < 20; i += 1) await client.listFilings(firstPage, signal);
    partner.misbehave = () => ({ destroy: true });
    for (let i = 0; i < 5; i += 1) await failure(client.listFilings(firstPage, signal));
    expect(listeners).toBe(0);
  });
});
