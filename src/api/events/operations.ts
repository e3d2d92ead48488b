import { Type } from 'typebox';
import { problems } from '../shared/schema.ts';
import {
  eventListSchema,
  eventsParams,
  eventsQuerySchema,
  streamHeaders,
  streamQuerySchema,
} from './schema.ts';

const eventStream = {
  description:
    'Each event with its type as `event`, a cursor as `id`, and `data` as in the list of events; comments in between.',
  content: { 'text/event-stream': { schema: Type.String() } },
};

/** What GET /v1/accounts/{account}/events takes and answers. */
export const listEvents = {
  tags: ['Events'],
  operationId: 'listEvents',
  summary: 'List events',
  description: 'The same events as the callbacks, whether or not anybody subscribed to them.',
  params: eventsParams,
  querystring: eventsQuerySchema,
  response: { 200: eventListSchema, ...problems(422) },
};

/** What GET /v1/accounts/{account}/events/stream takes and answers. */
export const streamEvents = {
  tags: ['Events'],
  operationId: 'streamEvents',
  summary: 'Follow events as Server-Sent Events',
  description:
    'Begins with the next event, or behind `Last-Event-ID` or `cursor`. The stream ends after a quarter of an hour and when the daemon stops: connect again with the last id.',
  params: eventsParams,
  querystring: streamQuerySchema,
  headers: streamHeaders,
  response: { 200: eventStream, ...problems(422, 429) },
};
