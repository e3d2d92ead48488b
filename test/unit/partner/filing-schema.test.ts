import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import * as schema from '../../../src/partner/filing-schema.ts';

const parseFiling = (text: string) => schema.parseFiling(() => text);
const parsePage = (text: string) => schema.parsePage(() => text);

const good = { id: 'a', status: 'PAID' };
const page = (items: unknown, more: object = {}) =>
  JSON.stringify({ items, total: 1, offset: 0, limit: 20, ...more });

describe('parseFiling', () => {
  it.each([
    ['the fields that detection needs', good, { completedAt: null, rejectionReason: null }],
    [
      'what is null',
      { ...good, completedAt: null, rejectionReason: null },
      { completedAt: null, rejectionReason: null },
    ],
    [
      'texts verbatim',
      { ...good, completedAt: 'soon', rejectionReason: '' },
      { completedAt: 'soon', rejectionReason: '' },
    ],
    ['a numeric timestamp', { ...good, completedAt: 1767225600000 }, { completedAt: '1767225600000' }],
    ['a strange status', { ...good, status: '__proto__' }, { status: '__proto__' }],
    ['a strange id', { ...good, id: '__proto__' }, { id: '__proto__' }],
    ['another strange id', { ...good, id: 'a/b?c#d%2e \u0000é𝒳' }, { id: 'a/b?c#d%2e \u0000é𝒳' }],
    ['a lone surrogate in a reason', { ...good, rejectionReason: '\ud800' }, { rejectionReason: '\ud800' }],
  ])('takes %s', (_title, record, expected) => {
    const { document, createdAt: _createdAt, ...filing } = parseFiling(JSON.stringify(record)) ?? {};
    expect(filing).toEqual({ ...good, completedAt: null, rejectionReason: null, ...expected });
    expect(document?.()).toEqual(record);
  });

  it.each([
    null,
    [],
    'text',
    7,
    {},
    { id: 'a' },
    { status: 'PAID' },
    { ...good, id: 7 },
    { ...good, id: '' },
    { ...good, id: '.' },
    { ...good, id: '..' },
    { ...good, id: 'x'.repeat(10_240) },
    { ...good, id: 'a\ud800' },
    { ...good, status: 5 },
    { ...good, status: '' },
    { ...good, status: 'A\u0000B' },
    { ...good, status: 'A\u007fB' },
    { ...good, status: 'x'.repeat(65) },
    { ...good, status: '\udfff' },
    { ...good, completedAt: {} },
    { ...good, completedAt: true },
    { ...good, rejectionReason: 5 },
    { ...good, rejectionReason: ['x'] },
    { ...good, rejectionReason: 'x'.repeat(65_537) },
  ])('takes %j for no filing', (record) => {
    expect(parseFiling(JSON.stringify(record))).toBeNull();
  });

  it('reads a __proto__ key as a key', () => {
    const filing = parseFiling('{"id":"a","status":"PAID","__proto__":{"status":"COMPLETED"}}');
    expect(filing?.status).toBe('PAID');
    expect(JSON.stringify(filing?.document())).toBe(
      '{"id":"a","status":"PAID","__proto__":{"status":"COMPLETED"}}',
    );
    expect(parseFiling('{"__proto__":{"id":"a","status":"PAID"}}')).toBeNull();
  });

  it('keeps numbers as they were written', () => {
    const text = '{"id":"a","status":"PAID","premium":1200.10,"big":12345678901234567890}';
    expect(JSON.stringify(parseFiling(text)?.document())).toBe(text);
  });
});

describe('what is nested deeply', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const filing = (id: string, levels: number) => `{"id":"${id}","status":"PAID","x":${nested(levels)}}`;

  it('is a filing up to 50 levels', () => {
    expect(parseFiling(filing('a', 49))?.id).toBe('a');
    expect(parseFiling(filing('a', 50))).toBeNull();
  });

  it.each([51, 5_000, 100_000])('is quarantined with %i levels, and its neighbours go on', (levels) => {
    const text = `{"items":[${filing('deep', levels)},${filing('good', 3)},${nested(levels)}],"total":3}`;
    const read = parsePage(text);
    expect(read?.quarantined).toHaveLength(2);
    expect(read?.quarantined[0]).toBe('deep');
    expect(read?.filings.map(({ document }) => JSON.stringify(document()))).toEqual([filing('good', 3)]);
  });
});

