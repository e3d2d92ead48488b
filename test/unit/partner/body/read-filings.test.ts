import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerExcess } from '../../../../src/partner/body/answer-excess.ts';
import {
  bodyBytesMax,
  createBodyCollector,
  type AnswerBody,
} from '../../../../src/partner/body/answer-body.ts';
import { createPageSplitter, recordsMax } from '../../../../src/partner/body/page-layout.ts';
import { readFiling, readPage } from '../../../../src/partner/body/read-filings.ts';
import {
  parseFiling,
  parsePage,
  type PartnerFiling,
  type PartnerPage,
} from '../../../../src/partner/filing-schema.ts';

const mebibyte = 1024 * 1024;

/** A body as it arrives, in pieces of so many bytes. */
function arrived(text: string | Buffer, kind: 'page' | 'other' = 'page', pieceBytes = 65_536): AnswerBody {
  const bytes = Buffer.from(text);
  const body = createBodyCollector(kind, null);
  for (let at = 0; at < bytes.length; at += pieceBytes) body.push(bytes.subarray(at, at + pieceBytes));
  return body.end();
}

/** A page that is split although it is small. */
function splitUp(text: string, pieceBytes: number): AnswerBody {
  const bytes = Buffer.from(text);
  const splitter = createPageSplitter();
  for (let at = 0; at < bytes.length; at += pieceBytes)
    splitter.push(bytes, Math.min(at + pieceBytes, bytes.length));
  return { bytes, layout: splitter.end(bytes), text: () => new TextDecoder().decode(bytes) };
}

function shown(page: PartnerPage | null) {
  return (
    page && {
      ...page,
      filings: page.filings.map(({ document, ...filing }) => ({
        ...filing,
        document: JSON.stringify(document()),
      })),
    }
  );
}

async function readOr(read: () => Promise<PartnerPage | null> | PartnerPage | null): Promise<unknown> {
  try {
    return shown(await read());
  } catch (error) {
    if (error instanceof SyntaxError) return 'not JSON';
    throw error;
  }
}

async function expectSame(text: string, pieceBytes: number): Promise<void> {
  const whole = await readOr(() => parsePage(() => new TextDecoder().decode(Buffer.from(text))));
  expect(await readOr(() => readPage(splitUp(text, pieceBytes), mebibyte)), text).toEqual(whole);
}

const filing = { id: 'a', status: 'PAID' };
const record = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.record({ id: fc.string({ minLength: 1 }), status: fc.constant('PAID'), '"x\\': fc.jsonValue() }),
);
const frame = fc.dictionary(fc.constantFrom('total', 'limit', 'x', '"', 'ite\\ms'), fc.jsonValue());

