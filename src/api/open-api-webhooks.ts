import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { eventTypes } from '../events/event-types.ts';
import type { EventType } from '../events/event-types.ts';
import { eventExample } from './document/event-examples.ts';
import { dataSchemas } from './document/event-data.ts';
import { time } from './shared/schema.ts';

/** The headers of every callback: name, meaning and example. */
export const signatureHeaders = [
  [
    'webhook-id',
    'Id of the event; the same on every attempt and replay. Store it to recognise repeats.',
    'evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f',
  ],
  [
    'webhook-timestamp',
    'Unix seconds of this attempt. Refuse callbacks that are older than five minutes.',
    '1795255203',
  ],
  [
    'webhook-signature',
    'One or more `v1,<base64 HMAC-SHA256 of id.timestamp.body>`, or `v1a,<base64 ed25519 signature of the same>` for a subscription with public keys, separated by spaces; one must match.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ],
] as const;

const responses = {
  '2XX': { description: 'Acknowledged: not sent again, except by a replay.' },
  '410': { description: 'The endpoint wants no more callbacks: the subscription is disabled.' },
  '429': {
    description:
      'With Retry-After the whole subscription rests for that time, at most an hour; 503 does the same.',
  },
  default: { description: 'Not acknowledged: sent again by the retry schedule. Redirects are not followed.' },
};

/** The `webhooks` of the OpenAPI document: one callback per event type. */
export function describeWebhooks() {
  return Object.fromEntries(types.map((type) => [type, { post: describeCallback(type) }]));
}

/**
 * The bodies of all callbacks by their `$id`, such as `FilingRejectedEvent`; `Event`, which is any of them;
 * and `LoggedEvent`, the same with its id. `type` distinguishes them.
 */
export function describeEvents(): readonly TSchema[] {
  const mapping = types.map((type) => [type, `#/components/schemas/${schemaName(type)}`]);
  return [
    ...types.map((type) => bodySchema(type)),
    Type.Unsafe({
      $id: 'Event',
      description: 'The body of any callback. Later versions may send further types.',
      oneOf: types.map((type) => ({ $ref: `${schemaName(type)}#` })),
      discriminator: { propertyName: 'type', mapping: Object.fromEntries(mapping) as object },
    }),
    Type.Unsafe({
      $id: 'LoggedEvent',
      description: 'An event of the log: the body of its callbacks and its id.',
      allOf: [{ $ref: 'Event#' }, Type.Object({ id: eventId }, { additionalProperties: true })],
    }),
  ];
}

const types = Object.keys(eventTypes) as EventType[];

const eventId = Type.String({
  description: 'The `webhook-id` of its callbacks.',
  examples: ['evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f'],
});

// `filing.status_changed` is FilingStatusChangedEvent.
function schemaName(type: EventType): string {
  const words = type.split(/[._]/).map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return `${words.join('')}Event`;
}

function describeCallback(type: EventType) {
  return {
    tags: ['Callbacks'],
    operationId: `callback_${type.replaceAll('.', '_')}`,
    summary: type,
    description: `${eventTypes[type].when} Signed as Standard Webhooks; delivered at least once, and per filing in order of \`sequence\`.`,
    security: [],
    parameters: signatureHeaders.map(([name, description, example]) => ({
      name,
      in: 'header' as const,
      required: true,
      description,
      schema: { type: 'string' as const },
      example,
    })),
    requestBody: {
      required: true,
      description: 'As sent with the format `standard`.',
      content: {
        'application/json': { schema: { $ref: `#/components/schemas/${schemaName(type)}` } },
      },
    },
    responses,
  };
}

/** The body of an event of this type in the format `standard`; its name is its `$id`. */
export function bodySchema(type: EventType) {
  const { when, data } = eventTypes[type];
  const example = eventExample(type);
  return Type.Object(
    {
      type: Type.Unsafe<EventType>({ type: 'string', const: type }),
      timestamp: time('When the change was seen.'),
      data: dataSchemas[data],
    },
    {
      $id: schemaName(type),
      description: when,
      additionalProperties: true,
      ...(example === null ? {} : { examples: [example] }),
    },
  );
}
