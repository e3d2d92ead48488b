import { Type } from 'typebox';
import { outcomeKinds } from '../../callbacks/outcome.ts';
import { accountParams, listOf, nullable, oneOf, record, time } from '../shared/schema.ts';
import { instantSchema } from '../shared/instant.ts';
import { eventTypesSchema } from '../subscriptions/schema.ts';

const outcome = oneOf(Object.keys(outcomeKinds), {
  description: 'The outcome; docs/callback-outcomes.md says what each leads to.',
  examples: ['http_error'],
});

const statusCode = nullable(Type.Integer(), { description: 'Null if there was no response.' });

const durationMs = Type.Number({
  description: 'Milliseconds from the first byte sent to the end of the response.',
});

const response = nullable(Type.String(), {
  description: 'The first 1 KiB of the response as text; null if there was none.',
});

const event = {
  eventId: Type.String({ description: 'The `webhook-id`.' }),
  eventType: Type.String({ examples: ['filing.rejected'] }),
  filingId: nullable(Type.String(), { description: 'Null for operational events.' }),
};

/** One attempt to deliver an event. */
export const attemptSchema = record(
  {
    ...event,
    attempt: Type.Integer({ description: '1 for the first try of the event.' }),
    outcome,
    statusCode,
    durationMs,
    response: nullable(Type.String(), {
      description:
        'The first 1 KiB of the response as text; null if there was none, and for a read-only token: responses often repeat the path or the headers of the request.',
    }),
    at: time('When it ended.'),
  },
  { $id: 'Attempt' },
);

/** Response of GET …/attempts. */
export const attemptListSchema = listOf(
  Type.Unsafe({ $ref: 'Attempt#' }),
  'Attempts, newest first; at least the latest 1 000 are kept.',
);

/** An event that was given up for a subscription. */
export const deadLetterSchema = record(
  {
    ...event,
    attempts: Type.Integer({ description: 'Number of attempts.' }),
    lastOutcome: oneOf([...Object.keys(outcomeKinds), 'expired', 'unreadable'], {
      description:
        'Outcome of the last attempt; `expired` if the event was trimmed from the log for its age before delivery. Then its id and type may be empty.',
      examples: ['http_error'],
    }),
    events: Type.Integer({
      description:
        'Number of events that it stands for: more than one if a stretch of the log has `expired`.',
    }),
    at: time('When it was given up.'),
  },
  { $id: 'DeadLetter' },
);

/** Response of GET …/dead-letters. */
export const deadLetterListSchema = listOf(
  Type.Unsafe({ $ref: 'DeadLetter#' }),
  'Events that were given up, newest first. POST …/replay with deadLettersOnly delivers them again.',
);

/** Response of POST …/test. */
export const pingAnswerSchema = record(
  {
    outcome,
    reason: nullable(Type.String(), {
      description: 'A sentence about a failure; null if it was delivered.',
    }),
    statusCode,
    durationMs,
    response,
  },
  { description: 'The outcome of the ping.' },
);

/** Body of POST …/replay. */
export const replayInputSchema = record({
  after: Type.Optional(instantSchema('Events recorded at this time or later.')),
  before: Type.Optional(instantSchema('Events recorded earlier than this time.')),
  eventTypes: Type.Optional(eventTypesSchema),
  filingId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: 'Events of this filing.' }),
  ),
  deadLettersOnly: Type.Optional(
    Type.Boolean({ default: false, description: 'Only events that were given up.' }),
  ),
});

const replay = {
  id: Type.String({ examples: ['rpl_7d21.sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506'] }),
  matched: Type.Integer({
    description:
      'Number of events that are delivered again. Exact up to half a million events of the log; later ones all count, whether or not they match.',
  }),
};

/** Response of POST …/replay. */
export const replayStartedSchema = {
  description: 'Begun.',
  headers: { location: { type: 'string', description: 'Where its progress is.' } },
  content: { 'application/json': { schema: record(replay) } },
};

/** Response of GET …/replays/{id}. */
export const replaySchema = record(
  {
    ...replay,
    state: oneOf(['running', 'finished']),
    delivered: Type.Integer({ description: 'Acknowledged so far.' }),
    failed: Type.Integer({ description: 'Given up again.' }),
    createdAt: time('When it was requested.'),
  },
  { description: 'The progress of the replay.' },
);

/** Path of a replay under its account. */
export const replayParams = Type.Object({
  ...accountParams,
  replay: Type.String({ description: 'Id of the replay.' }),
});

/** Path of a replay under its subscription. */
export const subscriptionReplayParams = Type.Object({
  ...accountParams,
  id: Type.String({ description: 'Id of the subscription.' }),
  replay: Type.String({ description: 'Id of the replay.' }),
});
