import { titleOf } from './shown/titles.ts';

/** A JSON Schema, of whichever dialect: that of OpenAPI 3.1 comes in, that of OpenAPI 2.0 goes out. */
export type Schema = Readonly<Record<string, unknown>>;

/** Named schemas of the daemon's document. */
export type Schemas = Readonly<Record<string, Schema>>;

/** What a schema describes: what a maker of flows fills in, or what the daemon answers and sends. */
export type Use = 'input' | 'output';

// Keywords that mean the same in both dialects and that a form can use.
const limits = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems'];

// Formats that Microsoft's schema of a connector's definition knows, of those that the daemon uses.
const formats = new Set(['date-time', 'date']);

/**
 * The schema in the dialect of OpenAPI 2.0, which has no oneOf, no const and no null. A value that may be null
 * has `x-nullable`. An output has neither enums nor closed objects, because later versions of the daemon may
 * send more. References lead to `#/definitions`. Throws where a schema has no counterpart.
 */
export function toSwagger(described: Schema, use: Use, schemas: Schemas): Schema {
  const schema = typedByExample(described);
  const ref = schema['$ref'];
  if (typeof ref === 'string') {
    const name = nameOf(ref);
    const found = schemas[name];
    return found?.['oneOf'] === undefined ? definition(name) : toSwagger(found, use, schemas);
  }
  if (schema['oneOf'] !== undefined) return toSwagger(flattened(schema, schemas), use, schemas);
  const types = typesOf(schema);
  const known = types.filter((type) => type !== 'null');
  if (known.length > 1) throw new Error(`${JSON.stringify(schema)} has several types`);
  const [type] = known;
  return {
    ...(type === undefined ? {} : { type }),
    ...formatOf(schema, type),
    ...(typeof schema['description'] === 'string' ? { description: plain(schema['description']) } : {}),
    ...(use === 'output' && types.includes('null') ? { 'x-nullable': true } : {}),
    ...(use === 'input' ? choicesAndLimits(schema) : {}),
    ...itemsOf(schema, use, schemas),
    ...propertiesOf(schema, use, schemas),
  };
}

/** A reference to a definition. */
export function definition(name: string): Schema {
  return { $ref: `#/definitions/${name}` };
}

/** Names of the definitions that a schema refers to. */
export function references(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [nameOf(inner)] : references(inner),
  );
}

/**
 * One object schema for all of several, without references: each property of any of them; required is what all
 * of them require. Throws where the document lacks a schema.
 */
export function anyOf(variants: readonly Schema[], schemas: Schemas): Schema {
  return variants.map((variant) => inlined(variant, schemas) as Schema).reduce(merge);
}

/** The description without the marks of Markdown, which forms show as they are. */
export function plain(text: string): string {
  return text.replaceAll('`', '');
}

function flattened({ oneOf, discriminator: _, ...rest }: Schema, schemas: Schemas): Schema {
  return { ...anyOf(oneOf as readonly Schema[], schemas), ...rest };
}

function inlined(value: unknown, schemas: Schemas): unknown {
  if (Array.isArray(value)) return value.map((each) => inlined(each, schemas));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref: ref } = value as Schema;
  if (typeof ref === 'string') {
    const found = schemas[nameOf(ref)];
    if (found === undefined) throw new Error(`the document has no schema ${ref}`);
    return inlined(found, schemas);
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inlined(inner, schemas)]));
}

function merge(one: Schema, other: Schema): Schema {
  const types = [...new Set([...typesOf(one), ...typesOf(other)])];
  const required = requiredOf(one).filter((name) => requiredOf(other).includes(name));
  const { const: _, ...rest } = one;
  return {
    ...rest,
    ...(types.length === 0 ? {} : { type: types.length === 1 ? types[0] : types }),
    ...('properties' in one || 'properties' in other ? { properties: mergeProperties(one, other) } : {}),
    ...('required' in one || 'required' in other ? { required } : {}),
  };
}

function mergeProperties(one: Schema, other: Schema): Record<string, Schema> {
  const merged = { ...(one['properties'] as Record<string, Schema> | undefined) };
  for (const [name, schema] of Object.entries((other['properties'] ?? {}) as Record<string, Schema>)) {
    const present = merged[name];
    merged[name] = present === undefined ? schema : merge(present, schema);
  }
  return merged;
}

// The daemon promises no type of what it passes on. A form needs one, so it takes that of the example.
function typedByExample(schema: Schema): Schema {
  const [example] = (schema['examples'] ?? []) as unknown[];
  if (example === undefined || schema['type'] !== undefined) return schema;
  if (typeof example !== 'object' || example === null) return { type: typeof example, ...schema };
  const fields = Object.entries(example).map(([name, value]) => [name, { examples: [value as unknown] }]);
  return { type: 'object', properties: Object.fromEntries(fields) as Schemas, ...schema };
}

function typesOf(schema: Schema): string[] {
  const type = schema['type'] ?? (typeof schema['const'] === 'string' ? 'string' : []);
  return [type].flat() as string[];
}

function requiredOf(schema: Schema): string[] {
  return (schema['required'] as string[] | undefined) ?? [];
}

function formatOf(schema: Schema, type: string | undefined): Schema {
  if (type === 'integer') return { format: 'int32' };
  if (type === 'number') return { format: 'double' };
  const { format } = schema;
  return typeof format === 'string' && formats.has(format) ? { format } : {};
}

function choicesAndLimits(schema: Schema): Schema {
  return Object.fromEntries(
    ['enum', 'default', ...limits].filter((key) => key in schema).map((key) => [key, schema[key]]),
  );
}

function itemsOf(schema: Schema, use: Use, schemas: Schemas): Schema {
  const { items } = schema;
  return items === undefined ? {} : { items: toSwagger(items as Schema, use, schemas) };
}

function propertiesOf(schema: Schema, use: Use, schemas: Schemas): Schema {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  if (properties.length === 0) return {};
  const required = requiredOf(schema);
  return {
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(
      properties.map(([name, inner]) => [name, titled(name, toSwagger(inner, use, schemas))]),
    ),
  };
}

// OpenAPI 2.0 lets nothing stand beside a reference.
function titled(name: string, schema: Schema): Schema {
  return '$ref' in schema ? schema : { 'x-ms-summary': titleOf(name), ...schema };
}

function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}
