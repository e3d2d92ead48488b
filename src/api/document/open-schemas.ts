import { mapContents, mapOperations, mapValues, refName } from './json-schema.ts';
import type { ApiDocument, Content, JsonSchema } from './json-schema.ts';

/**
 * The document in which nothing that the daemon sends is closed; pure. Clients that check what they receive
 * thereby accept the fields of later versions. Requests stay closed, since unknown fields are refused.
 */
export function openWhatIsSent(document: ApiDocument): ApiDocument {
  const requested = namesInRequests(document);
  const schemas = mapValues(document.components?.schemas ?? {}, (schema, name) =>
    requested.has(name) ? schema : opened(schema),
  );
  const paths = mapOperations({ paths: document.paths ?? {} }, (operation) =>
    mapContents(operation, (content) => content, openedContent),
  ).paths;
  const webhooks = mapOperations({ webhooks: document.webhooks ?? {} }, (operation) =>
    mapContents(operation, openedContent, openedContent),
  ).webhooks;
  return {
    ...document,
    ...(paths === undefined ? {} : { paths }),
    ...(webhooks === undefined ? {} : { webhooks }),
    components: { ...document.components, schemas },
  };
}

function openedContent(content: Content): Content {
  return mapValues(content, (media) =>
    media.schema === undefined ? media : { ...media, schema: opened(media.schema) },
  );
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

function namesInRequests(document: ApiDocument): ReadonlySet<string> {
  const names = new Set<string>();
  mapOperations({ paths: document.paths ?? {} }, (operation) =>
    mapContents(
      operation,
      (content) => {
        for (const { schema } of Object.values(content)) {
          const name = schema === undefined ? null : refName(schema);
          if (name !== null) names.add(name);
        }
        return content;
      },
      (content) => content,
    ),
  );
  return names;
}
