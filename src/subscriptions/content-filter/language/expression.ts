import type { ASTNode } from '@marcbachmann/cel-js';
import type { Evaluation } from './budget.ts';
import type { Shape } from './event-fields.ts';
import type { Value } from './values.ts';

/** What is known of the values of an expression before any event is seen. */
export type StaticType = 'bool' | 'number' | 'string' | 'null' | 'list' | 'map' | 'unknown';

/** A compiled expression. */
export interface Expression {
  readonly type: StaticType;
  /** What is known of its fields or items; null where nothing is. */
  readonly shape: Shape | null;
  /** Number of nodes of its syntax: the steps that an evaluation of it takes, macros and texts apart. */
  readonly nodes: number;
  /** Whether it is the same for every event. */
  readonly isConstant: boolean;
  /** Its path from a name of the event, such as `data.status`; null for anything else. */
  readonly path: string | null;
  /** Undefined where it cannot be decided. Throws `outOfSteps`. */
  readonly run: (evaluation: Evaluation) => Value;
}

/** An expression cannot be a filter; `at` is the position of the first character that is to blame. */
export class FilterError extends Error {
  override readonly name = 'FilterError';
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** The error at a node. */
export function refuse(node: Pick<ASTNode, 'pos'>, message: string): never {
  throw new FilterError(message, node.pos);
}

/** The names of variables that a macro has bound, with what is known of their values. */
export type Scope = ReadonlyMap<string, { readonly slot: number; readonly shape: Shape | null }>;

/** Compiles a node; each file of this folder compiles some kinds, and the others through this. */
export type Compile = (node: ASTNode, scope: Scope) => Expression;

/** A constant. */
export function constant(value: Value, nodes = 1): Expression {
  return { type: typeOfValue(value), shape: null, nodes, isConstant: true, path: null, run: () => value };
}

/** The result of an operator or a function on its operands. */
export function made(
  type: StaticType,
  operands: readonly Expression[],
  run: Expression['run'],
  shape: Shape | null = null,
): Expression {
  const nodes = 1 + operands.reduce((sum, operand) => sum + operand.nodes, 0);
  const isConstant = operands.every((operand) => operand.isConstant);
  return { type, shape, nodes, isConstant, path: null, run };
}

/** The type of what a shape describes; an object that may be null is an object. */
export function typeOf(shape: Shape | null): StaticType {
  if (shape === null) return 'unknown';
  if (typeof shape === 'string') return shape;
  return Array.isArray(shape) ? 'list' : 'map';
}

function typeOfValue(value: Value): StaticType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'number' ? 'number' : 'string';
}

const words: Readonly<Record<StaticType, string>> = {
  bool: 'true or false',
  number: 'a number',
  string: 'a text',
  null: 'null',
  list: 'a list',
  map: 'an object',
  unknown: 'a value',
};

/** A type in words. */
export function inWords({ type }: Pick<Expression, 'type'>): string {
  return words[type];
}

/** Refuses an operand that is of none of these types, as far as that is known. */
export function requireType(
  node: ASTNode,
  operand: Expression,
  types: readonly StaticType[],
  advice: string,
): void {
  if (operand.type === 'unknown' || types.includes(operand.type)) return;
  refuse(node, `${operand.path ?? 'this'} is ${inWords(operand)}; ${advice}`);
}
