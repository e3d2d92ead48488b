import type { ASTNode } from '@marcbachmann/cel-js';
import { foldedStepsMax, outOfSteps, spend, type Evaluation } from './budget.ts';
import { inWords, made, refuse, requireType } from './expression.ts';
import type { Compile, Expression, Scope } from './expression.ts';
import { areEqual, isMap, order, toNumber, type Value } from './values.ts';

const comparison = 'compare it, as in filing.premium > 10000';

/**
 * `a && b` and `a || b`: one side may decide alone, whichever it is, even if the other cannot be decided.
 * `decisive` is the value that does.
 */
export function compileLogic(
  nodes: readonly [ASTNode, ASTNode],
  decisive: boolean,
  scope: Scope,
  compile: Compile,
): Expression {
  const [a, b] = [compile(nodes[0], scope), compile(nodes[1], scope)];
  requireType(nodes[0], a, ['bool'], comparison);
  requireType(nodes[1], b, ['bool'], comparison);
  return made('bool', [a, b], (evaluation) => {
    const left = a.run(evaluation);
    if (left === decisive) return decisive;
    const right = b.run(evaluation);
    if (right === decisive) return decisive;
    return left === !decisive && right === !decisive ? !decisive : undefined;
  });
}

/** `!a`. */
export function compileNot(node: ASTNode, scope: Scope, compile: Compile): Expression {
  const operand = compile(node, scope);
  requireType(node, operand, ['bool'], comparison);
  return made('bool', [operand], (evaluation) => {
    const value = operand.run(evaluation);
    return typeof value === 'boolean' ? !value : undefined;
  });
}

/** `condition ? a : b`. */
export function compileChoice(
  nodes: readonly [ASTNode, ASTNode, ASTNode],
  scope: Scope,
  compile: Compile,
): Expression {
  const [condition, a, b] = [compile(nodes[0], scope), compile(nodes[1], scope), compile(nodes[2], scope)];
  requireType(nodes[0], condition, ['bool'], comparison);
  const type = a.type === b.type ? a.type : 'unknown';
  return made(type, [condition, a, b], (evaluation) => {
    const chosen = condition.run(evaluation);
    if (chosen === true) return a.run(evaluation);
    return chosen === false ? b.run(evaluation) : undefined;
  });
}

/** `a == b`, and `a != b` where `expected` is false. */
export function compileEquality(
  nodes: readonly [ASTNode, ASTNode],
  expected: boolean,
  scope: Scope,
  compile: Compile,
): Expression {
  const [a, b] = [compile(nodes[0], scope), compile(nodes[1], scope)];
  requireComparable(nodes[1], a, b, true);
  return made('bool', [a, b], (evaluation) => {
    const [left, right] = [a.run(evaluation), b.run(evaluation)];
    if (left === undefined || right === undefined) return undefined;
    const equal = areEqual(evaluation, left, right);
    return equal === undefined ? undefined : equal === expected;
  });
}

const holds: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (result) => result < 0,
  '<=': (result) => result <= 0,
  '>': (result) => result > 0,
  '>=': (result) => result >= 0,
};

/** `a < b`, `a <= b`, `a > b` and `a >= b` of numbers or of texts. */
export function compileOrder(
  nodes: readonly [ASTNode, ASTNode],
  operator: string,
  scope: Scope,
  compile: Compile,
): Expression {
  const [a, b] = [compile(nodes[0], scope), compile(nodes[1], scope)];
  for (const [i, operand] of [a, b].entries())
    requireType(nodes[i] ?? nodes[0], operand, ['number', 'string'], `${operator} compares numbers or texts`);
  requireComparable(nodes[1], a, b, false);
  const isSo = holds[operator] ?? (() => false);
  return made('bool', [a, b], (evaluation) => {
    const [left, right] = [a.run(evaluation), b.run(evaluation)];
    const result = order(evaluation, left, right);
    return result === undefined ? undefined : isSo(result);
  });
}

