import { Type } from 'typebox';
import { accountParams, answer, filingIdIn, nullable, oneOf, pageQuery, record } from '../shared/schema.ts';
import { typesPattern } from '../shared/patterns.ts';
import { instantSchema } from '../../json/instant.ts';

const filters = {
  types: Type.Optional(
    Type.String({
      maxLength: 2048,
      pattern: typesPattern,
      description: 'Only these types: exact names or `prefix.*`, with commas between.',
      examples: ['filing.completed,filing.rejected'],
    }),
  ),
  filingId: filingIdIn('Only events of this filing.'),
};

/** Query of GET …/events. */
const eventsQuerySchema = record({
  ...pageQuery,
  ...filters,
  after: Type.Optional(
    instantSchema(
      'Only events recorded at this time or later; one is recorded a moment after its `timestamp`.',
    ),
  ),
  before: Type.Optional(instantSchema('Only events recorded earlier than this time.')),
  order: Type.Optional(
    oneOf(['oldest', 'newest'], {
      default: 'oldest',
      description: '`newest`: the latest first, with `nextCursor` for older ones.',
    }),
  ),
});

/** Query of GET …/events/stream. */
const streamQuerySchema = record({
  ...filters,
  cursor: Type.Optional(
    Type.String({ maxLength: 1024, description: 'Start after this `resumeCursor`, `nextCursor` or SSE id.' }),
  ),
  from: Type.Optional(
    oneOf(['now', 'earliest'], {
      default: 'now',
      description: 'Where to start without a cursor: at the next event, or at the oldest in the log.',
    }),
  ),
});

/** Headers of GET …/events/stream. */
const streamHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      maxLength: 1024,
      description: 'The id of the last event that arrived; browsers send it when they reconnect.',
    }),
  ),
});

/** Path of an account's events. */
const eventsParams = Type.Object(accountParams);

/** Path of an event. */
export const eventParams = Type.Object({
  ...accountParams,
  event: Type.String({
    description: 'Id of the event: the `webhook-id` of its callbacks.',
    examples: ['evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f'],
  }),
});

/** Query of what is about one event. */
export const eventQuerySchema = {
  filingId: filingIdIn(
    'The filing of the event, if that is known: it is found at once then. Without it the newest half a million events are searched.',
  ),
};

/** Response of GET …/events; the handler writes its bytes, so events stay as they were stored. */
const eventListSchema = Type.Unsafe<Buffer>(
  record(
    {
      items: Type.Array(Type.Unsafe({ $ref: 'LoggedEvent#' })),
      nextCursor: nullable(Type.String(), {
        description:
          'For the next page; null at the end of the list. With filters a page may hold fewer events than `limit`, or none, and still have a next one.',
      }),
      resumeCursor: Type.String({
        description:
          'After all events that were examined, also at the end of the log (with `order=newest`: after the newest event). Pass it later, to the list from the oldest or to the stream, for the events since then.',
      }),
    },
    {
      description:
        'Events, oldest first unless `order` says otherwise. Events older than EVENT_RETENTION_MS may be gone.',
    },
  ),
);

const eventStream = {
  description:
    'Each event with its type as `event`, a cursor as `id`, and `data` as in the list of events; comments in between.',
  content: { 'text/event-stream': { schema: Type.Unknown() } },
};

/** Request and responses of GET /v1/accounts/{account}/events. */
export const listEvents = {
  operationId: 'listEvents',
  summary: 'List events',
  description: 'The same events as the callbacks, whether or not a subscription wants them.',
  params: eventsParams,
  querystring: eventsQuerySchema,
  response: { 200: eventListSchema },
};

/** Request and responses of GET /v1/accounts/{account}/events/{event}. */
export const getEvent = {
  operationId: 'getEvent',
  summary: 'Read an event',
  description: 'As in the list of events.',
  params: eventParams,
  querystring: record(eventQuerySchema),
  response: { 200: answer('Event', 'The event, byte for byte as its callbacks have it.') },
};

/** Request and responses of GET /v1/accounts/{account}/events/stream. */
export const streamEvents = {
  operationId: 'streamEvents',
  summary: 'Follow events as Server-Sent Events',
  description:
    'Starts with the next event, or after `Last-Event-ID` or `cursor`. The stream ends after a quarter of an hour and when the daemon stops: connect again with the last id.',
  params: eventsParams,
  querystring: streamQuerySchema,
  headers: streamHeaders,
  response: { 200: eventStream },
};
