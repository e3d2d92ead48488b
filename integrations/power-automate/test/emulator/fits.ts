import Draft04 from 'ajv-draft-04';
import addFormats from 'ajv-formats';
import type { Definition, Schema } from './definition.ts';

// Both packages are CommonJS with the class or the function as `default`.
const Ajv = Draft04.default;
const formats = addFormats.default;

/** What is wrong with a value, by the schema that a connector gives for it; empty when it fits. */
export function misfits(definition: Definition, schema: Schema, value: unknown): string[] {
  const ajv = formats(new Ajv({ allErrors: true, strict: false }));
  const validate = ajv.compile({ ...nullable(schema), definitions: nullable(definition.definitions) });
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/**
 * Fields of a value that the schema does not show, so that a maker of flows does not find them. An object without
 * properties shows nothing and is not looked into.
 */
export function hidden(definition: Definition, schema: Schema, value: unknown, path = ''): string[] {
  const shown = resolve(definition, schema);
  if (Array.isArray(value)) {
    const items = shown['items'] as Schema | undefined;
    return value.flatMap((each) => (items === undefined ? [] : hidden(definition, items, each, `${path}/*`)));
  }
  const properties = shown['properties'] as Record<string, Schema> | undefined;
  if (typeof value !== 'object' || value === null || properties === undefined) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const property = properties[name];
    return property === undefined
      ? [`${path}/${name}`]
      : hidden(definition, property, inner, `${path}/${name}`);
  });
}

/** The schema itself, where it is a reference to a definition. */
export function resolve(definition: Definition, schema: Schema): Schema {
  const ref = schema['$ref'];
  if (typeof ref !== 'string') return schema;
  const found = definition.definitions[ref.replace('#/definitions/', '')];
  if (found === undefined) throw new Error(`the connector has no definition ${ref}`);
  return found;
}

// A schema of draft 4 for a schema of OpenAPI 2.0, which says `x-nullable` for what may be null.
function nullable<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map((each) => nullable<unknown>(each)) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [key, nullable<unknown>(value)]);
  const changed = Object.fromEntries(entries) as Record<string, unknown>;
  return (changed['x-nullable'] === true ? { ...changed, type: [changed['type'], 'null'] } : changed) as T;
}
