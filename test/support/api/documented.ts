import { Compile } from 'typebox/compile';

interface MediaType {
  readonly schema?: Record<string, unknown>;
}

interface Operation {
  readonly responses: Record<string, { readonly content?: Record<string, MediaType> }>;
}

/** The part of an OpenAPI document that answers are compared with. */
export interface ApiDocument {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, Record<string, unknown>> };
}

/** One answer to be compared. */
export interface DocumentedAnswer {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/**
 * What an answer has that the document does not say; empty when it is as documented. Paths that are not in
 * the document are passed over.
 */
export function createDocumentCheck(document: ApiDocument): (answer: DocumentedAnswer) => string[] {
  const validators = new Map<string, ReturnType<typeof Compile>>();
  const routes = Object.entries(document.paths).map(([path, operations]) => ({
    path,
    operations,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));

  function validator(key: string, schema: Record<string, unknown>) {
    const known = validators.get(key) ?? Compile(inlined(document, schema) as Record<string, never>);
    validators.set(key, known);
    return known;
  }

  return ({ method, url, status, contentType, text }) => {
    const path = url.split('?', 1)[0] ?? '';
    const found = routes
      .filter(({ pattern }) => pattern.test(path))
      .toSorted((a, b) => parameters(a.path) - parameters(b.path));
    const operation = found[0]?.operations[method.toLowerCase()];
    if (operation === undefined || found[0] === undefined) return [];
    const response = operation.responses[String(status)] ?? operation.responses['default'];
    if (response === undefined) return [`${method} ${found[0].path} does not document ${status}`];
    if (response.content === undefined) return text === '' ? [] : [`${status} has a body`];
    const type = contentType.split(';', 1)[0] ?? '';
    const schema = response.content[type]?.schema;
    if (schema === undefined) return [`${method} ${found[0].path} ${status} does not document ${type}`];
    if (!type.endsWith('json')) return [];
    const errors = validator(`${method} ${found[0].path} ${status}`, schema).Errors(JSON.parse(text));
    return errors.map(
      ({ instancePath, message }) => `${method} ${path} ${status}: ${instancePath} ${message}`,
    );
  };
}

function parameters(path: string): number {
  return path.split('{').length;
}

function inlined(document: ApiDocument, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((each) => inlined(document, each));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref } = schema as { $ref?: string };
  if ($ref !== undefined) return inlined(document, document.components.schemas[$ref.split('/').at(-1) ?? '']);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, inlined(document, value)]));
}
