import { eventTypes } from '../events/event-types.ts';
import type { EventType } from '../events/event-types.ts';
import { callbackExample, callbackSchema } from './webhooks-schema.ts';

const signatureHeaders = [
  [
    'webhook-id',
    'Id of the event; the same on every attempt and replay. Remember it to meet repeats.',
    'evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f',
  ],
  [
    'webhook-timestamp',
    'Unix seconds of this attempt. Refuse what is older than five minutes.',
    '1795255203',
  ],
  [
    'webhook-signature',
    'One or more `v1,<base64 HMAC-SHA256 of id.timestamp.body>`, separated by spaces; one must match.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ],
] as const;

const responses = {
  '2XX': { description: 'Acknowledged: not sent again, except by a replay.' },
  '410': { description: 'No more callbacks are wanted: the subscription is disabled.' },
  '429': {
    description: 'With Retry-After the whole subscription rests for so long, at most an hour; so does 503.',
  },
  default: { description: 'Not acknowledged: sent again by the retry schedule. Redirects are not followed.' },
};

/** The `webhooks` of the OpenAPI document: one callback per event type. */
export function describeWebhooks() {
  const types = Object.entries(eventTypes) as [EventType, string][];
  return Object.fromEntries(
    types.map(([type, summary]) => [type, { post: describeCallback(type, summary) }]),
  );
}

function describeCallback(type: EventType, summary: string) {
  return {
    tags: ['Callbacks'],
    operationId: `callback_${type.replaceAll('.', '_')}`,
    summary: type,
    description: `${summary} Signed as Standard Webhooks; delivered at least once, and per filing in order of \`sequence\`.`,
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
      content: { 'application/json': { schema: callbackSchema(type), ...exampleOf(type) } },
    },
    responses,
  };
}

function exampleOf(type: EventType) {
  return type === callbackExample.type ? { example: callbackExample } : {};
}
