/** A body of a request or a response. */
interface Body {
  /**
   * After its operation: `CreateSubscriptionInput`, `ListEventsOutput`; generators of clients make types of
   * their own that end in Request and Response.
   */
  readonly name: string;
  readonly type: string;
  readonly media: MediaType;
  /** Whether the daemon sends it; it also sends the requests of callbacks. */
  readonly isSent: boolean;
}

/** The bodies of all operations and callbacks of a document. */
export function bodiesOf({ paths = {}, webhooks = {} }: ApiDocument): Body[] {
  const operations = operationsOf({ paths });
  const callbacks = Object.values(webhooks).map(({ post }) => post);
  const bodies: Body[] = [];
  for (const operation of [...operations, ...callbacks]) {
    const { operationId = '', requestBody, responses = {} } = operation;
    const own = operationId.slice(0, 1).toUpperCase() + operationId.slice(1);
    const add = (name: string, isSent: boolean, content: Content = {}) => {
      for (const [type, media] of Object.entries(content)) bodies.push({ name, type, media, isSent });
    };
    add(`${own}Input`, callbacks.includes(operation), requestBody?.content);
    for (const [status, { content }] of Object.entries(responses))
      add(`${own}Output${status.startsWith('2') ? '' : status}`, true, content);
  }
  return bodies;
}

/**
 * The OpenAPI document as clients are generated from it; pure. Every body has a name and an example. Nothing
 * that the daemon sends is closed, so clients accept the fields of later versions; requests stay closed,
 * since unknown fields are refused, and those of the operations with these ids may be left out. The defaults
 * of a request's fields stand in their descriptions: generators take a field with the keyword `default` for
 * one that must be there.
 */
export function finishDocument(
  made: ApiDocument,
  optionalBodies: ReadonlySet<string | undefined> = new Set(),
): ApiDocument {
  const document = structuredClone(made);
  for (const { operationId, requestBody } of operationsOf(document))
    if (requestBody !== undefined && optionalBodies.has(operationId)) requestBody.required = false;
  const bodies = bodiesOf(document);
  const requested = new Set(
    bodies.filter(({ isSent }) => !isSent).map(({ media }) => refName(media.schema ?? {})),
  );
  const schemas: Record<string, JsonSchema> = mapValues(document.components?.schemas ?? {}, (schema, name) =>
    requested.has(name) ? schema : opened(schema),
  );
  for (const { name, type, media, isSent } of bodies) {
    if (media.schema === undefined) continue;
    media.schema = isSent ? opened(media.schema) : withoutDefaults(media.schema);
    if (type !== 'application/json' || media.schema.properties === undefined) continue;
    schemas[name] = media.schema;
    media.schema = refTo(name);
  }
  for (const { type, media } of bodies) {
    const { schema, example, examples } = media;
    if (schema === undefined || example !== undefined || examples !== undefined) continue;
    if (type.endsWith('json')) media.example = sampleOf(schema, schemas);
  }
  return { ...document, components: { ...document.components, schemas } };
}

function operationsOf({ paths = {} }: ApiDocument) {
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}

function withoutDefaults(schema: JsonSchema): JsonSchema {
  if (schema.properties === undefined) return schema;
  return {
    ...schema,
    properties: mapValues(schema.properties, ({ default: value, ...field }) => {
      if (value === undefined) return field;
      const { description = '' } = field as { description?: string };
      return { ...field, description: `${description} Default: \`${JSON.stringify(value)}\`.`.trimStart() };
    }),
  };
}

/** A JSON Schema of the OpenAPI document, as far as the document's own code reads it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly oneOf?: readonly JsonSchema[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly [keyword: string]: unknown;
}

/** The schemas of a document by their names. */
type NamedSchemas = Readonly<Record<string, JsonSchema>>;

/** The body of a request or a response, in one media type. */
interface MediaType {
  schema?: JsonSchema;
  example?: unknown;
  readonly examples?: unknown;
}

/** The media types of a request or a response. */
type Content = Readonly<Record<string, MediaType>>;

/** One operation, or one callback. */
interface Operation {
  readonly operationId?: string;
  readonly requestBody?: { required?: boolean; readonly content: Content };
  readonly responses?: Readonly<Record<string, { readonly content?: Content }>>;
}

/** An OpenAPI 3.1 document. */
export interface ApiDocument {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks?: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components?: { readonly schemas?: NamedSchemas };
}

const base = '#/components/schemas/';

/** A reference to a named schema; pure. */
function refTo(name: string): JsonSchema {
  return { $ref: `${base}${name}` };
}

/** The name that a reference points to; null if the schema is no reference; pure. */
function refName({ $ref }: JsonSchema): string | null {
  return $ref?.startsWith(base) === true ? $ref.slice(base.length) : null;
}

