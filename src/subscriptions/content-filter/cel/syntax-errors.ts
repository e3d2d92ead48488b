import type { ParseError } from '@marcbachmann/cel-js';
import type { FilterProblem } from './compile-filter.ts';

// Operators of other languages, with those of this one.
const elsewhere: Readonly<Record<string, string>> = {
  and: '&&',
  or: '||',
  not: '!',
  is: '==',
  eq: '==',
  ne: '!=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  like: 'contains(…)',
  contains: '.contains("…")',
  AND: '&&',
  OR: '||',
  NOT: '!',
  IN: 'in',
};

const endings: Readonly<Record<string, string>> = {
  RPAREN: ')',
  RBRACKET: ']',
  RBRACE: '}',
  COLON: ':',
  IDENTIFIER: 'a name',
};

/** What is wrong with the syntax of a filter, in words for its author. */
export function explainSyntax(
  text: string,
  { code, summary, range }: ParseError,
  { nodesMax, depthMax }: { readonly nodesMax: number; readonly depthMax: number },
): FilterProblem {
  const start = range?.start ?? 0;
  const at = start + 1;
  const here = text.slice(start);
  if (code === 'limit_exceeded') {
    const isDeep = summary.includes('maxDepth');
    return {
      at,
      message: isDeep ? `it is nested more than ${depthMax} levels deep` : tooMuch(summary, nodesMax),
    };
  }
  if (text.trim() === '') return { at: 1, message: 'it is empty; null means no filter' };
  if (here.trim() === '') return { at, message: missing(summary) };
  const [word = ''] = /^\w+/.exec(here) ?? [];
  const replacement = Object.hasOwn(elsewhere, word) ? elsewhere[word] : undefined;
  if (replacement !== undefined) return { at, message: `write ${replacement} for ${word}` };
  if (/^[=&|]/.test(here)) {
    const [operator = ''] = here;
    return { at, message: `write ${operator}${operator} for ${operator}` };
  }
  if (code === 'unterminated_string') return { at, message: 'the text in quotes has no end' };
  if (code === 'reserved_identifier') return { at, message: `${word} is a reserved word` };
  if (code === 'unexpected_token' || code === 'unexpected_character' || code === 'expected_token')
    return { at, message: `${JSON.stringify(here.slice(0, 12))} is not expected here` };
  if (code === 'invalid_macro_argument') return { at, message: 'filters have no loops over lists' };
  return { at, message: `${summary.charAt(0).toLowerCase()}${summary.slice(1)}` };
}

function missing(summary: string): string {
  const [, token = ''] = /^Expected (\w+)/.exec(summary) ?? [];
  const ending = Object.hasOwn(endings, token) ? endings[token] : undefined;
  return ending === undefined ? 'it ends before a value' : `${ending} is missing at its end`;
}

function tooMuch(summary: string, nodesMax: number): string {
  return summary.includes('CallArguments')
    ? 'the function has too many arguments'
    : `it has more than ${nodesMax} names, values and operators`;
}
