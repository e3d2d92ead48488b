import { mapContents, mapOperations, mapValues } from './json-schema.ts';
import type { ApiDocument, Content, JsonSchema } from './json-schema.ts';

/**
 * The document in which the defaults of a request's fields stand in their descriptions; pure. Generators of
 * clients take a field with the keyword `default` for one that must be there.
 */
export function sayDefaults(document: ApiDocument): ApiDocument {
  const { paths } = mapOperations({ paths: document.paths ?? {} }, (operation) =>
    mapContents(operation, inDescriptions, (content) => content),
  );
  return { ...document, ...(paths === undefined ? {} : { paths }) };
}

function inDescriptions(content: Content): Content {
  return mapValues(content, (media) =>
    media.schema?.properties === undefined
      ? media
      : {
          ...media,
          schema: { ...media.schema, properties: mapValues(media.schema.properties, inDescription) },
        },
  );
}

function inDescription({ default: value, ...field }: JsonSchema): JsonSchema {
  if (value === undefined) return field;
  const { description } = field as { description?: string };
  return { ...field, description: `${description ?? ''} Default: \`${JSON.stringify(value)}\`.`.trimStart() };
}
