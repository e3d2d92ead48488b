import type { ASTNode } from '@marcbachmann/cel-js';
import { distance } from 'fastest-levenshtein';
import { eventNames, isOpen, pathsByName, type Shape } from './event-fields.ts';
import { refuse, requireType, typeOf } from './expression.ts';
import type { Compile, Expression, Scope } from './expression.ts';
import { isMap, memberOf, type Value } from './values.ts';

// Maximum characters of a name for which a similar one is looked for.
const comparedMax = 64;

const names = Object.keys(eventNames);
const paths = pathsByName();

/** A name: the event, a member of it, `filing`, or a variable of a macro. */
export function compileName(node: ASTNode, name: string, scope: Scope): Expression {
  const variable = scope.get(name);
  const leaf = { nodes: 1, isConstant: false };
  if (variable !== undefined) {
    const { slot, shape } = variable;
    const run: Expression['run'] = ({ bound }) => bound[slot];
    return { ...leaf, type: typeOf(shape), shape, path: name, run };
  }
  if (!Object.hasOwn(eventNames, name)) return refuse(node, unknownName(name));
  const shape = eventNames[name as keyof typeof eventNames];
  return { ...leaf, type: typeOf(shape), shape, path: name, run: readers[name as keyof typeof eventNames] };
}

const readers: Readonly<Record<keyof typeof eventNames, Expression['run']>> = {
  event: ({ event }) => event,
  type: ({ event }) => memberOf(event, 'type'),
  timestamp: ({ event }) => memberOf(event, 'timestamp'),
  data: ({ event }) => memberOf(event, 'data'),
  filing: ({ event }) => memberOf(memberOf(event, 'data'), 'filing'),
};

/** `object.name`. Refuses names that no event has; a filing may have fields that are not known. */
export function compileField(
  node: ASTNode,
  object: ASTNode,
  name: string,
  scope: Scope,
  compile: Compile,
): Expression {
  const from = compile(object, scope);
  requireType(node, from, ['map'], 'it has no fields');
  const shape = fieldOf(node, from, name);
  const { run } = from;
  return {
    type: typeOf(shape),
    shape,
    nodes: from.nodes + 1,
    isConstant: false,
    path: from.path === null ? null : `${from.path}.${name}`,
    run: (evaluation) => {
      const value = run(evaluation);
      return isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    },
  };
}

/** `object["name"]` or `list[0]`; what follows is not compared with the known fields. */
export function compileIndex(object: ASTNode, index: ASTNode, scope: Scope, compile: Compile): Expression {
  const [from, key] = [compile(object, scope), compile(index, scope)];
  requireType(object, from, ['map', 'list'], 'only objects and lists take […]');
  requireType(index, key, ['number', 'string'], 'an index is a number, or the name of a field in quotes');
  const wanted = from.type === 'list' ? 'number' : from.type === 'map' ? 'string' : key.type;
  requireType(
    index,
    key,
    [wanted],
    wanted === 'number' ? 'an item has a number' : 'a field has a name in quotes',
  );
  const shape = Array.isArray(from.shape) ? (from.shape as readonly [Shape])[0] : null;
  const run: Expression['run'] = (evaluation) => memberOf(from.run(evaluation), key.run(evaluation));
  return {
    type: typeOf(shape),
    shape,
    nodes: from.nodes + key.nodes + 1,
    isConstant: false,
    path: null,
    run,
  };
}

/** `has(object.name)`: whether the object has the field. It cannot be decided where the object is missing. */
export function compileHas(
  node: ASTNode,
  args: readonly ASTNode[],
  scope: Scope,
  compile: Compile,
): Expression {
  const [field] = args;
  if (field?.op !== '.') return refuse(node, 'has() takes a field, such as has(filing.premium)');
  const [object, name] = field.args;
  // Refuses wrong names.
  const { nodes } = compileField(field, object, name, scope, compile);
  const { run } = compile(object, scope);
  const test = (value: Value) => (isMap(value) ? Object.hasOwn(value, name) : undefined);
  return {
    type: 'bool',
    shape: null,
    nodes: nodes + 1,
    isConstant: false,
    path: null,
    run: (evaluation) => test(run(evaluation)),
  };
}

function fieldOf(node: ASTNode, { shape, path }: Expression, name: string): Shape | null {
  if (shape === null || typeof shape === 'string' || Array.isArray(shape)) return null;
  const fields = shape as Readonly<Record<string, Shape>>;
  if (Object.hasOwn(fields, name)) return fields[name] ?? null;
  const object = path ?? 'the object';
  const known = Object.keys(fields);
  const near = nearest(name, known);
  const ownPath = near === null ? null : `${object}.${near}`;
  const elsewhere = paths
    .get(name)
    ?.replace(/^filing\b/, object.startsWith('data') ? 'data.filing' : 'filing');
  if (!isOpen(shape)) {
    const meant = ownPath ?? elsewhere;
    const hint = meant === undefined ? '.' : `; did you mean ${meant}?`;
    return refuse(node, `${object} has no field ${name}${hint} Known: ${known.join(', ')}`);
  }
  const ofFiling = shape === eventNames.filing && elsewhere?.includes('filing.') === true ? elsewhere : null;
  const meant = ofFiling ?? ownPath;
  if (meant === null) return null;
  const anyway = `write ${object}["${name}"] if the partner service really sends that`;
  return refuse(node, `${object} has no known field ${name}; did you mean ${meant}? Otherwise ${anyway}`);
}

function unknownName(name: string): string {
  const near =
    paths.get(name) ?? nearest(name, names) ?? paths.get(nearest(name, [...paths.keys()]) ?? '') ?? null;
  const hint = near === null ? '.' : `; did you mean ${near}?`;
  return `${name.slice(0, comparedMax)} is not known${hint} A path begins with one of ${names.join(', ')}`;
}

/** The known word that another one is likely meant to be; null where none is near. */
export function nearest(word: string, known: readonly string[]): string | null {
  if (word.length > comparedMax) return null;
  const plain = word.toLowerCase();
  const room = Math.min(3, Math.floor(plain.length / 3));
  let best: { readonly name: string; readonly differing: number } | null = null;
  for (const name of known) {
    const differing = distance(plain, name.toLowerCase());
    if (differing <= room && differing < (best?.differing ?? Infinity)) best = { name, differing };
  }
  return best?.name ?? null;
}
