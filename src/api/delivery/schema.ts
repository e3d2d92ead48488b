import { Type } from 'typebox';
import { outcomeKinds } from '../../callbacks/outcome.ts';
import { verifiedSchema } from '../../subscriptions/options/verification.ts';
import { listOf, nullable, oneOf, record, time } from '../shared/schema.ts';

/** Outcome of an attempt. */
export const outcome = oneOf(Object.keys(outcomeKinds), {
  description: 'The outcome; docs/callback-outcomes.md says what each leads to.',
  examples: ['http_error'],
});

/** Status code of a response. */
export const statusCode = nullable(Type.Integer(), { description: 'Null if there was no response.' });

/** Duration of an attempt. */
export const durationMs = Type.Number({
  description: 'Milliseconds from the first byte sent to the end of the response.',
});

const response = nullable(Type.String(), {
  description: 'The first 1 KiB of the response as text; null if there was none.',
});

/** The event that a record is about. */
export const event = {
  eventId: Type.String({ description: 'The `webhook-id`.' }),
  eventType: Type.String({ examples: ['filing.rejected'] }),
  filingId: nullable(Type.String(), { description: 'Null for operational events.' }),
};

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

/** Response of POST …/verify. */
export const verifyAnswerSchema = record(
  {
    verified: verifiedSchema,
    outcome,
    reason: nullable(Type.String(), {
      description: 'Why the endpoint is not verified; null if it is.',
    }),
    statusCode,
    durationMs,
  },
  { description: 'The verification of the endpoint, and the outcome of the question.' },
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
