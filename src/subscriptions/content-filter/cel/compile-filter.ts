import { ParseError } from '@marcbachmann/cel-js';
import { checkExpression, FilterError, type Replacement } from './check-expression.ts';
import { language, type Context } from './evaluator.ts';
import { explainSyntax } from './syntax-errors.ts';

/** Maximum characters of a filter. */
export const filterLengthMax = 2_000;

/** Maximum number of names, values and operators of a filter, and of its nesting. */
const nodesMax = 500;
const depthMax = 24;

const grammar = language.clone({
  limits: {
    maxAstNodes: nodesMax,
    maxDepth: depthMax,
    maxListElements: nodesMax,
    maxMapEntries: 1,
    maxCallArguments: 3,
  },
});

/** A verdict on an event; `undecided` ones pass. */
export type Verdict = 'passes' | 'stays' | 'undecided';

/** A compiled filter. */
export interface ContentFilter {
  /** Judges an event in a few milliseconds at most, usually in microseconds. */
  judge(event: Context): Verdict;
}

/** What is wrong with a filter; `at` is the position of the first character to blame, from 1. */
export interface FilterProblem {
  readonly at: number;
  readonly message: string;
}

/**
 * Compiles a filter (docs/endpoints/filters.md), or returns what is wrong with it. Never throws. Takes less
 * than a few milliseconds for any text.
 */
export function compileFilter(text: string): ContentFilter | FilterProblem {
  if (text.length > filterLengthMax)
    return { at: filterLengthMax + 1, message: `it has more than ${filterLengthMax} characters` };
  try {
    const replacements = checkExpression(grammar.parse(text).ast);
    let evaluated = text;
    for (const { start, end, by } of replacements.toSorted(lastFirst))
      evaluated = evaluated.slice(0, start) + by + evaluated.slice(end);
    const evaluate = language.parse(evaluated);
    const { valid, error } = evaluate.check();
    if (!valid) return shortened({ at: 1, message: mismatch(error) });
    return { judge: (event) => verdictOf(() => evaluate(event) as unknown) };
  } catch (error) {
    return shortened(problemOf(text, error));
  }
}

// A replaced piece comes before a piece that is inserted in front of it.
function lastFirst(a: Replacement, b: Replacement): number {
  return b.start - a.start || b.end - a.end;
}

function verdictOf(evaluate: () => unknown): Verdict {
  try {
    const value = evaluate();
    return value === true ? 'passes' : value === false ? 'stays' : 'undecided';
  } catch {
    // A field that is missing, or a value of another type.
    return 'undecided';
  }
}

function problemOf(text: string, error: unknown): FilterProblem {
  if (error instanceof FilterError) return { at: error.at + 1, message: error.message };
  if (error instanceof ParseError) return explainSyntax(text, error, { nodesMax, depthMax });
  throw error;
}

function mismatch(error: { readonly summary: string } | undefined): string {
  const { summary = 'its parts do not suit each other' } = error ?? {};
  return `${summary.charAt(0).toLowerCase()}${summary.slice(1)}`;
}

// Maximum characters of a name in a message, and of a message.
const namedMax = 60;
const messageMax = 500;

// A message repeats names of the text, which may be one long name.
function shortened({ at, message }: FilterProblem): FilterProblem {
  const named = message.replaceAll(/\w+/g, (name) =>
    name.length > namedMax ? `${name.slice(0, namedMax)}…` : name,
  );
  return { at, message: named.length > messageMax ? `${named.slice(0, messageMax)}…` : named };
}
