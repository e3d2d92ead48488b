import { logBeginning } from '../../../src/events/timeline.ts';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gzipSync } from 'node:zlib';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
  type Misbehaviour,
} from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount } from '../../support/partner/watched-account.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

let partner: HostilePartner;
let tests = 0;
beforeEach(async () => {
  tests += 1;
  partner = await startHostilePartner([
    partnerRow('a', 'PENDING'),
    partnerRow('b', 'COMPLETED'),
    partnerRow('c', 'PAID'),
  ]);
});
afterEach(() => partner[Symbol.asyncDispose]());

const watch = (options: Parameters<typeof watchAccount>[3] = {}) =>
  watchAccount(client, `${redis.prefix}${tests}`, partner, { retries: false, timeoutMs: 300, ...options });

const html = { headers: { 'content-type': 'text/html' }, body: '<html>down for maintenance</html>' };
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('an answer that is none', () => {
  it.each<[string, Misbehaviour, string]>([
    ['401', { status: 401 }, 'auth: GET filings answered 401'],
    ['403 with HTML', { status: 403, ...html }, 'auth: GET filings answered 403'],
    [
      '429 without end',
      { status: 429, headers: { 'retry-after': '1e12' } },
      'rate_limited: GET filings answered 429',
    ],
    ['500 with HTML', { status: 500, ...html }, 'unavailable: GET filings answered 500'],
    [
      'a redirect',
      { status: 302, headers: { location: '/elsewhere' } },
      'unexpected_status: GET filings answered 302',
    ],
    ['200 with HTML', html, 'invalid_response: GET filings answered with a body that is not JSON'],
    ['204', { status: 204, body: '' }, 'invalid_response: GET filings answered with a body that is not JSON'],
    ['null', { body: 'null' }, 'invalid_response: GET filings answered with JSON of an unexpected shape'],
    ['a list', { body: '[]' }, 'invalid_response: GET filings answered with JSON of an unexpected shape'],
    [
      'an error with 200',
      { body: '{"error":"x"}' },
      'invalid_response: GET filings answered with JSON of an unexpected shape',
    ],
    [
      'items that are an object',
      { body: '{"items":{"a":1},"total":0}' },
      'invalid_response: GET filings answered with JSON of an unexpected shape',
    ],
    [
      'nothing but brackets',
      { body: '['.repeat(2_000_000) },
      'invalid_response: GET filings answered with a body that is not JSON',
    ],
    [
      'cut JSON',
      { body: '{"items":[{"id":"a"' },
      'invalid_response: GET filings answered with a body that is not JSON',
    ],
    ['a cut body', { cutAfter: 40 }, 'network: GET filings failed: '],
    [
      'a body longer than its content-length',
      { headers: { 'content-length': '60' } },
      'network: GET filings failed: ',
    ],
    [
      'a gzip bomb',
      { headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(20_000_000)) },
      'invalid_response: GET filings with limit=1 answered more than 2097152 bytes: the partner service has to send smaller filings',
    ],
    [
      'a cut gzip',
      { headers: { 'content-encoding': 'gzip' }, body: gzipSync('{"items":[],"total":0}').subarray(0, -9) },
      'invalid_response: GET filings answered with a coding that is cut or broken',
    ],
    [
      'a page of a million records',
      { body: `{"items":[${'1,'.repeat(1_000_000)}1]}` },
      'invalid_response: GET filings with limit=100 answered more than 10000 records: the partner service has to respect limit',
    ],
    [
      'one record of 3 MB',
      { body: `{"items":["${'x'.repeat(3_000_000)}"]}` },
      'invalid_response: GET filings with limit=1 answered more than 2097152 bytes: the partner service has to send smaller filings',
    ],
    [
      '50 MB',
      { floodBytes: 50_000_000 },
      'invalid_response: GET filings with limit=1 answered more than 2097152 bytes',
    ],
    ['a byte now and then', { dripMs: 20 }, 'timeout: GET filings took too long'],
    ['silence', { after: new Promise(() => undefined) }, 'timeout: GET filings took too long'],
  ])(
    '%s: nothing is concluded, the error is named, and the next good answer is taken up',
    async (_title, odd, error) => {
      const watched = await watch(error.includes('2097152') ? { timeoutMs: 10_000 } : {});
      await watched.poll();
      partner.put('a', { status: 'REJECTED', rejectionReason: 'unsigned' });
      partner.misbehave = () => odd;
      for (const mode of ['delta', 'sweep'] as const) expect((await watched.poll(mode)).kind).toBe('failed');
      const marks = await watched.polling.read('acme');
      expect(marks.lastError.startsWith(error), marks.lastError).toBe(true);
      // The sweep is one beside deltas, which find out by themselves.
      expect(marks.consecutiveFailures).toBe(1);
      // Retry-After is believed up to an hour.
      expect(marks.backoffUntil - watched.clock.now()).toBeLessThanOrEqual(3_600_000);
      expect(await watched.snapshot.known('acme')).toBe(3);
      partner.misbehave = () => undefined;
      expect(await watched.poll()).toMatchObject({ kind: 'complete', events: 1 });
      const told = (await watched.events())
        .map(({ type }) => type)
        .filter((type) => type.startsWith('filing.'));
      expect(told).toEqual(['filing.rejected']);
      expect(await watched.polling.read('acme')).toMatchObject({ lastError: '', backoffUntil: 0 });
    },
  );
});

