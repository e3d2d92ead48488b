import { Environment, ParseError, type ASTNode } from '@marcbachmann/cel-js';
import { outOfSteps, stepsMax, type Evaluation } from './budget.ts';
import { constant, FilterError, inWords, refuse } from './expression.ts';
import type { Compile, Expression } from './expression.ts';
import { compileField, compileIndex, compileName } from './fields.ts';
import { compileCall, compileMethod } from './functions.ts';
import {
  compileArithmetic,
  compileChoice,
  compileEquality,
  compileList,
  compileLogic,
  compileMembership,
  compileMinus,
  compileNot,
  compileOrder,
} from './operators.ts';
import { explainSyntax } from './syntax-errors.ts';

/** Maximum characters of a filter. */
export const filterLengthMax = 2_000;

/** Maximum nodes of the syntax of a filter, and of its nesting. */
const nodesMax = 500;
const depthMax = 24;

/** A verdict on an event; `undecided` ones pass. */
export type Verdict = 'passes' | 'stays' | 'undecided';

/** A compiled filter. */
export interface ContentFilter {
  /** Judges an event as it was parsed from its body, in less than a millisecond. Pure. */
  judge(event: unknown): Verdict;
}

/** What is wrong with a filter; `at` is the position of the first character to blame, from 1. */
export interface FilterProblem {
  readonly at: number;
  readonly message: string;
}

// Only its parser is used: docs/adr/0027-filters-are-a-bounded-part-of-cel.md.
const language = new Environment({
  limits: {
    maxAstNodes: nodesMax,
    maxDepth: depthMax,
    maxListElements: nodesMax,
    maxMapEntries: 1,
    maxCallArguments: 3,
  },
});

/**
 * Compiles a filter (docs/endpoints/filters.md), or returns what is wrong with it. Never throws. Takes less
 * than a few milliseconds for any text.
 */
export function compileFilter(text: string): ContentFilter | FilterProblem {
  if (text.length > filterLengthMax)
    return { at: filterLengthMax + 1, message: `it has more than ${filterLengthMax} characters` };
  try {
    const { ast } = language.parse(text);
    return toFilter(compileWhole(ast));
  } catch (error) {
    return shortened(problemOf(text, error));
  }
}

function problemOf(text: string, error: unknown): FilterProblem {
  if (error instanceof FilterError) return { at: error.at + 1, message: error.message };
  if (error instanceof ParseError) return explainSyntax(text, error, { nodesMax, depthMax });
  throw error;
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

function compileWhole(ast: ASTNode): Expression {
  const expression = compileNode(ast, new Map());
  const { type, path } = expression;
  if (type === 'bool' || (type === 'unknown' && !expression.isConstant)) {
    if (expression.isConstant) return refuse(ast, 'it is the same for every event, so it selects nothing');
    return expression;
  }
  const what = path === null ? `it gives ${inWords(expression)}` : `${path} is ${inWords(expression)}`;
  return refuse(ast, `${what}, and a filter must be true or false; compare it with a value`);
}

function toFilter({ run }: Expression): ContentFilter {
  const bound: unknown[] = [];
  function judge(event: unknown): Verdict {
    const evaluation: Evaluation = { event, bound, steps: stepsMax };
    try {
      const value = run(evaluation);
      return value === true ? 'passes' : value === false ? 'stays' : 'undecided';
    } catch (error) {
      if (error === outOfSteps) return 'undecided';
      throw error;
    } finally {
      // Holds no part of an event that may be large.
      bound.length = 0;
    }
  }
  return { judge };
}

const compileNode: Compile = (node, scope): Expression => {
  switch (node.op) {
    case 'value':
      return compileLiteral(node);
    case 'id':
      return compileName(node, node.args, scope);
    case '.':
      return compileField(node, node.args[0], node.args[1], scope, compileNode);
    case '[]':
      return compileIndex(node.args[0], node.args[1], scope, compileNode);
    case 'call':
      return compileCall(node, node.args, scope, compileNode);
    case 'rcall':
      return compileMethod(node, node.args, scope, compileNode);
    case 'list':
      return compileList(node.args, scope, compileNode);
    case '?:':
      return compileChoice(node.args, scope, compileNode);
    case '&&':
    case '||':
      return compileLogic(node.args, node.op === '||', scope, compileNode);
    case '!_':
      return compileNot(node.args, scope, compileNode);
    case '-_':
      return compileMinus(node.args, scope, compileNode);
    case '==':
    case '!=':
      return compileEquality(node.args, node.op === '==', scope, compileNode);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return compileOrder(node.args, node.op, scope, compileNode);
    case 'in':
      return compileMembership(node.args, scope, compileNode);
    case '+':
    case '-':
    case '*':
      return compileArithmetic(node.args, node.op, scope, compileNode);
    case '/':
    case '%':
      return refuse(node, `${node.op} is not part of filters; multiply, as in filing.premium * 0.05 > 500`);
    case 'map':
      return refuse(node, 'filters make no objects; a list is written ["TX", "CA"]');
    case '.?':
    case '[?]':
      return refuse(node, 'filters have no optional fields; ask with has(…)');
  }
};

function compileLiteral(node: ASTNode & { readonly op: 'value' }): Expression {
  const { args: value } = node;
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number)
      ? constant(number)
      : refuse(node, 'the number has too many digits; compare with a text in quotes');
  }
  if (value === null || typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean')
    return constant(value);
  return refuse(node, 'a value is a number, a text in quotes, true, false, null or a list of these');
}
