import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compileFilter } from '../../../../src/subscriptions/content-filter/cel/compile-filter.ts';
import { contextOf } from '../../../../src/subscriptions/content-filter/cel/language.ts';

const page = readFileSync(new URL('../../../../docs/endpoints/filters.md', import.meta.url), 'utf8');

/** The rows of the table with these headings, without the backquotes around code. */
function rowsOf(headings: string): string[][] {
  const lines = page.split('\n');
  const begin = lines.findIndex((line) => line.replaceAll(/\s+/g, ' ') === headings) + 2;
  const end = lines.findIndex((line, i) => i >= begin && !line.startsWith('|'));
  return lines.slice(begin, end).map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|').replaceAll(/^`|`$/g, '')),
  );
}

const [, text = ''] = /judged on this event:\n\n```json\n(.*?)```/s.exec(page) ?? [];
const event: unknown = JSON.parse(text);

describe('the page about filters', () => {
  const examples = rowsOf('| filter | on the event above |');
  test('has examples', () => expect(examples.length).toBeGreaterThan(15));

  test.each(examples)('%s: %s', (filter = '', verdict = '') => {
    const compiled = compileFilter(filter);
    expect('judge' in compiled ? compiled.judge(contextOf(event)) : compiled).toBe(verdict);
  });

  test.each(rowsOf('| filter | answer |'))('refuses %s', (filter = '', answer = '') => {
    const compiled = compileFilter(filter);
    expect('judge' in compiled ? '' : `at character ${compiled.at}, ${compiled.message}`).toBe(answer);
  });

  test.each(rowsOf('| write | for |').map(([code = '']) => code))('the language has %s', (code) => {
    for (const one of code.split(/`, `/))
      expect(uses(one), one).toMatchObject({ judge: expect.any(Function) });
  });
});

/** A filter with this piece of the language. */
function uses(piece: string) {
  if (piece.startsWith('.')) {
    const call = `filing.carriersName${piece.replace('…', 'a')}`;
    return compileFilter(piece.includes('Ascii') ? `${call} == "a"` : call);
  }
  if (piece === '!') return compileFilter('!data.inferred');
  if (/^[+\-*]$/.test(piece)) return compileFilter(`filing.premium ${piece} 1 > 2`);
  if (piece === 'in') return compileFilter('data.status in ["PAID"]');
  if (piece === '&&' || piece === '||') return compileFilter(`data.inferred ${piece} data.inferred`);
  if (/^[=!<>]/.test(piece)) return compileFilter(`filing.premium ${piece} 1`);
  if (piece.includes('?')) return compileFilter('data.inferred ? data.status == "a" : data.status == "b"');
  if (piece.startsWith('has(')) return compileFilter(piece);
  return compileFilter(`filing["anything"] == ${piece}`);
}
