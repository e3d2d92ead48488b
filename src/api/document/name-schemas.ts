import { mapContents, mapOperations, mapValues, refTo } from './json-schema.ts';
import type { ApiDocument, Content, JsonSchema } from './json-schema.ts';

const json = 'application/json';

/**
 * The document in which the body of each request and of each response has a name, after its operation; pure.
 * Generated clients call their types so: `CreateSubscriptionRequest`, `ListEventsResponse`.
 */
export function nameBodies(document: ApiDocument): ApiDocument {
  const named: Record<string, JsonSchema> = {};
  const inNamed = (name: string) => (content: Content) =>
    mapValues(content, (media, type) => {
      const { schema } = media;
      if (type !== json || schema === undefined || schema.properties === undefined) return media;
      named[name] = schema;
      return { ...media, schema: refTo(name) };
    });
  const paths = mapOperations({ paths: document.paths ?? {} }, (operation) => {
    const name = capitalized(operation.operationId ?? '');
    return mapContents(operation, inNamed(`${name}Request`), (content, status) =>
      inNamed(status.startsWith('2') ? `${name}Response` : `${name}Response${status}`)(content),
    );
  }).paths;
  const schemas = { ...document.components?.schemas, ...named };
  return {
    ...document,
    ...(paths === undefined ? {} : { paths }),
    components: { ...document.components, schemas },
  };
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