describe('a page that is split', () => {
  it.each([
    '{"items":[]}',
    '{"items":[ \n ]}',
    '{"items":[1]}',
    '{"items":[,]}',
    '{"items":[1,]}',
    '{"items":[1 2]}',
    '{"items":[{"id":"a","status":"PAID"}]} x',
    '{"items":[{"id":"a","status":"PAID"}]',
    '{"items":[{"id":"a","status":"PAID"]}',
    '{"items":[{]},1]}',
    '{"items":[1}',
    '{"items":5 [1]}',
    '{"items":[1]5}',
    '{"items":[:]}',
    '{"items":["a":1]}',
    '{"x":{"items":[1]}}',
    '{"x":[{"items":[1]}],"items":[2]}',
    '{"items":[1],"items":[2,3]}',
    '{"items":[1],"items":{}}',
    '{"items":{},"items":[1]}',
    '{"it\\u0065ms":[{"id":"a","status":"PAID","premium":1200.10}],"total":"7"}',
    '{ "total" : 3 , "items" : [ { "id" : "a" , "status" : "PAID" } , null ] , "limit" : 2 }',
    '\ufeff{"items":[1]}',
    '{"items":[\ufeff1]}',
    '[{"items":[1]}]',
    '}{"items":[]}',
    '"items":[1]',
    '{"items":["]",",","\\"",{"a":"[{"}]}',
    `{"items":[{"id":"a","status":"PAID","x":${'['.repeat(60)}${']'.repeat(60)}}]}`,
  ])('is read as a whole one is: %s', async (text) => {
    for (const pieceBytes of [1, 7, 1_000]) await expectSame(text, pieceBytes);
  });

  it('is read as a whole one is, whatever it holds and wherever it is cut or damaged', async () => {
    const page = fc
      .tuple(fc.array(record, { maxLength: 12 }), frame, fc.boolean())
      .map(([items, more, isLast]) => JSON.stringify(isLast ? { ...more, items } : { items, ...more }));
    const damage = fc.tuple(
      fc.nat(),
      fc.nat({ max: 2 }),
      fc.constantFrom('', ',', '[', ']', '{', '}', '"', '\\', ':', ' '),
    );
    const property = fc.asyncProperty(
      page,
      fc.option(damage),
      fc.integer({ min: 1, max: 50 }),
      async (text, how, pieceBytes) => {
        const at = how === null ? 0 : how[0] % (text.length + 1);
        const damaged = how === null ? text : text.slice(0, at) + how[2] + text.slice(at + how[1]);
        await expectSame(damaged, pieceBytes);
      },
    );
    await fc.assert(property, { numRuns: 1_000 });
  });
});

describe('a large page', () => {
  const note = 'n'.repeat(1_000);
  const row = (i: number) =>
    `{"id":"f_${i}","status":"PAID","premium":1200.10,"no":12345678901234567890,"note":"${note}"}`;

  it('is read record by record, with its numbers as they were written', async () => {
    const rows = Array.from({ length: 2_000 }, (_, i) => row(i));
    const page = await readPage(
      arrived(`{"total":2000,"items":[${rows.join(' , ')}],"limit":100}`),
      mebibyte,
    );
    expect(page).toMatchObject({ length: 2_000, total: 2_000, limit: 100, unreadable: 0 });
    expect(page?.filings.map(({ document }) => JSON.stringify(document()))).toEqual(rows);
  });

  it('lets other work have its turn meanwhile', async () => {
    const rows = Array.from({ length: 9_000 }, (_, i) => row(i));
    const body = arrived(`{"items":[${rows.join(',')}]}`);
    let turns = 0;
    let isRead = false;
    const reading = readPage(body, mebibyte).finally(() => (isRead = true));
    while (!isRead) {
      await new Promise(setImmediate);
      turns += 1;
    }
    expect((await reading)?.length).toBe(9_000);
    expect(turns).toBeGreaterThan(3);
  });

  it('counts what is no filing, and names a thousand of it', async () => {
    const page = await readPage(
      arrived(`{"items":[${row(0)},${`{"x":"${note}"},`.repeat(2_999)}7]}`),
      mebibyte,
    );
    expect(page).toMatchObject({ length: 3_001, unreadable: 3_000 });
    expect(page?.quarantined).toHaveLength(1_000);
    const small = parsePage(() => `{"items":[${JSON.stringify(filing)},${'{},'.repeat(2_999)}7]}`);
    expect([small?.unreadable, small?.quarantined.length]).toEqual([3_000, 1_000]);
  });

  it.each([
    ['records', `{"items":[${'1,'.repeat(2_000_000)}1]}`, recordsMax],
    ['other bytes', `{"x":[${'1,'.repeat(2_000_000)}1],"items":[]}`, 262_144],
  ])('is refused while it arrives for too many %s', (of, text, max) => {
    const bytes = Buffer.from(text);
    const body = createBodyCollector('page', null);
    const pushAll = () => {
      for (let at = 0; at < bytes.length; at += 65_536) body.push(bytes.subarray(at, at + 65_536));
    };
    expect(pushAll).toThrow(expect.objectContaining({ of, max }));
    expect(body.length).toBeLessThan(600_000);
  });

  it('is refused when it is small but has too many records', () => {
    const text = () => `{"items":[${JSON.stringify(filing)},${'1,'.repeat(recordsMax)}1]}`;
    expect(() => parsePage(text)).toThrow(AnswerExcess);
  });

  it('is refused for its bytes, as soon as they are declared or come', () => {
    expect(() => createBodyCollector('page', bodyBytesMax + 1)).toThrow(AnswerExcess);
    const body = createBodyCollector('other', bodyBytesMax);
    body.push(Buffer.alloc(bodyBytesMax));
    expect(() => body.push(Buffer.alloc(1))).toThrow(AnswerExcess);
  });
});

