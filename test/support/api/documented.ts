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
 * What an answer has that the document does not say; empty when it is as documented. The document leaves what is
 * sent open for later versions; here an object may hold only the fields that it names, unless it says that it
 * is open. Paths that are not in the document are passed over.
 */
export function createDocumentCheck(document: ApiDocument): (answer: DocumentedAnswer) => string[] {
  const validators = new Map<string, ReturnType<typeof Compile>>();
  const compared = withAnyEvent(document);
  const routes = Object.entries(document.paths).map(([path, operations]) => ({
    path,
    operations,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));

  function validator(key: string, schema: Record<string, unknown>) {
    const known = validators.get(key) ?? Compile(inlined(compared, schema) as Record<string, never>);
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

// Tests put events of their own making into logs; the bodies of real ones are compared with the webhooks.
function withAnyEvent({ components: { schemas } }: ApiDocument): Pick<ApiDocument, 'components'> {
  const { Event, ...others } = schemas;
  const any = { type: 'object', required: ['type', 'timestamp', 'data'], additionalProperties: true };
  return { components: { schemas: { ...others, ...(Event === undefined ? {} : { Event: any }) } } };
}

function parameters(path: string): number {
  return path.split('{').length;
}

/** A schema of the document with every reference replaced by what it leads to, closed as above. */
export function inlined(document: Pick<ApiDocument, 'components'>, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((each) => inlined(document, each));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref } = schema as { $ref?: string };
  if ($ref !== undefined) return inlined(document, document.components.schemas[$ref.split('/').at(-1) ?? '']);
  const whole = Object.entries(schema).map(([key, value]) => [key, inlined(document, value)] as const);
  return closed(Object.fromEntries(whole));
}

function closed(schema: Record<string, unknown>): Record<string, unknown> {
  const isOpen = schema['properties'] === undefined || schema['additionalProperties'] !== undefined;
  return isOpen ? schema : { ...schema, additionalProperties: false };
}
