import { type Static, Type } from 'typebox';
import { type EventType, eventTypes, isOperational } from '../../events/event-types.ts';
import type { Api } from '../deps.ts';
import { bodySchema, schemaName } from './event-schemas.ts';
import { type JsonSchema, opened } from './finish-document.ts';
import * as s from '../shared/schema.ts';

/** The catalogue of event types, made once: it is the same for every caller. */
export function addEventTypeRoutes(app: Api): void {
  const items = [...eventCatalogue()];
  app.get('/event-types', { config: { anyToken: true }, schema: listEventTypes }, async () => ({ items }));
}

const anyObject = <T>(description: string) =>
  Type.Unsafe<T>({ type: 'object', additionalProperties: true, description });

const entrySchema = s.record({
  type: Type.Unsafe<EventType>({ type: 'string', examples: Object.keys(eventTypes).slice(0, 1) }),
  description: s.string('When such an event is sent.'),
  operational: s.boolean(
    'Whether it is about the account or a subscription; only subscriptions that name it get its events.',
  ),
  schema: anyObject<JsonSchema>(
    'JSON Schema (2020-12) of the whole event as the format `standard` sends it.',
  ),
  example: anyObject<object>('Such an event.'),
});

const dialect = 'https://json-schema.org/draft/2020-12/schema';

/**
 * Every event type with the schema of its events; pure. No object is closed, because later versions may add
 * fields.
 */
export function eventCatalogue(): readonly Static<typeof entrySchema>[] {
  return (Object.keys(eventTypes) as EventType[]).map((type) => {
    const schema = opened(bodySchema(type));
    return {
      type,
      description: eventTypes[type].when,
      operational: isOperational(type),
      schema: {
        $schema: dialect,
        $id: `urn:filing-webhooks:event:${type}`,
        title: schemaName(type),
        ...schema,
      },
      example: schema.examples?.[0] as object,
    };
  });
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
