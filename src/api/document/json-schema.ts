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
  readonly allOf?: readonly JsonSchema[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly [keyword: string]: unknown;
}

/** The schemas of a document by their names. */
export type NamedSchemas = Readonly<Record<string, JsonSchema>>;

/** The body of a request or a response, in one media type. */
export interface MediaType {
  schema?: JsonSchema;
  example?: unknown;
  readonly examples?: unknown;
}

/** The media types of a request or a response. */
export type Content = Readonly<Record<string, MediaType>>;

/** One operation, or one callback. */
export interface Operation {
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
export function refTo(name: string): JsonSchema {
  return { $ref: `${base}${name}` };
}

/** The name that a reference leads to; null where the schema is no reference; pure. */
export function refName({ $ref }: JsonSchema): string | null {
  return $ref?.startsWith(base) === true ? $ref.slice(base.length) : null;
}

/** An object with the same keys and other values; pure. */
export function mapValues<A, B>(
  record: Readonly<Record<string, A>>,
  change: (value: A, key: string) => B,
): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}

/** A schema in which no object is closed; pure. */
export function opened(schema: JsonSchema): JsonSchema {
  return openedValue(schema) as JsonSchema;
}

function openedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(openedValue);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key, to]) => key !== 'additionalProperties' || to !== false);
  return Object.fromEntries(kept.map(([key, to]) => [key, isData(key) ? to : openedValue(to)]));
}

// Keywords whose values are data and no schemas.
function isData(keyword: string): boolean {
  return keyword === 'examples' || keyword === 'default' || keyword === 'const' || keyword === 'enum';
}

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
  const parts = schema.allOf ?? schema.oneOf?.slice(0, 1);
  if (parts !== undefined)
    return Object.assign({}, ...parts.map((part) => sampleOf(part, schemas, depth + 1))) as object;
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
