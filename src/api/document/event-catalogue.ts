import { eventTypes, isOperational, type EventType } from '../../events/event-types.ts';
import { eventExample } from './event-examples.ts';
import { mapValues, opened, sampleOf, type JsonSchema } from './json-schema.ts';
import { bodySchema } from '../open-api-webhooks.ts';
import { signatureHeaders } from '../open-api-webhooks.ts';

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
