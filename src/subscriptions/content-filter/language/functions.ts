import type { ASTNode } from '@marcbachmann/cel-js';
import { searchSteps, spend, type Evaluation } from './budget.ts';
import { compileHas, nearest } from './fields.ts';
import { made, refuse, requireType } from './expression.ts';
import type { Compile, Expression, Scope } from './expression.ts';
import { compileMacro, isMacro, macros } from './macros.ts';
import { toNumber, type Value } from './values.ts';

type OfTwoTexts = (evaluation: Evaluation, text: string, other: string) => boolean;
type OfText = (evaluation: Evaluation, text: string) => string;

const testsOfTexts: Readonly<Record<string, OfTwoTexts>> = {
  startsWith(evaluation, text, other) {
    spend(evaluation, other.length / 16);
    return text.startsWith(other);
  },
  endsWith(evaluation, text, other) {
    spend(evaluation, other.length / 16);
    return text.endsWith(other);
  },
  contains(evaluation, text, other) {
    spend(evaluation, searchSteps(text, other));
    return text.includes(other);
  },
};

const textsOfTexts: Readonly<Record<string, OfText>> = {
  lowerAscii(evaluation, text) {
    spend(evaluation, 2 * text.length);
    return text.toLowerCase();
  },
  upperAscii(evaluation, text) {
    spend(evaluation, 2 * text.length);
    return text.toUpperCase();
  },
};

const methods = [...Object.keys(testsOfTexts), ...Object.keys(textsOfTexts), ...macros, 'size'];
const functions = ['has', 'size', 'double'];

// Parts of the language that filters lack, with the text to write in their place.
const notHere: Readonly<Record<string, string>> = {
  matches:
    'filters have no regular expressions, because a search with one may take any time; use contains, startsWith or endsWith',
  timestamp: 'filters have no times; compare the texts, as in filing.policyEffectiveDate >= "2026-11-01"',
  duration: 'filters have no durations; compare the texts of times',
  int: 'use double(…), or the number itself: 5 equals 5.0 here',
  uint: 'use double(…), or the number itself',
  string: 'filters make no texts; compare the value itself',
  bytes: 'filters have no bytes',
  dyn: 'no dyn() is needed: leave it out',
  type: 'use has(…) to ask for a field, or compare with null',
};

/** `receiver.name(…)`. */
export function compileMethod(
  node: ASTNode,
  [name, receiver, args]: readonly [string, ASTNode, readonly ASTNode[]],
  scope: Scope,
  compile: Compile,
): Expression {
  if (isMacro(name)) return compileMacro(node, name, receiver, args, scope, compile);
  if (name === 'size' && args.length === 0) return compileSize(receiver, scope, compile);
  const test = Object.hasOwn(testsOfTexts, name) ? testsOfTexts[name] : undefined;
  const change = Object.hasOwn(textsOfTexts, name) ? textsOfTexts[name] : undefined;
  if (test === undefined && change === undefined) return refuse(node, unknownFunction(name, methods));
  const text = compile(receiver, scope);
  requireType(receiver, text, ['string'], `${name} is for texts`);
  const [argument, ...others] = args;
  if (test !== undefined) {
    if (argument === undefined || others.length > 0)
      return refuse(node, `${name} takes one text: ${name}("…")`);
    const sought = compile(argument, scope);
    requireType(argument, sought, ['string'], `${name} takes a text: ${name}("…")`);
    return made('bool', [text, sought], (evaluation) => {
      const [value, part] = [text.run(evaluation), sought.run(evaluation)];
      return typeof value === 'string' && typeof part === 'string'
        ? test(evaluation, value, part)
        : undefined;
    });
  }
  if (argument !== undefined) return refuse(node, `${name} takes nothing: ${name}()`);
  return made('string', [text], (evaluation) => {
    const value = text.run(evaluation);
    return typeof value === 'string' ? change?.(evaluation, value) : undefined;
  });
}

/** `name(…)`. */
export function compileCall(
  node: ASTNode,
  [name, args]: readonly [string, readonly ASTNode[]],
  scope: Scope,
  compile: Compile,
): Expression {
  const [argument, ...others] = args;
  if (name === 'has' && others.length === 0) return compileHas(node, args, scope, compile);
  if (!functions.includes(name)) return refuse(node, unknownFunction(name, functions));
  if (argument === undefined || others.length > 0) return refuse(node, `${name}() takes one value`);
  if (name === 'size') return compileSize(argument, scope, compile);
  const operand = compile(argument, scope);
  requireType(
    argument,
    operand,
    ['number', 'string'],
    'double() takes a number, or a text such as "18250.50"',
  );
  return made('number', [operand], (evaluation) => toNumber(evaluation, operand.run(evaluation)));
}

function compileSize(node: ASTNode, scope: Scope, compile: Compile): Expression {
  const operand = compile(node, scope);
  requireType(node, operand, ['string', 'list'], 'size is for texts and lists');
  return made('number', [operand], (evaluation) => sizeOf(evaluation, operand.run(evaluation)));
}

// Of a text the number of its characters (code points), as in other implementations of the language.
function sizeOf(evaluation: Evaluation, value: Value): number | undefined {
  if (Array.isArray(value)) return value.length;
  if (typeof value !== 'string') return undefined;
  spend(evaluation, 5 * value.length);
  let size = 0;
  for (const _ of value) size += 1;
  return size;
}

function unknownFunction(name: string, known: readonly string[]): string {
  if (Object.hasOwn(notHere, name)) return `${name}: ${notHere[name]}`;
  const near = nearest(name, known);
  const hint = near === null ? '.' : `; did you mean ${near}?`;
  return `there is no function ${name.slice(0, 40)}${hint} Known: ${known.join(', ')}`;
}
