import type { ASTNode } from '@marcbachmann/cel-js';
import { decimalOf } from './decimal.ts';
import { eventNames, type Shape } from './event-fields.ts';
import { unknownField, unknownFunction, unknownName } from './names.ts';

type Type = 'bool' | 'number' | 'string' | 'null' | 'list' | 'map' | 'unknown';

/** What is known of a part of an expression before any event is seen. */
interface Known {
  readonly type: Type;
  /** What is known of its fields or items. */
  readonly shape?: Shape;
  /** The type of the items of a list that the filter holds. */
  readonly items?: Type;
  /** Its path from a name of the event, such as `data.status`. An event may hold another type there. */
  readonly path?: string;
}

/** A piece of the text that the evaluator gets in another form. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

/** An expression cannot be a filter; `at` is the position of the first character to blame, from 0. */
export class FilterError extends Error {
  override readonly name = 'FilterError';
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** The name under which the evaluator gets `type`, which is a constant of the language. */
export const typeName = 'eventType';

// Maximum number of functions in a filter: each may read a long text.
const functionsMax = 20;

const words: Readonly<Record<Type, string>> = {
  bool: 'true or false',
  number: 'a number',
  string: 'a text',
  null: 'null',
  list: 'a list',
  map: 'an object',
  unknown: 'a value',
};
const anyType: readonly Type[] = Object.keys(words) as Type[];
const numbers: readonly Type[] = ['number', 'string'];
const comparison = 'compare it, as in filing.premium > 10000';

/**
 * Checks an expression as far as the fields of events are known. Returns what the evaluator gets in another
 * form. Throws a FilterError.
 */
export function checkExpression(ast: ASTNode): Replacement[] {
  const replacements: Replacement[] = [];
  let [names, calls] = [0, 0];

  function check(node: ASTNode, takes: readonly Type[] = anyType, advice = ''): Known {
    const known = knownOf(node);
    if (known.type === 'unknown' || takes.includes(known.type)) return known;
    return refuse(node, `${known.path ?? 'this'} is ${words[known.type]}; ${advice}`);
  }

  function wrap({ start, end }: ASTNode, call: string): void {
    replacements.push({ start, end: start, by: call }, { start: end, end, by: ')' });
  }

  function knownOf(node: ASTNode): Known {
    switch (node.op) {
      case 'value':
        return literal(node);
      case 'id':
        names += 1;
        if (node.args === 'type') replacements.push({ ...node.range, by: typeName });
        if (!Object.hasOwn(eventNames, node.args)) return refuse(node, unknownName(node.args));
        return described(eventNames[node.args as keyof typeof eventNames], node.args);
      case '.':
        return fieldOf(node, check(node.args[0], ['map'], 'it has no fields'), node.args[1]);
      case '[]':
        return itemOf(...node.args);
      case 'list':
        return listOf(node.args);
      case '!_':
        check(node.args, ['bool'], comparison);
        return { type: 'bool' };
      case '&&':
      case '||':
        for (const side of node.args) check(side, ['bool'], comparison);
        return { type: 'bool' };
      case '?:':
        return choiceOf(...node.args);
      case '-_':
        check(node.args, numbers, '- is for numbers');
        return { type: 'number' };
      case '+':
      case '-':
      case '*':
        return sumOf(node, node.args);
      case '==':
      case '!=':
        return compared(...node.args, true, '');
      case '<':
      case '<=':
      case '>':
      case '>=':
        return compared(...node.args, false, `${node.op} compares numbers or texts`);
      case 'in':
        return membership(...node.args);
      case 'call':
        return callOf(node, ...node.args);
      case 'rcall':
        return methodOf(node, ...node.args);
      case '/':
      case '%':
        return refuse(node, `${node.op} is not part of filters; multiply, as in filing.premium * 0.05 > 500`);
      case 'map':
        return refuse(node, 'filters make no objects; a list is written ["TX", "CA"]');
      case '.?':
      case '[?]':
        return refuse(node, 'filters have no optional fields; ask with has(…)');
    }
  }

  // Numbers of JSON are doubles, and so is each literal.
  function literal(node: ASTNode & { readonly op: 'value' }): Known {
    const { args: value, range } = node;
    if (typeof value === 'bigint') {
      if (!Number.isSafeInteger(Number(value)))
        refuse(node, 'the number has too many digits; compare with a text in quotes');
      replacements.push({ ...range, by: `${value}.0` });
      return { type: 'number' };
    }
    if (value === null) return { type: 'null' };
    if (typeof value === 'boolean') return { type: 'bool' };
    if (typeof value === 'number') return { type: 'number' };
    if (typeof value === 'string') return { type: 'string' };
    return refuse(node, 'a value is a number, a text in quotes, true, false, null or a list of these');
  }

  function itemOf(object: ASTNode, index: ASTNode): Known {
    const { type, shape, path } = check(object, ['map', 'list'], 'only objects and lists take […]');
    if (type === 'list') check(index, ['number'], 'an item has a number');
    else if (type === 'map') check(index, ['string'], 'a field has a name in quotes');
    else check(index, numbers, 'an index is a number, or the name of a field in quotes');
    return Array.isArray(shape) ? described(shape[0] as Shape, `${path}[…]`) : { type: 'unknown' };
  }

  function listOf(items: readonly ASTNode[]): Known {
    const types = items.map(
      (item) => check(item, ['bool', 'number', 'string', 'null'], 'a list holds single values').type,
    );
    const [first = 'unknown'] = types;
    return { type: 'list', items: types.every((type) => type === first) ? first : 'unknown' };
  }

  function membership(item: ASTNode, list: ASTNode): Known {
    const { type } = check(item);
    const advice = 'behind `in` there is a list, as in data.status in ["PAID", "PENDING"]';
    const { items = 'unknown' } = check(list, ['list', 'map'], advice);
    if (new Set([type, items, 'unknown', 'null']).size > 3)
      refuse(list, `${words[type]} is looked for in a list that has ${words[items]}`);
    if (items === 'number') wrap(list, 'numbers(');
    return { type: 'bool' };
  }

  function choiceOf(condition: ASTNode, one: ASTNode, other: ASTNode): Known {
    check(condition, ['bool'], comparison);
    const [a, b] = [check(one), check(other)];
    return { type: a.type === b.type && a.path === undefined && b.path === undefined ? a.type : 'unknown' };
  }

  function sumOf(node: ASTNode, [left, right]: readonly [ASTNode, ASTNode]): Known {
    const known = [left, right].map((side) => check(side, numbers, `${node.op} is for numbers`));
    for (const side of [left, right])
      if (side.op === 'value' && decimalOf(String(side.args)) === undefined)
        refuse(side, `${node.op} is for numbers`);
    // Two texts or two lists would be joined. One side is a number, whatever the event is.
    const isSure = known.some(({ type, path }) => type === 'number' && path === undefined);
    if (node.op === '+' && !isSure) wrap(left, 'double(');
    return { type: 'number' };
  }

  function compared(left: ASTNode, right: ASTNode, isEquality: boolean, advice: string): Known {
    const takes = isEquality ? anyType : numbers;
    const types = [check(left, takes, advice).type, check(right, takes, advice).type];
    const [a = 'unknown', b = 'unknown'] = types;
    if (types.includes('map') && !types.includes('null'))
      refuse(
        right,
        'objects are not compared; compare their fields, as in filing.filingState.stateAbbr == "TX"',
      );
    if (a === b || types.includes('unknown') || types.includes('null')) return { type: 'bool' };
    // A text in the event may be a number in quotes, but the author knows what a constant is.
    const text = a === 'string' ? left : right;
    const mayBeNumber = text.op !== 'value' || decimalOf(String(text.args)) !== undefined;
    if (types.includes('number') && types.includes('string') && mayBeNumber) return { type: 'bool' };
    return refuse(right, `${words[a]} is compared with ${words[b]}`);
  }

  function callOf(node: ASTNode, name: string, args: readonly ASTNode[]): Known {
    const [argument, ...others] = args;
    if (!['has', 'size', 'double'].includes(name))
      return refuse(node, unknownFunction(name, ['has', 'size', 'double']));
    if (argument === undefined || others.length > 0) return refuse(node, `${name}() takes one value`);
    if (name === 'has') {
      check(argument);
      if (argument.op !== '.') return refuse(node, 'has() takes a field, such as has(filing.premium)');
      const [object, field] = argument.args;
      replacements.push({ start: node.start, end: object.start, by: 'hasField(' });
      replacements.push({ start: object.end, end: node.end, by: `, "${field}")` });
      return { type: 'bool' };
    }
    count(node);
    if (name === 'double') {
      check(argument, numbers, 'double() takes a number, or a text such as "18250.50"');
      return { type: 'number' };
    }
    check(argument, ['string', 'list'], 'size is for texts and lists');
    // The size of the library is no double.
    wrap(node, 'double(');
    return { type: 'number' };
  }

  function methodOf(node: ASTNode, name: string, receiver: ASTNode, args: readonly ASTNode[]): Known {
    const tests = ['contains', 'startsWith', 'endsWith'];
    const changes = ['lowerAscii', 'upperAscii'];
    if (![...tests, ...changes].includes(name))
      return refuse(node, unknownFunction(name, [...tests, ...changes]));
    count(node);
    check(receiver, ['string'], `${name} is for texts`);
    const [argument, ...others] = args;
    if (changes.includes(name))
      return argument === undefined ? { type: 'string' } : refuse(node, `${name} takes nothing: ${name}()`);
    if (argument === undefined || others.length > 0)
      return refuse(node, `${name} takes one text: ${name}("…")`);
    check(argument, ['string'], `${name} takes a text: ${name}("…")`);
    // A search takes the product of both lengths at worst, so the sought text is part of the filter.
    if (name === 'contains' && argument.op !== 'value')
      refuse(argument, 'contains takes a text in quotes: contains("…")');
    return { type: 'bool' };
  }

  function count(node: ASTNode): void {
    calls += 1;
    if (calls > functionsMax) refuse(node, `it has more than ${functionsMax} functions`);
  }

  const { type, path } = check(ast);
  if (names === 0) refuse(ast, 'it is the same for every event, so it selects nothing');
  if (type === 'bool' || type === 'unknown') return replacements;
  const what = path === undefined ? 'it gives' : `${path} is`;
  return refuse(ast, `${what} ${words[type]}, and a filter must be true or false; compare it with a value`);
}

function refuse(node: ASTNode, message: string): never {
  throw new FilterError(message, node.pos);
}

// An object that may be null is an object.
function described(shape: Shape, path: string): Known {
  const type = typeof shape === 'string' ? shape : Array.isArray(shape) ? 'list' : 'map';
  return { type, shape, path };
}

function fieldOf(node: ASTNode, { shape, path = 'the object' }: Known, name: string): Known {
  if (shape === undefined || typeof shape === 'string' || Array.isArray(shape)) return { type: 'unknown' };
  const fields = shape as Readonly<Record<string, Shape>>;
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field !== undefined) return described(field, `${path}.${name}`);
  const problem = unknownField(fields, path, name);
  return problem === null ? { type: 'unknown' } : refuse(node, problem);
}
