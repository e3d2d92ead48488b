import { mapContents, mapOperations, mapValues, refName } from './json-schema.ts';
import type { ApiDocument, Content, JsonSchema, NamedSchemas } from './json-schema.ts';

// Maximum depth of an example: no schema of the API refers to itself.
const depthMax = 12;

/**
 * The document in which every body in JSON has an example, made of the examples of its fields where none is
 * written; pure.
 */
export function addExamples(document: ApiDocument): ApiDocument {
  const schemas = document.components?.schemas ?? {};
  const withExamples = (content: Content) =>
    mapValues(content, (media, type) => {
      const has = media.example !== undefined || media.examples !== undefined;
      if (has || media.schema === undefined || !type.endsWith('json')) return media;
      return { ...media, example: sampleOf(media.schema, schemas) };
    });
  return mapOperations(document, (operation) => mapContents(operation, withExamples, withExamples));
}

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
