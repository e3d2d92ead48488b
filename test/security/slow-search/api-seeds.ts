import type { HttpRequest } from './http-request.ts';
import type { Seed } from './search.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}

interface Operation {
  readonly operationId?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** The part of an OpenAPI document from which requests are made. */
export interface ApiDescription {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

// Paths without a place in the document, or that belong to no resource.
const otherPaths = [
  '/',
  '/docs',
  '/docs/',
  '/openapi.json',
  '/metrics',
  '/health/live',
  '/health/ready',
  '/assets/main.js',
  '/assets/vendor/preact.js',
  '/nothing/%2e%2e/at?all=1',
];

/**
 * Requests to begin with: each operation of the document with every parameter and every field, each known
 * path with a method that it does not have, and the paths outside of the document. `ids` are the values of
 * path parameters; `headers` come with each.
 */
export function seedsOf(
  { paths }: ApiDescription,
  ids: Readonly<Record<string, string>>,
  headers: HttpRequest['headers'],
): Seed[] {
  const documented = Object.entries(paths).flatMap(([path, methods]) => [
    ...Object.entries(methods).map(([method, operation]) => seedOf(path, method, operation, ids, headers)),
    { operation: `REPORT ${path}`, request: plainRequest('REPORT', filled(path, ids), headers) },
  ]);
  const others = otherPaths.map((path) => ({
    operation: `GET ${path}`,
    request: plainRequest('GET', path, [...headers, ['if-none-match', 'W/"a"']]),
  }));
  return [...documented, ...others];
}

/** The words of a document that requests are made of: names and the values that fields may have. */
export function wordsOf(value: unknown): string[] {
  const words = new Set<string>();
  const look = (one: unknown, key: string): void => {
    if (typeof one === 'string' && key !== 'description' && one.length <= 60) words.add(one);
    if (typeof one !== 'object' || one === null) return;
    for (const [name, inner] of Object.entries(one)) {
      if (!Array.isArray(one) && name.length <= 40) words.add(name);
      look(inner, name);
    }
  };
  look(value, '');
  return [...words];
}

function seedOf(
  path: string,
  method: string,
  { parameters = [], requestBody }: Operation,
  ids: Readonly<Record<string, string>>,
  headers: HttpRequest['headers'],
): Seed {
  const of = (place: Parameter['in']) => parameters.filter((parameter) => parameter.in === place);
  const query = of('query').map(({ name, schema }) => `${name}=${encodeURIComponent(textOf(schema))}`);
  const schema = requestBody?.content['application/json']?.schema;
  const target = filled(path, ids) + (query.length === 0 ? '' : `?${query.join('&')}`);
  const body = schema === undefined ? '' : JSON.stringify(exampleOf(schema));
  const given = of('header').map((parameter) => [parameter.name, textOf(parameter.schema)] as const);
  const type = schema === undefined ? [] : [['content-type', 'application/json'] as const];
  const name = method.toUpperCase();
  const request = { method: name, target, headers: [...headers, ...type, ...given], body };
  return { operation: `${name} ${path}`, request };
}

function plainRequest(method: string, target: string, headers: HttpRequest['headers']): HttpRequest {
  return { method, target, headers, body: '' };
}

function filled(path: string, ids: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? name);
}

function textOf(schema: Schema): string {
  return String(exampleOf(schema));
}

function exampleOf(schema: Schema): unknown {
  const [example = schema.default ?? schema.enum?.[0]] = schema.examples ?? [];
  if (example !== undefined) return example;
  const type = [schema.type ?? 'string'].flat()[0];
  if (type === 'object')
    return Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, exampleOf(inner)]),
    );
  if (type === 'array') return schema.items === undefined ? [] : [exampleOf(schema.items)];
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  return type === 'boolean' ? false : 'a';
}
