import { describe, expect, test } from 'vitest';
import { csvLine, wantsCsv } from '../../../../src/api/filings/table.ts';

describe('a cell of CSV', () => {
  test.each([
    ['plain', 'plain'],
    ['', ''],
    [null, ''],
    [12.5, '12.5'],
    [-3, '-3'],
    [true, 'true'],
    ['a,b', '"a,b"'],
    ['a;b', '"a;b"'],
    ['say "x"', '"say ""x"""'],
    ['two\r\nlines', '"two\r\nlines"'],
    [' padded ', '" padded "'],
    ['1-2', '1-2'],
    ['署名', '署名'],
  ])('%o is written as %o', (value, written) => {
    expect(csvLine([value])).toBe(`${written}\r\n`);
  });

  test.each([
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    ' =1+1',
    '\u00a0=1+1',
    '\ufeff=1+1',
    '\0=1+1',
    '\t=1+1',
    '\tx',
    '\rx',
    '\nx',
    '＝1+1',
    '＋1',
    '－1',
    '＠x',
    '=HYPERLINK("http://x.example","y")',
    '"=1+1'.slice(1),
  ])('%o is no formula any more', (value) => {
    const written = csvLine([value]).slice(0, -2);
    expect(written.replace(/^"/, '').startsWith("'")).toBe(true);
    expect(written.replaceAll('""', '"')).toContain(value);
  });

  test('cells are parted by commas and lines end with CRLF', () => {
    expect(csvLine(['a', null, 1, 'b'])).toBe('a,,1,b\r\n');
  });
});

test.each([
  [undefined, false],
  ['*/*', false],
  ['application/json', false],
  ['text/csv', true],
  ['TEXT/CSV; q=0.5', true],
  ['text/csv;q=0', false],
  ['application/json, text/csv', true],
  ['application/json, text/csv;q=0.9', false],
  ['application/json;q=0.1,text/csv;charset=utf-8;q=0.2', true],
  ['text/csvx', false],
])('Accept: %s asks for CSV: %s', (accept, wanted) => {
  expect(wantsCsv(accept)).toBe(wanted);
});
