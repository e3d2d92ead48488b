import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createFilterJudge } from '../../../../src/subscriptions/content-filter/judge.ts';
import { compileFilter } from '../../../../src/subscriptions/content-filter/cel/compile-filter.ts';
import { contextOf } from '../../../../src/subscriptions/content-filter/cel/language.ts';
import { createSelection } from '../../../../src/subscriptions/content-filter/selection.ts';
import { eventWith, usualFiling } from '../../../support/filter-expressions.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function judge(filter: string, filing: object | null = usualFiling): string {
  const compiled = compileFilter(filter);
  if (!('judge' in compiled)) return `${compiled.at}: ${compiled.message}`;
  return compiled.judge(contextOf(JSON.parse(eventWith(filing as Record<string, unknown> | null).body)));
}

describe('a filter', () => {
  test.each([
    ['filing.premium > 10000', { premium: 10_001 }, 'passes'],
    ['filing.premium > 10000.0', { premium: 10_001 }, 'passes'],
    ['filing.premium > 10000', { premium: '10000.50' }, 'passes'],
    ['filing.premium > 10000', { premium: '9999.99' }, 'stays'],
    ['10000 < filing.premium', { premium: '10000.50' }, 'passes'],
    ['filing.premium == 10000', { premium: '10000.00' }, 'passes'],
    ['filing.premium in [1, 10000]', { premium: '10000.00' }, 'passes'],
    ['filing.premium - 1 > 9999', { premium: '10000.50' }, 'passes'],
    ['filing.fee > "10000"', { fee: 9_000 }, 'stays'],
    ['filing.fee in [1, 10000]', { fee: '10001' }, 'stays'],
    ['filing.fee in ["a", "10"]', { fee: 10 }, 'stays'],
    ['filing.fee in filing.fees', { fee: '5.0', fees: [5, 'a'] }, 'stays'],
    ['filing.fee in filing.fees', { fee: 'a', fees: [] }, 'stays'],
    ['data.status in []', {}, 'stays'],
    ['filing.fee in []', { fee: 5 }, 'stays'],
    ['filing.fee in [-1, 5]', { fee: '5.00' }, 'passes'],
    ['"a" in filing.fees', { fees: [5, 'a'] }, 'passes'],
    ['double(filing.premium) > double(filing.fee)', { premium: '9', fee: '10' }, 'stays'],
    ['filing.premium > 10000', { premium: 'much' }, 'undecided'],
    ['filing.premium > 10000', { premium: '10,001.00' }, 'undecided'],
    ['filing.premium > 10000', { premium: null }, 'undecided'],
    ['filing.premium > 10000', { premium: true }, 'undecided'],
    ['filing.premium > 10000', { premium: [1] }, 'undecided'],
    ['filing.premium > 10000', { premium: { amount: 1 } }, 'undecided'],
    ['filing.premium > 10000', {}, 'undecided'],
    ['filing.premium > 10000', null, 'undecided'],
    ['filing.premium == null', { premium: null }, 'passes'],
    ['filing.premium != null', {}, 'undecided'],
    ['filing.flag', { flag: true }, 'passes'],
    ['filing.flag', { flag: 'true' }, 'undecided'],
    ['!filing.flag', { flag: 1 }, 'undecided'],
    ['has(filing.filingState.stateAbbr)', {}, 'undecided'],
    ['filing.a == filing.b', { a: { x: 1 }, b: { x: 1 } }, 'undecided'],
    ['filing.a == filing.b', { a: [1, 'x'], b: [1, 'x'] }, 'passes'],
    ['filing.premium in ["a", null]', { premium: null }, 'passes'],
    ['type == "filing.pending" && filing.premium == 1', { premium: 1 }, 'passes'],
  ])('%s of %j: %s', (filter, filing, verdict) => expect(judge(filter, filing)).toBe(verdict));

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length'])(
    'reads nothing of an object but its own fields: %s',
    (name) => {
      for (const value of ['filing', 'filing.filingState', 'filing.userFiles', 'filing.insuredsName'])
        expect(judge(`${value}["${name}"] != 0`)).toMatch(
          /undecided|index must be int|do not go together|cannot index/,
        );
      expect(judge(`filing.odd["${name}"] != 0`)).toBe('undecided');
      const own: unknown = JSON.parse(`{"data":{"filing":{"${name}":5}}}`);
      const compiled = compileFilter(`filing["${name}"] == 5`);
      expect('judge' in compiled && compiled.judge(contextOf(own))).toBe('passes');
    },
  );

  test.each([
    [`filing.premium > ${'1'.repeat(2_000)}`, /more than 2000 characters/],
    [`[${'1,'.repeat(900)}1] == [1]`, /at most 500/],
    [`${'('.repeat(100)}data.inferred${')'.repeat(100)}`, /24 levels/],
    [`${'!'.repeat(1_000)}data.inferred`, /at most 500/],
    ['filing.premium', /it gives double/],
    ['filing.filingState == "TX"', /do not go together: filing.filingState == string/],
    ['1 < 2', /same for every event/],
    ['"a" + "b" == "ab"', /is for numbers/],
    ['filing.matches("(a+)+$")', /no regular expressions/],
    ['timestamp(data.completedAt) > 1', /no times/],
    ['data.nothing == 1', /Known: account/],
    ['data.status = "PAID"', /write == for =/],
    ['data.status == PAID', /PAID is not known/],
    ['filing.premium > 1 AND data.inferred', /write && for AND/],
    ['b"abc" == filing.premium', /a value is a number/],
    ['5u == filing.premium', /a value is a number/],
    ['filing.userFiles.map(x, x.name)', /no loops/],
    ['filing.userFiles.exists(f, f.name == "a")', /no loops/],
    ['filing.userFiles.all(f, f.exists_one(g, g == 1))', /no loops/],
    ['filing.userFiles.filter(x, true) == []', /no loops/],
    ['filing.userFiles.exists(1, true)', /iteration variable/],
    ['filing.carriersName.contains(filing.insuredsName)', /takes a text in quotes/],
    ['data.status in [1, 2]', /do not go together: string in list<double>/],
    ['data.status in [["PAID"]]', /do not go together: string in list/],
    ['has(filing)', /takes a field/],
    ['data.status.size() == 4', /no function size/],
    ['data.status.split(",") == []', /no function split/],
    ['data.inferred ? 1 : "a"', /./],
    ['cel.bind(x, 1, x == 1)', /no function bind|not known/],
    ['data.status.contains(5)', /no matching overload/],
    ['data.status.startsWith()', /no matching overload/],
    ['filing.premium > 1 &&', /ends before a value/],
    ['#', /not expected here/],
  ])('refuses %s', (filter, message) => {
    const compiled = compileFilter(filter);
    expect(compiled).toMatchObject({ at: expect.any(Number), message: expect.stringMatching(message) });
  });
});