describe('a heavy filing', () => {
  const known = {
    id: 'h',
    status: 'REJECTED',
    completedAt: 1_767_225_600_000,
    rejectionReason: 'not signed',
    createdAt: '2026-01-01T00:00:00Z',
    filingState: { stateAbbr: 'TX' },
    premium: 1200.5,
  };
  const heavy = (more: object) => JSON.stringify({ blob: 'x'.repeat(2 * mebibyte), ...known, ...more });
  const values = `{"x":[${'1,'.repeat(60_000)}1],${JSON.stringify(known).slice(1)}`;
  const onPage = async (text: string) =>
    (await readPage(arrived(`{"items":[${text},${JSON.stringify(filing)}]}`), mebibyte))?.filings[0];
  const byItself = async (text: string) => readFiling(arrived(text, 'other'), mebibyte);

  it.each([
    ['of many bytes, on a page', onPage, heavy({})],
    ['of many bytes, by itself', byItself, heavy({})],
    ['of many bytes, behind a byte order mark', byItself, `\ufeff${heavy({})}`],
    ['of many values, on a page', onPage, `${' '.repeat(300_000)}${values}`],
    ['of many values, by itself', byItself, `${values}${' '.repeat(300_000)}`],
    ['with keys that are escaped', byItself, heavy({}).replace('"status"', String.raw`"st\u0061tus"`)],
    ['with a member twice', byItself, `{"status":"PAID",${heavy({}).slice(1)}`],
  ])('%s is read by the fields that are known', async (_title, read, text) => {
    const { document, heavyBytes, ...read_ } = (await read(text)) ?? ({} as PartnerFiling);
    const { document: _, ...whole } = parseFiling(() => JSON.stringify(known)) ?? ({} as PartnerFiling);
    expect(read_).toEqual(whole);
    expect(document()).toEqual(known);
    expect(heavyBytes).toBeGreaterThan(110_000);
  });

  it.each([
    ['an id', { id: 'x'.repeat(5_000) }],
    ['a status', { status: 'x'.repeat(5_000) }],
    ['a rejectionReason', { rejectionReason: 'x'.repeat(600_000) }],
    ['a rejectionReason', { rejectionReason: 'x'.repeat(70_000) }],
  ])('with %s that is too long is none', async (_title, more) => {
    expect(await byItself(heavy(more))).toBeNull();
  });

  it('with details that are too long is one without them', async () => {
    expect((await byItself(heavy({ insuredsName: 'x'.repeat(mebibyte) })))?.document()).toEqual({
      ...known,
      insuredsName: false,
    });
  });

  it('that is nested too deeply is none, and named by its id', async () => {
    const text = heavy({}).replace('{', `{"deep":${'['.repeat(51)}${']'.repeat(51)},`);
    expect(await byItself(text)).toBeNull();
    expect((await readPage(arrived(`{"items":[${text}]}`), mebibyte))?.quarantined).toEqual(['h']);
  });

  it.each([
    ['a list', `[${'1,'.repeat(200_000)}1]`],
    ['a text', JSON.stringify('x'.repeat(2 * mebibyte))],
  ])('is none if it is %s', async (_title, text) => {
    expect(await byItself(text)).toBeNull();
  });
});