/** An object with the same keys and other values; pure. */
export function mapValues<A, B>(
  record: Readonly<Record<string, A>>,
  change: (value: A, key: string) => B,
): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}

/** A schema without names in which no object is closed; pure. */
export function opened(schema: object): JsonSchema {
  const isDropped = (keyword: string, value: unknown) =>
    keyword === '$id' || (keyword === 'additionalProperties' && value === false);
  return rewrite(schema, (keyword, value) => (isDropped(keyword, value) ? [] : null)) as JsonSchema;
}

/** The keywords in place of one; null if it stays. */
type Replacement = readonly (readonly [keyword: string, value: unknown])[] | null;

/** A copy of schemas, or of what has schemas in it, with other keywords; pure. Data of examples stay. */
function rewrite(value: unknown, replace: (keyword: string, value: unknown) => Replacement): unknown {
  if (Array.isArray(value)) return value.map((each) => rewrite(each, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([keyword, inner]: [string, unknown]) => {
      const replaced = replace(keyword, inner);
      if (replaced !== null) return replaced;
      if (dataKeywords.has(keyword)) return [[keyword, inner]];
      const isNames = keyword === 'properties';
      const rewritten = isNames
        ? mapValues(inner as NamedSchemas, (each) => rewrite(each, replace))
        : rewrite(inner, replace);
      return [[keyword, rewritten]];
    }),
  );
}

const dataKeywords: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'const', 'enum']);

// Maximum depth of an example: no schema of the API refers to itself.
const depthMax = 12;

/** A value that fits a schema; pure. Fields without an example that may be left out are left out. */
export function sampleOf(schema: JsonSchema, schemas: NamedSchemas, depth = 0): unknown {
  if (depth > depthMax) return null;
  const given = [schema.examples?.[0], schema.const, schema.default, schema.enum?.[0]];
  const value = given.find((one) => one !== undefined);
  if (value !== undefined) return value;
  const name = refName(schema);
  if (name !== null) return sampleOf(schemas[name] ?? {}, schemas, depth + 1);
  const [first] = schema.oneOf ?? [];
  if (first !== undefined) return sampleOf(first, schemas, depth + 1);
  return sampleOfType(schema, schemas, depth);
}

function sampleOfType(schema: JsonSchema, schemas: NamedSchemas, depth: number): unknown {
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  if (types.includes('null')) return null;
  if (types.includes('object') || schema.properties !== undefined)
    return sampleObject(schema, schemas, depth);
  if (types.includes('array'))
    return schema.items === undefined ? [] : [sampleOf(schema.items, schemas, depth + 1)];
  if (types.includes('boolean')) return false;
  if (types.includes('integer') || types.includes('number')) return schema.minimum ?? 1;
  return 'text';
}

function sampleObject(schema: JsonSchema, schemas: NamedSchemas, depth: number): object {
  const { properties = {}, required = [] } = schema;
  const shown = Object.entries(properties).filter(
    ([name, { examples }]) => required.includes(name) || examples !== undefined,
  );
  return Object.fromEntries(shown.map(([name, field]) => [name, sampleOf(field, schemas, depth + 1)]));
}

/**
 * The OpenAPI 3.1 document as OpenAPI 3.0, for generators that know no other; pure. Version 3.0 has no
 * webhooks: they are callbacks of the operation that subscribes.
 */
export function toOpenApi30(document: ApiDocument): object {
  const { webhooks = {}, paths = {}, ...rest } = rewrite(document, olderKeyword) as ApiDocument;
  const callbacks = mapValues(webhooks, (webhook) => ({ '{$request.body#/url}': webhook }));
  return {
    ...rest,
    openapi: '3.0.4',
    paths: mapValues(paths, (methods) =>
      mapValues(methods, (operation) =>
        operation.operationId === 'createSubscription' ? { ...operation, callbacks } : operation,
      ),
    ),
  };
}

// Version 3.0 does not have the first; generators of Java make a set of the second that does not compile.
const dropped: ReadonlySet<string> = new Set(['propertyNames', 'uniqueItems']);

function olderKeyword(keyword: string, value: unknown): [string, unknown][] | null {
  if (keyword === 'const') return [['enum', [value]]];
  if (dropped.has(keyword)) return [];
  if (keyword === 'license') return [['license', withUrl(value as License)]];
  if (!Array.isArray(value)) return null;
  if (keyword === 'examples') return [['example', value[0]]];
  if (keyword !== 'type') return null;
  const types = (value as string[]).filter((each) => each !== 'null');
  // Version 3.0 has one type or any.
  const type: [string, unknown][] = types.length === 1 ? [['type', types[0]]] : [];
  return types.length < value.length ? [...type, ['nullable', true]] : type;
}

interface License {
  readonly name: string;
  readonly identifier: string;
}

function withUrl({ name, identifier }: License) {
  return { name, url: `https://spdx.org/licenses/${identifier}.html` };
}
