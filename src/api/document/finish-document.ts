import { mapValues, opened, refName, refTo, sampleOf } from './json-schema.ts';
import type { ApiDocument, Content, JsonSchema, MediaType } from './json-schema.ts';

/** A body of a request or a response. */
export interface Body {
  /** After its operation: `CreateSubscriptionRequest`, `ListEventsResponse`. */
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
    add(`${own}Request`, callbacks.includes(operation), requestBody?.content);
    for (const [status, { content }] of Object.entries(responses))
      add(`${own}Response${status.startsWith('2') ? '' : status}`, true, content);
  }
  return bodies;
}

/**
 * The OpenAPI document as clients are generated from it; pure. Every body has a name and an example. Nothing
 * that the daemon sends is closed, so clients accept the fields of later versions; requests stay closed,
 * since unknown fields are refused. The bodies of the operations with these ids may be left out. The defaults of a request's fields stand in their descriptions:
 * generators take a field with the keyword `default` for one that must be there.
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
