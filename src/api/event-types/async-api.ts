import { mapValues } from '../document/json-schema.ts';
import { signatureHeaders } from '../open-api-webhooks.ts';
import type { CatalogueEntry } from './catalogue.ts';

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
