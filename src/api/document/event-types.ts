import { Type } from 'typebox';
import { type EventType, eventTypes, isOperational } from '../../events/event-types.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { bodySchema, signatureHeaders } from './event-schemas.ts';
import { eventExample } from './event-examples.ts';
import { type JsonSchema, mapValues, opened, sampleOf } from './finish-document.ts';
import * as s from '../shared/schema.ts';

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

const channel = '#/channels/callbacks';

/**
 * The callbacks as an AsyncAPI 3.0 document; pure. Its one channel is the endpoint of a subscription, whose
 * address each subscriber chooses. Messages are those of the format `standard`.
 */
export function asyncApiDocument(catalogue: readonly CatalogueEntry[], version: string) {
  const messages = Object.fromEntries(catalogue.map((entry) => [entry.type, message(entry)]));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'filing-webhooks',
      version,
      description:
        'The callbacks that subscribers receive. Subscriptions are made over the HTTP API (`/openapi.json`).',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    channels: {
      callbacks: {
        // Unknown to this document: a subscription has it.
        address: null,
        title: 'The endpoint of a subscription',
        messages: mapValues(messages, (_, name) => ({ $ref: `#/components/messages/${name}` })),
      },
    },
    operations: {
      sendCallback: {
        action: 'send',
        channel: { $ref: channel },
        title: 'Send an event to its subscribers',
        description:
          'At least once, and per filing in the order of `sequence`. Any 2xx acknowledges; everything else is sent again by the retry schedule.',
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
        messages: catalogue.map(({ type }) => ({ $ref: `${channel}/messages/${type}` })),
      },
    },
    components: { messages, messageTraits: { signed: { headers: headersSchema } } },
  };
}

function message({ type, description, schema, example }: CatalogueEntry) {
  const { $schema: _, $id: __, title, ...payload } = schema;
  return {
    name: type,
    title,
    summary: description,
    contentType: 'application/json',
    traits: [{ $ref: '#/components/messageTraits/signed' }],
    payload,
    examples: [{ name: type, payload: example }],
  };
}

const headersSchema = {
  type: 'object',
  required: signatureHeaders.map(([name]) => name),
  properties: Object.fromEntries(
    signatureHeaders.map(([name, description, example]) => [
      name,
      { type: 'string', description, examples: [example] },
    ]),
  ),
};

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

const getAsyncApi = {
  operationId: 'getAsyncApi',
  summary: 'The callbacks as an AsyncAPI document',
  description: 'AsyncAPI 3.0, with the schemas of GET /v1/event-types. The same for every token.',
  response: {
    200: s.described('The document.', {
      asyncapi: Type.String({ examples: ['3.0.0'] }),
      info: anyObject('Title, version and licence.'),
      defaultContentType: Type.String({ examples: ['application/json'] }),
      channels: anyObject('One channel: the endpoint of a subscription.'),
      operations: anyObject('One operation: the daemon sends.'),
      components: anyObject('Messages and schemas of all event types.'),
    }),
  },
};
