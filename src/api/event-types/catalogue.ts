import { eventTypes, isOperational, type EventType } from '../../events/event-types.ts';
import { eventExample } from '../document/event-examples.ts';
import { mapValues, opened, sampleOf, type JsonSchema } from '../document/json-schema.ts';
import { bodySchema } from '../open-api-webhooks.ts';

/** One event type as the catalogue shows it. */
export interface CatalogueEntry {
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
