import { asyncApiDocument, eventCatalogue } from './document/event-catalogue.ts';
import type { ApiDeps } from './deps.ts';
import type { Api } from './server/api-instance.ts';
import { Type } from 'typebox';
import { eventTypes, type EventType } from '../events/event-types.ts';
import { record } from './shared/schema.ts';

/** The catalogue of event types, made once: it is the same for every caller. */
export function addEventTypeRoutes(app: Api, { version }: Pick<ApiDeps, 'version'>): void {
  const catalogue = eventCatalogue();
  const items = [...catalogue];
  const document = asyncApiDocument(catalogue, version);
  app.get('/event-types', { config: { anyToken: true }, schema: listEventTypes }, async () => ({ items }));
  app.get('/asyncapi.json', { config: { anyToken: true }, schema: getAsyncApi }, async () => document);
}

const anyObject = (description: string) =>
  Type.Unsafe<object>({ type: 'object', additionalProperties: true, description });

const entrySchema = record({
  type: Type.Unsafe<EventType>({ type: 'string', examples: Object.keys(eventTypes).slice(0, 1) }),
  description: Type.String({ description: 'When such an event is sent.' }),
  operational: Type.Boolean({
    description: 'Whether only subscriptions that name the type get its events.',
  }),
  schema: anyObject('JSON Schema (2020-12) of the whole event as the format `standard` sends it.'),
  example: anyObject('Such an event.'),
});

/** Request and responses of GET /v1/event-types. */
const listEventTypes = {
  operationId: 'listEventTypes',
  summary: 'Every event type, with the schema of its events',
  description:
    'The same for every token. Later versions add types and fields; a field is neither removed nor given another type within a version 1 of this path.',
  response: {
    // An entry as an example would be taken for a schema, because it has a type and an example.
    200: record({ items: Type.Array(entrySchema, { examples: [[]] }) }, { description: 'Every event type.' }),
  },
};

/** Request and responses of GET /v1/asyncapi.json. */
const getAsyncApi = {
  operationId: 'getAsyncApi',
  summary: 'The callbacks as an AsyncAPI document',
  description: 'AsyncAPI 3.0, with the schemas of GET /v1/event-types. The same for every token.',
  response: {
    200: record(
      {
        asyncapi: Type.String({ examples: ['3.0.0'] }),
        info: anyObject('Title, version and licence.'),
        defaultContentType: Type.String({ examples: ['application/json'] }),
        channels: anyObject('One channel: the endpoint of a subscription.'),
        operations: anyObject('One operation: the daemon sends.'),
        components: anyObject('Messages and schemas of all event types.'),
      },
      { description: 'The document.' },
    ),
  },
};
