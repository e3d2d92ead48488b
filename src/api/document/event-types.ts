import { Type } from 'typebox';
import { type EventType, eventTypes, isOperational } from '../../events/event-types.ts';
import type { Api } from '../deps.ts';
import { bodySchema } from './event-schemas.ts';
import { eventExample } from './event-examples.ts';
import { type JsonSchema, mapValues, opened, sampleOf } from './finish-document.ts';
import * as s from '../shared/schema.ts';

/** The catalogue of event types, made once: it is the same for every caller. */
export function addEventTypeRoutes(app: Api): void {
  const items = [...eventCatalogue()];
  app.get('/event-types', { config: { anyToken: true }, schema: listEventTypes }, async () => ({ items }));
}

const anyObject = (description: string) =>
  Type.Unsafe<object>({ type: 'object', additionalProperties: true, description });

const entrySchema = s.record({
  type: Type.Unsafe<EventType>({ type: 'string', examples: Object.keys(eventTypes).slice(0, 1) }),
  description: s.string('When such an event is sent.'),
  operational: s.boolean('Whether only subscriptions that name the type get its events.'),
  schema: anyObject('JSON Schema (2020-12) of the whole event as the format `standard` sends it.'),
  example: anyObject('Such an event.'),
});

/** One event type as the catalogue shows it. */
interface CatalogueEntry {
  readonly type: EventType;
  /** When such an event is sent. */
  readonly description: string;
  readonly operational: boolean;
  /** JSON Schema (2020-12) of the whole event as the format `standard` sends it. */
  readonly schema: JsonSchema;
  readonly example: object;
}

const dialect = 'https://json-schema.org/draft/2020-12/schema';

/**
 * Every event type with the schema of its events; pure. No object is closed, because later versions may add
 * fields.
 */
export function eventCatalogue(): readonly CatalogueEntry[] {
  return (Object.keys(eventTypes) as EventType[]).map((type) => {
    const { $id: title, ...body } = JSON.parse(JSON.stringify(bodySchema(type))) as JsonSchema;
    const described = { title, ...unchecked(withOpenValues(opened(body))) };
    return {
      type,
      description: eventTypes[type].when,
      operational: isOperational(type),
      schema: { $schema: dialect, $id: `urn:filing-webhooks:event:${type}`, ...described },
      example: eventExample(type) ?? (sampleOf(body, {}) as object),
    };
  });
}

// Fields of a filing that every read filing has in this form (src/partner/filing-schema.ts). The daemon
// passes the others on as the partner service wrote them, so a schema that promised their types could be
// wrong.
const checked: readonly string[] = ['id', 'status'];

function unchecked(body: JsonSchema): JsonSchema {
  return within(body, 'data', (data) =>
    within(data, 'filing', (filing) => ({
      ...filing,
      required: [...checked],
      properties: mapValues(filing.properties ?? {}, (field, name) =>
        checked.includes(name) ? field : untyped(field),
      ),
    })),
  );
}

function untyped({ description, examples }: JsonSchema): JsonSchema {
  return {
    ...(description === undefined ? {} : { description }),
    ...(examples === undefined ? {} : { examples }),
  };
}

// A list of values marked `x-open` may grow: a receiver that checks the schema must accept the new ones.
function withOpenValues(schema: JsonSchema): JsonSchema {
  const { enum: values, 'x-open': isOpen, ...rest } = schema;
  const plain = isOpen === true ? { ...rest, examples: values ?? [] } : schema;
  const { properties } = plain;
  return properties === undefined ? plain : { ...plain, properties: mapValues(properties, withOpenValues) };
}

function within(schema: JsonSchema, field: string, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const found = schema.properties?.[field];
  if (found === undefined) return schema;
  return { ...schema, properties: { ...schema.properties, [field]: change(found) } };
}

const listEventTypes = {
  operationId: 'listEventTypes',
  summary: 'Every event type, with the schema of its events',
  description:
    'The same for every token. Later versions add types and fields; a field is neither removed nor given another type within a version 1 of this path.',
  response: {
    // An entry as an example would be taken for a schema, because it has a type and an example.
    200: s.described('Every event type.', { items: Type.Array(entrySchema, { examples: [[]] }) }),
  },
};