/** `a in b`: an item of a list, or a field of an object. */
export function compileMembership(
  nodes: readonly [ASTNode, ASTNode],
  scope: Scope,
  compile: Compile,
): Expression {
  const [a, b] = [compile(nodes[0], scope), compile(nodes[1], scope)];
  const advice = 'behind `in` there is a list, as in data.status in ["PAID", "PENDING"]';
  requireType(nodes[1], b, ['list', 'map'], advice);
  return made('bool', [a, b], (evaluation) => {
    const [item, list] = [a.run(evaluation), b.run(evaluation)];
    if (item === undefined) return undefined;
    if (Array.isArray(list)) return isAmong(evaluation, item, list);
    return isMap(list) && typeof item === 'string' ? Object.hasOwn(list, item) : undefined;
  });
}

function isAmong(evaluation: Evaluation, item: Value, list: readonly Value[]): boolean | undefined {
  let isDecided = true;
  for (const one of list) {
    const equal = areEqual(evaluation, item, one);
    if (equal === true) return true;
    if (equal === undefined) isDecided = false;
  }
  return isDecided ? false : undefined;
}

const sums: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
};

/** `a + b`, `a - b` and `a * b` of numbers. */
export function compileArithmetic(
  nodes: readonly [ASTNode, ASTNode],
  operator: string,
  scope: Scope,
  compile: Compile,
): Expression {
  const [a, b] = [compile(nodes[0], scope), compile(nodes[1], scope)];
  for (const [i, operand] of [a, b].entries())
    requireType(nodes[i] ?? nodes[0], operand, ['number'], `${operator} is for numbers`);
  const calculate = sums[operator] ?? (() => Number.NaN);
  return made('number', [a, b], (evaluation) => {
    const left = toNumber(evaluation, a.run(evaluation));
    const right = toNumber(evaluation, b.run(evaluation));
    return left === undefined || right === undefined ? undefined : finite(calculate(left, right));
  });
}

/** `-a`. */
export function compileMinus(node: ASTNode, scope: Scope, compile: Compile): Expression {
  const operand = compile(node, scope);
  requireType(node, operand, ['number'], '- is for numbers');
  return made('number', [operand], (evaluation) => {
    const value = toNumber(evaluation, operand.run(evaluation));
    return value === undefined ? undefined : -value;
  });
}

/** `[a, b]`. A constant one is made once, unless that takes long: it would then take much memory, too. */
export function compileList(nodes: readonly ASTNode[], scope: Scope, compile: Compile): Expression {
  const items = nodes.map((node) => compile(node, scope));
  const folded = constantValues(items);
  if (folded !== null) return made('list', items, () => folded);
  return made('list', items, (evaluation) => {
    spend(evaluation, items.length);
    const values: Value[] = [];
    for (const item of items) {
      const value = item.run(evaluation);
      if (value === undefined) return undefined;
      values.push(value);
    }
    return values;
  });
}

// Values that are never equal, or have no order, are a slip of the author.
function requireComparable(node: ASTNode, a: Expression, b: Expression, nullToo: boolean): void {
  const types = new Set([a.type, b.type]);
  if (types.has('map') && !types.has('null'))
    refuse(
      node,
      'objects are not compared; compare their fields, as in filing.filingState.stateAbbr == "TX"',
    );
  if (a.type === b.type || types.has('unknown') || (nullToo && types.has('null'))) return;
  const isNumberAndText = types.has('number') && types.has('string');
  const constantText = [a, b].find(({ type, isConstant }) => isConstant && type === 'string');
  // A text in the event may be a number in quotes, but the author knows what a constant is.
  const [text] = constantText === undefined ? [] : (constantValues([constantText]) ?? []);
  const mayBeNumber = text === undefined || toNumber(noEvent(), text) !== undefined;
  if (isNumberAndText && mayBeNumber) return;
  refuse(node, `${inWords(a)} is compared with ${inWords(b)}`);
}

// The values of constants; null where one is none, or where they take too many steps together.
function constantValues(expressions: readonly Expression[]): readonly Value[] | null {
  if (!expressions.every(({ isConstant }) => isConstant)) return null;
  const evaluation = noEvent();
  try {
    return expressions.map(({ run }) => run(evaluation));
  } catch (error) {
    if (error === outOfSteps) return null;
    throw error;
  }
}

// For what is the same for every event.
function noEvent(): Evaluation {
  return { event: null, bound: [], steps: foldedStepsMax };
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}