describe('whatever an event holds, a filter', () => {
  const texts = (count: number, piece: string) => Array.from({ length: count }, () => piece).join(' || ');
  const long = Array.from({ length: 1_001 }, (_, i) => i);

  test.each([
    ['filing.long == filing.other', { long, other: [...long] }, 'undecided'],
    ['filing.long == filing.long', { long }, 'passes'],
    ['5 in filing.long', { long }, 'undecided'],
    ['filing.long[5] == 5', { long }, 'undecided'],
    ['size(filing.long) == 1001', { long }, 'undecided'],
    ['has(filing.long) && filing.long != null', { long }, 'passes'],
    ['filing.text == "a"', { text: 'a'.repeat(10_001) }, 'stays'],
    ['filing.text == filing.other', { text: 'a'.repeat(10_001), other: 'a'.repeat(10_001) }, 'undecided'],
    ['filing.text.contains("a")', { text: 'a'.repeat(10_001) }, 'undecided'],
    ['size(filing.text) > 1', { text: 'a'.repeat(10_001) }, 'undecided'],
    ['size(filing.text) == 10000', { text: 'a'.repeat(10_000) }, 'passes'],
    ['filing.a == filing.b', { a: [1, ['2']], b: [1, ['2']] }, 'undecided'],
    ['filing.a + filing.b == 3', { a: '1', b: '2' }, 'passes'],
    ['filing.a + filing.b == 3', { a: ['1'], b: ['2'] }, 'undecided'],
  ])('works on what is short, lists and texts alike: %s', (filter, filing, verdict) =>
    expect(judge(filter, filing)).toBe(verdict),
  );

  test('calls twenty functions at most', () => {
    const calls = (count: number) => texts(count, 'size(filing.odd) == 1');
    expect(judge(calls(20))).toBe('stays');
    expect(judge(calls(21))).toMatch(/more than 20 functions/);
  });

  test('takes less than 100 bytes of memory for each of its characters', () => {
    const filter = (i: number) => `${texts(71, 'filing.a == filing.b')} || data.sequence == ${i}`;
    compileFilter(filter(0));
    const before = heapBytes();
    const kept = Array.from({ length: 20 }, (_, i) => compileFilter(filter(i)));
    expect((heapBytes() - before) / kept.length).toBeLessThan(100 * filter(0).length);
    expect(kept.every((each) => 'judge' in each)).toBe(true);
  });
});

test('operational events are not judged, and events without a body pass', () => {
  const subscription = { eventTypes: ['*'], states: null, filter: 'filing.premium > 1' };
  const undecided: string[] = [];
  const selection = createSelection(
    { judge: createFilterJudge(), onUndecided: () => void undecided.push('one') },
    () => subscription,
    '',
  );
  const event = (type: string, body?: string) => ({
    type,
    state: '',
    status: '',
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
  });
  const small = eventWith({ premium: 1 }).body;
  expect(selection.accepts(event('filing.paid', small))).toBe(false);
  expect(selection.accepts(event('filing.paid'))).toBe(true);
  expect(selection.accepts(event('account.stale', small))).toBe(true);
  expect(selection.accepts(event('filing.paid', eventWith({}).body))).toBe(true);
  expect(selection.accepts(event('filing.paid', '{"cut'))).toBe(true);
  expect(undecided).toHaveLength(2);
  expect(selection.undecided()).toMatch(/^2 /);
  subscription.filter = 'filing.premium > 2';
  expect(selection.undecided()).toMatch(/^0 /);
});

test('a body is judged once by each filter, however often it is asked about', () => {
  const { judge: judgeBody } = createFilterJudge();
  const body = Buffer.from(eventWith({ premium: 5 }).body);
  const verdicts = () => ['filing.premium > 1', 'filing.premium > 9'].map((text) => judgeBody(text, body));
  expect(verdicts()).toEqual(['passes', 'stays']);
  // What is judged again is found to be no JSON.
  body.fill('x');
  expect(verdicts()).toEqual(['passes', 'stays']);
  expect(judgeBody('filing.premium > 2', body)).toBe('undecided');
  expect(judgeBody('filing.premium > 1', Buffer.from(body))).toBe('undecided');
});

test('a problem with a name of any length is told in a few words', () => {
  for (const text of [`data.${'e'.repeat(1_900)} > 1`, `data${'.premium'.repeat(200)} > 1`]) {
    const compiled = compileFilter(text);
    expect('message' in compiled ? compiled.message.length : Infinity).toBeLessThan(600);
  }
});
