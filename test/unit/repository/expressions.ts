import { parseAst } from 'vitest/node';

/** A regular expression of a source. */
export interface Expression {
  readonly path: string;
  readonly line: number;
  readonly source: string;
  readonly flags: string;
}

/** The expressions of some sources, and the places of those that are put together when the code runs. */
export interface Expressions {
  readonly found: readonly Expression[];
  readonly unknown: readonly string[];
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

const searches = new Set(['match', 'matchAll', 'search']);

/**
 * Every regular expression of the sources, by path: literals, `RegExp` of a text, the `pattern` of a schema,
 * and texts with which `match`, `matchAll` and `search` are called. A constant stands for its text.
 */
export function expressionsOf(sources: ReadonlyMap<string, string>): Expressions {
  const trees = [...sources].map(([path, text]) => [path, text, parse(path, text)] as const);
  const constants = new Map(trees.flatMap(([, , tree]) => nodesOf(tree).flatMap(constantOf)));
  const found: Expression[] = [];
  const unknown: string[] = [];
  for (const [path, text, tree] of trees) {
    for (const node of nodesOf(tree)) {
      const line = text.slice(0, node.start).split('\n').length;
      for (const { source, flags } of expressionsAt(node, constants)) {
        if (source === null) unknown.push(`${path}:${line}`);
        else found.push({ path, line, source, flags });
      }
    }
  }
  return { found, unknown };
}

function parse(path: string, text: string): Node {
  return parseAst(text, { lang: path.endsWith('.ts') ? 'ts' : 'js' }) as unknown as Node;
}

function nodesOf(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesOf);
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return [];
  const inner = Object.values(value).flatMap(nodesOf);
  return 'type' in value && 'start' in value ? [value as Node, ...inner] : inner;
}

function constantOf(node: Node): [name: string, text: string][] {
  if (node.type !== 'VariableDeclarator') return [];
  const { name } = node['id'] as { name?: string };
  const text = textOf(node['init'] as Node | null, new Map());
  return name === undefined || text === null ? [] : [[name, text]];
}

function expressionsAt(
  node: Node,
  constants: ReadonlyMap<string, string>,
): { source: string | null; flags: string }[] {
  const { regex } = node as { regex?: { pattern: string; flags: string } };
  if (regex !== undefined) return [{ source: regex.pattern, flags: regex.flags }];
  const { callee, key, value } = node as { callee?: Node; key?: Node; value?: Node };
  if (node.type === 'Property' && [key?.['name'], key?.['value']].includes('pattern')) {
    // A pattern of a schema is read with the flag `u`; other properties of this name hold expressions.
    const isLiteral = value === undefined || 'regex' in value || node['shorthand'] === true;
    return isLiteral ? [] : [{ source: textOf(value, constants), flags: 'u' }];
  }
  const [first, second] = (node['arguments'] ?? []) as Node[];
  if (callee?.['name'] === 'RegExp' && first !== undefined && !('regex' in first))
    return [{ source: textOf(first, constants), flags: textOf(second ?? null, constants) ?? '' }];
  const method = (callee?.['property'] as Node | undefined)?.['name'];
  const searched = searches.has(String(method)) ? textOf(first ?? null, constants) : null;
  return searched === null ? [] : [{ source: searched, flags: '' }];
}

function textOf(node: Node | null, constants: ReadonlyMap<string, string>): string | null {
  if (node === null) return null;
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : null;
  if (node.type === 'Identifier') return constants.get(String(node['name'])) ?? null;
  if (node.type !== 'TemplateLiteral') return null;
  const [only, ...more] = node['quasis'] as { value: { cooked: string } }[];
  return only === undefined || more.length > 0 ? null : only.value.cooked;
}
