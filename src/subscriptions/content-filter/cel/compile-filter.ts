import { ParseError, type ASTNode, type TypeError as CelTypeError } from '@marcbachmann/cel-js';
import { event, eventNames, isOpen, shapeOf } from './event-fields.ts';
import { unknownField, unknownFunction, unknownName } from './event-fields.ts';
import { language, typedLanguage, type Context } from './language.ts';

/** Maximum characters of a filter. */
export const filterLengthMax = 2_000;

// Maximum number of names, values and operators of a filter, of its nesting, and of its functions: each may
// read a long text.
const nodesMax = 500;
const depthMax = 24;
const functionsMax = 20;

const grammar = language.clone({
  limits: { maxAstNodes: nodesMax, maxDepth: depthMax, maxListElements: nodesMax, maxCallArguments: 3 },
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
    const { ast } = grammar.parse(text);
    const { evaluated, places, isKnown } = prepare(ast, text);
    const { type = 'dyn', error } = (isKnown ? typedLanguage : language).check(evaluated);
    if (error !== undefined) return problemOf(text, error, places);
    if (type !== 'bool' && type !== 'dyn')
      refuse(ast, `it gives ${type}, and a filter must be true or false; compare it with a value`);
    const evaluate = language.parse(evaluated);
    return { judge: (context) => verdictOf(() => evaluate(context) as unknown) };
  } catch (error) {
    if (error instanceof ParseError) return problemOf(text, error);
    throw error;
  }
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

function refuse(node: ASTNode, message: string): never {
  throw new ParseError({ code: 'refused', message, node });
}

const functions = ['has', 'size', 'double'];
const methods = ['contains', 'startsWith', 'endsWith', 'lowerAscii', 'upperAscii'];

/**
 * The form that the library gets of an expression, with the place in the text of each of its characters.
 * `isKnown` says that all fields are known. Throws a ParseError about what filters lack.
 */
function prepare(ast: ASTNode, text: string) {
  let [evaluated, done] = ['', 0];
  const places: number[] = [];
  let [isKnown, names, calls] = [true, 0, 0];

  // Pieces are put in the order of the text.
  function put(start: number, end: number, by: string): void {
    evaluated += text.slice(done, start) + by;
    for (; done < start; done += 1) places.push(done);
    places.push(...Array.from(by, () => start));
    done = end;
  }

  function visit(node: ASTNode): void {
    check(node);
    for (const part of partsOf(node).filter((each) => !isIndex(each, node))) {
      const becomesNumber = isMadeNumber(part, node);
      if (becomesNumber) put(part.start, part.start, 'double(');
      visit(part);
      if (becomesNumber) put(part.end, part.end, ')');
    }
  }

  function check(node: ASTNode): void {
    const { op, args } = node;
    if (op === 'value') checkLiteral(node);
    else if (op === 'id') checkName(node, args);
    else if (op === '.') checkField(node, ...args);
    else if (op === '[]') checkField(node, args[0], args[1].args);
    else if (op === 'call') checkCall(node, functions, args[0], args[1][0]);
    else if (op === 'rcall') checkCall(node, methods, args[0], args[2][0]);
    else if (op === '/' || op === '%')
      refuse(node, 'filters do not divide; multiply, as in filing.premium * 0.05 > 500');
    else if (op === 'map') refuse(node, 'filters make no objects; a list is written ["TX", "CA"]');
    else if (op === '+' && args.some((part) => part.op === 'value' && typeof part.args === 'string'))
      refuse(node, '+ is for numbers');
  }

  function checkName(node: ASTNode, name: string): void {
    names += 1;
    if (!Object.hasOwn(eventNames, name)) refuse(node, unknownName(name));
    // The library has a constant of its own with the name `type`.
    if (Object.hasOwn(event, name)) put(node.start, node.start, 'event.');
  }

  function checkCall(node: ASTNode, known: readonly string[], name: string, argument?: ASTNode): void {
    if (!known.includes(name)) refuse(node, unknownFunction(name, known));
    if (name !== 'has') calls += 1;
    else if (argument?.op !== '.') refuse(node, 'has() takes a field, such as has(filing.premium)');
    if (calls > functionsMax) refuse(node, `it has more than ${functionsMax} functions`);
    // A search takes the product of both lengths at worst, so the sought text is part of the filter.
    if (name === 'contains' && argument?.op !== 'value')
      refuse(node, 'contains takes a text in quotes: contains("…")');
  }

  // Numbers of JSON are doubles, and so is each literal.
  function checkLiteral(node: ASTNode): void {
    const { args: value, start, end } = node;
    if (value === null) put(start, end, 'dyn(null)');
    else if (typeof value === 'bigint') {
      if (!Number.isSafeInteger(Number(value)))
        refuse(node, 'the number has too many digits; compare with a text in quotes');
      put(start, end, `${value}.0`);
    } else if (typeof value === 'object')
      refuse(node, 'a value is a number, a text in quotes, true, false, null or a list of these');
  }

  function checkField(node: ASTNode, object: ASTNode, name: unknown): void {
    const fields = shapeOf(object);
    if (typeof name !== 'string' || typeof fields !== 'object' || Object.hasOwn(fields, name)) return;
    isKnown = false;
    if (node.op === '[]' && isOpen(fields)) return;
    const wrong = unknownField(fields, text.slice(object.start, object.end), name);
    if (wrong !== null) refuse(node, wrong);
  }

  visit(ast);
  if (names === 0) refuse(ast, 'it is the same for every event, so it selects nothing');
  put(text.length, text.length, '');
  return { evaluated, places, isKnown };
}

// Whether a part is the number of an item, which stays whole.
function isIndex(part: ASTNode, { op, args }: ASTNode): boolean {
  return op === '[]' && part === args[1] && part.op === 'value' && typeof part.args === 'bigint';
}

// Whether a part counts as a double: sizes, which are whole in the library, and what may be a decimal text in
// a sum, in which the library would join two texts, or beside a list of numbers.
function isMadeNumber(part: ASTNode, { op, args }: ASTNode): boolean {
  if (part.op === 'call' && part.args[0] === 'size') return true;
  if (op === '+') return part === args[0] && !'+-*'.includes(part.op);
  return op === 'in' && part === args[0] && beginsWithNumber(args[1]) && shapeOf(part) !== 'string';
}

function beginsWithNumber(node: ASTNode): boolean {
  const [first] = node.op === 'list' ? node.args : [];
  return first?.op === '-_' || (first?.op === 'value' && /bigint|number/.test(typeof first.args));
}

function partsOf({ args }: ASTNode): ASTNode[] {
  return [args as unknown].flat(2).filter(isNode);
}

function isNode(part: unknown): part is ASTNode {
  return typeof part === 'object' && part !== null && 'op' in part;
}

// Operators of other languages, with those of this one.
const elsewhere = new Map(
  Object.entries({ and: '&&', or: '||', not: '!', in: 'in', is: '==', '=': '==', '&': '&&', '|': '||' }),
);

// Maximum characters of a name in a message, and of a message: it repeats names of the text.
const longName = /(?<name>\w{60})\w+/g;
const messageMax = 500;

// A finding of the library; `places` are those of a prepared text.
function problemOf(
  text: string,
  { code, summary, range }: ParseError | CelTypeError,
  places?: readonly number[],
): FilterProblem {
  const found = range?.start ?? 0;
  const start = places?.[found] ?? found;
  const message = explained(code, summary, text.slice(start));
  return { at: start + 1, message: message.replaceAll(longName, '$<name>…').slice(0, messageMax) };
}

/** What is wrong `here`, at the rest of the text, in words for its author. */
function explained(code: string, summary: string, here: string): string {
  if (code === 'refused') return summary;
  if (code === 'limit_exceeded')
    return `a filter has at most ${nodesMax} names, values and operators, and ${depthMax} levels`;
  if (here.trim() === '') return 'it ends before a value or a closing bracket';
  const [word = ''] = /^(?:\w+|[=&|])/.exec(here) ?? [];
  const meant = elsewhere.get(word.toLowerCase());
  if (/^(?:un)?expected/.test(code))
    return meant === undefined
      ? `${JSON.stringify(here.slice(0, 12))} is not expected here`
      : `write ${meant} for ${word}`;
  const words = summary.replace('no such overload', 'these do not go together').replaceAll('$', '');
  return `${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}