describe('a page with something odd on it', () => {
  const rowText = (fields: string) => `{"id":"x","status":"PAID",${fields}}`;

  it.each<[string, string, string]>([
    ['a key twice: the last one counts', '{"id":"x","status":"PAID","status":"PENDING"}', 'PENDING'],
    ['a number beyond doubles', rowText('"premium":12345678901234567890.10'), 'PAID'],
    ['__proto__', rowText('"__proto__":{"status":"COMPLETED"}'), 'PAID'],
    ['brackets twenty deep', rowText(`"notes":${deep(20)}`), 'PAID'],
    ['another owner', rowText('"userId":"somebody else"'), 'PAID'],
  ])('%s: the filing is followed, and so are the others', async (_title, text, status) => {
    const watched = await watch();
    await watched.poll();
    partner.put('a', { status: 'PAID' });
    partner.misbehave = ({ endpoint, status: asked }) =>
      endpoint === 'filings' && (asked === null || asked === status)
        ? {
            edit: (page) => ({
              ...page,
              total: Number(page.total) + 1,
              items: [...(page.items as unknown[]), 'X'],
            }),
            replace: ['"X"', text],
          }
        : undefined;
    const events = await watched.pollFor('sweep');
    expect(events.map(({ filingId, status: now }) => `${filingId} ${now}`).toSorted()).toEqual([
      'a PAID',
      `x ${status}`,
    ]);
    const { entries } = await watched.log.readAfter('acme', logBeginning, 10);
    expect(entries.map(({ body }) => body.toString()).join()).toContain(
      text.includes('12345678901234567890.10') ? '12345678901234567890.10' : '"filingId":"x"',
    );
  });

  it.each<[string, unknown]>([
    ['no status', { id: 'x' }],
    ['a status of null', { id: 'x', status: null }],
    ['a list for an id', { id: ['x'], status: 'PAID' }],
    ['an id of 10 KB', { id: 'x'.repeat(10_240), status: 'PAID' }],
    ['nothing', null],
    ['a text', 'x'],
    ['brackets a thousand deep', { id: 'x', status: 'PAID', notes: JSON.parse(deep(1_000)) as unknown }],
  ])('a record with %s is left out, the others are followed', async (_title, record) => {
    const watched = await watch();
    await watched.poll();
    partner.put('a', { status: 'PAID' });
    partner.misbehave = () => ({
      edit: (page) => ({ ...page, items: [record, ...(page.items as unknown[])] }),
    });
    expect((await watched.pollFor('sweep')).map(({ filingId }) => filingId)).toEqual(['a']);
    expect(watched.quarantined).toEqual([1]);
  });

  it('ids in bytes that are no UTF-8 are not read: they could not be asked for', async () => {
    const page = (id: Buffer) =>
      Buffer.concat([Buffer.from('{"items":[{"id":"'), id, Buffer.from('","status":"PENDING"}],"total":1}')]);
    partner.misbehave = ({ endpoint }) =>
      endpoint === 'filings' ? { body: page(Buffer.from([0x61, 0xff, 0xfe])) } : undefined;
    const watched = await watch();
    for (let polls = 0; polls < 5; polls += 1) await watched.poll();
    expect((await watched.polling.read('acme')).lastError).toBe(
      'invalid_response: GET filings answered with a body that is not UTF-8',
    );
    partner.misbehave = ({ endpoint }) =>
      endpoint === 'filings' ? { body: '{"items":[],"total":0}' } : undefined;
    for (let polls = 0; polls < 4; polls += 1) await watched.poll();
    expect(await watched.events()).toEqual([]);
  });
});