describe('parsePage', () => {
  it.each([
    ['1', 1],
    ['0', 0],
    ['"17"', 17],
    ['"017"', 17],
    ['-1', null],
    ['1.5', null],
    ['1e400', null],
    ['9007199254740993', null],
    ['"many"', null],
    ['"1e3"', null],
    ['""', null],
    ['null', null],
    ['true', null],
    ['[]', null],
    ['{}', null],
  ])('reads a total of %s as %j', (total, expected) => {
    expect(parsePage(`{"items":[],"total":${total},"limit":${total}}`)).toMatchObject({
      total: expected,
      limit: expected,
    });
  });

  it('does without total and limit', () => {
    expect(parsePage('{"items":[]}')).toEqual({
      filings: [],
      quarantined: [],
      unreadable: 0,
      length: 0,
      total: null,
      limit: null,
    });
  });

  it.each([
    'null',
    '[]',
    '7',
    '"text"',
    '{}',
    '{"items":null}',
    '{"items":{}}',
    '{"items":"x"}',
    '{"total":0}',
  ])('takes %s for no page', (text) => {
    expect(parsePage(text)).toBeNull();
  });

  it.each(['', '<html>', '{"items":[', '{"items":[]} x', '\u0000'])('throws on %j', (text) => {
    expect(() => parsePage(text)).toThrow(SyntaxError);
  });

  it('quarantines bad records by id or digest and goes on with the others', () => {
    const read = parsePage(
      page([good, { id: 'b', status: 5 }, null, { ...good, id: 'x'.repeat(10_240) }, { ...good, id: 'c' }]),
    );
    expect(read?.filings.map(({ id }) => id)).toEqual(['a', 'c']);
    expect(read?.length).toBe(5);
    expect(read?.quarantined).toHaveLength(3);
    expect(read?.quarantined[0]).toBe('b');
    for (const name of read?.quarantined ?? []) expect(name.length).toBeLessThan(50);
    expect(parsePage(page([null]))?.quarantined).toEqual([read?.quarantined[1]]);
  });

  it('gives each filing its own document', () => {
    const items = [good, 5, { ...good, id: 'b', premium: 2 }];
    expect(parsePage(page(items))?.filings.map(({ document }) => document())).toEqual([items[0], items[2]]);
  });

  it('survives any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read = parsePage(JSON.stringify({ items: [value, good] }));
        expect((read?.filings.length ?? 0) + (read?.unreadable ?? 0)).toBe(2);
        parsePage(JSON.stringify(value));
        parseFiling(JSON.stringify(value));
      }),
    );
  });
});

describe('createdAtOf', () => {
  const zone = process.env['TZ'];
  beforeEach(() => {
    process.env['TZ'] = 'America/New_York';
    return () => {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    };
  });

  it('takes a time without a zone for UTC, wherever the daemon runs', () => {
    expect(new Date(2026, 0).getTimezoneOffset()).toBe(300);
    const noon = Date.UTC(2026, 10, 21, 12);
    for (const createdAt of ['2026-11-21T12:00:00', '2026-11-21 12:00', '2026-11-21T13:00:00+01:00'])
      expect(schema.createdAtOf({ createdAt }), createdAt).toBe(noon);
  });

  it('finds no time in a text that is none', () => {
    for (const createdAt of ['batch 2030', '7', '', 5, null])
      expect(schema.createdAtOf({ createdAt })).toBeNaN();
  });
});

describe('a filing with very many values', () => {
  const heavy = { ...good, rejectionReason: 'unsigned', x: Array(60_000).fill(1) };

  it.each([
    ['by itself', () => parseFiling(JSON.stringify(heavy))],
    ['on a page', () => parsePage(page([good, heavy]))?.filings[1]],
  ])('is read %s, with its size: no event carries it', (_title, read) => {
    const { document, ...filing } = read() ?? {};
    expect(filing).toMatchObject({
      ...good,
      rejectionReason: 'unsigned',
      heavyBytes: JSON.stringify(heavy).length,
    });
    expect(document?.()).toEqual(heavy);
    expect(parseFiling(JSON.stringify(good))).not.toHaveProperty('heavyBytes');
  });
});

describe('a page with very many records', () => {
  it('names a thousand of those that are no filings, and counts the others', () => {
    const read = parsePage(page([good, ...Array.from({ length: 2_999 }, () => ({})), 7]));
    expect([read?.length, read?.unreadable, read?.quarantined.length]).toEqual([3_001, 3_000, 1_000]);
  });

  it('is refused for more than ten thousand', () => {
    const records = [good, ...Array<number>(schema.recordsMax).fill(1)];
    expect(() => parsePage(page(records))).toThrow('more than 10000 records');
  });
});
