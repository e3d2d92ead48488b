import { Type } from 'typebox';
import { outcomeKinds } from '../../callbacks/outcome.ts';
import { instantSchema } from '../../json/instant.ts';
import { verifiedSchema } from '../../subscriptions/options/verification.ts';
import { eventParams, eventQuerySchema } from '../events/schema.ts';
import { subscriptionIdPattern } from '../shared/patterns.ts';
import {
  accountParams,
  answer,
  conflict,
  filingIdIn,
  listOf,
  nullable,
  oneOf,
  pageQuery,
  record,
  time,
  timeOrNull,
} from '../shared/schema.ts';
import { subscriptionParams } from '../subscriptions/schema.ts';

const outcomes = Object.keys(outcomeKinds);
// Outcomes of events that were given up: some without an attempt.
const lastOutcomes = [...outcomes, 'expired', 'unreadable'];

/** Outcome of an attempt. */
const outcome = oneOf(outcomes, {
  description: 'The outcome; docs/callback-outcomes.md says what each leads to.',
  examples: ['http_error'],
});

/** Status code of a response. */
const statusCode = nullable(Type.Integer(), { description: 'Null if there was no response.' });

/** Duration of an attempt. */
const durationMs = Type.Number({
  description: 'Milliseconds from the first byte sent to the end of the response.',
});

const response = nullable(Type.String(), {
  description:
    'The first 1 KiB of the response as text; null if there was none, and in lists for a read-only token: responses often repeat the path or the headers of the request.',
});

/** The event that a record is about. */
const event = {
  eventId: Type.String({ description: 'The `webhook-id`.' }),
  eventType: Type.String({ examples: ['filing.rejected'] }),
  filingId: nullable(Type.String(), { description: 'Null for operational events.' }),
};

/** An event that was given up for a subscription. */
export const deadLetterSchema = record(
  {
    ...event,
    attempts: Type.Integer({ description: 'Number of attempts.' }),
    lastOutcome: oneOf(lastOutcomes, {
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
const deadLetterListSchema = listOf(
  Type.Unsafe({ $ref: 'DeadLetter#' }),
  'Events that were given up, newest first. POST …/replay with deadLettersOnly delivers them again.',
);

/** Response of POST …/verify. */
const verifyAnswerSchema = record(
  {
    verified: verifiedSchema,
    outcome,
    reason: nullable(Type.String(), { description: 'Why the endpoint is not verified; null if it is.' }),
    statusCode,
    durationMs,
  },
  { description: 'The verification of the endpoint, and the outcome of the question.' },
);

/** Response of POST …/test. */
export const pingAnswerSchema = record(
  {
    outcome,
    reason: nullable(Type.String(), { description: 'A sentence about a failure; null if it was delivered.' }),
    statusCode,
    durationMs,
    response,
  },
  { description: 'The outcome of the ping.' },
);

const attemptId = Type.String({
  description: 'Id of the attempt.',
  examples: ['att_1763719803120-0.sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506'],
});

const subscriptionId = Type.String({
  description: 'Id of the subscription.',
  examples: ['sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506'],
});

const attempt = {
  id: attemptId,
  subscription: subscriptionId,
  ...event,
  attempt: Type.Integer({ description: '1 for the first try of the event.' }),
  outcome,
  statusCode,
  durationMs,
  response,
  reason: nullable(Type.String(), {
    description:
      'Why it failed and what to do, for `token_error`, `tls_error`, `proxy_refused` and `proxy_error`; 200 characters at most. Null otherwise.',
  }),
  at: time('When it ended.'),
  replay: nullable(Type.String(), {
    description: 'Id of the replay that it belongs to; null outside replays.',
  }),
};

/** One attempt to deliver an event. */
export const attemptSchema = record(attempt, { $id: 'Attempt' });

const near = (side: string) =>
  Type.Array(Type.Unsafe<unknown>({ $ref: 'Attempt#' }), {
    description: `The nearest ${side} attempts of the same event for the same subscription, newest first; 20 at most.`,
  });

const request = nullable(
  record({
    url: Type.String({ description: 'As it was called; its origin alone for a read-only token.' }),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        'With the values of custom headers masked, and the signature for a read-only token. Without those that every HTTP client adds.',
    }),
    body: Type.String({
      description:
        'Written once more from the event in the log, in the format that the subscription had then.',
    }),
  }),
  { description: 'The request as it was sent; null where `requestMissing` says why.' },
);

/** One attempt in full: GET …/attempts/{id}. */
export const attemptDetailSchema = record(
  {
    ...attempt,
    request,
    requestMissing: nullable(Type.String(), {
      description: 'Why `request` is null; null where it is shown.',
    }),
    responseHeaders: nullable(Type.Record(Type.String(), Type.String()), {
      description:
        'The first 20 headers, 2 KiB at most; null if there was no response or they were not kept (DELIVERY_ATTEMPT_DETAILS), and for a read-only token.',
    }),
    earlier: near('earlier'),
    later: near('later'),
  },
  { $id: 'AttemptDetail' },
);

/** Response of GET …/attempts. */
const attemptListSchema = listOf(
  Type.Unsafe({ $ref: 'Attempt#' }),
  'Attempts, newest first; at least the latest 1 000 are kept. With filters a page may hold fewer than `limit`, or none, and still have a next one.',
);

const filters = {
  eventId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'Only attempts to deliver this event.' }),
  ),
  filingId: filingIdIn('Only those of events of this filing.'),
  outcome: Type.Optional(
    oneOf(outcomes, { description: 'Only those with this outcome.', examples: ['http_error'] }),
  ),
  after: Type.Optional(instantSchema('Only those that ended at this time or later.')),
  before: Type.Optional(instantSchema('Only those that ended earlier than this time.')),
};

/** Query of GET …/subscriptions/{id}/attempts. */
const attemptsQuerySchema = record({ ...pageQuery, ...filters });

/** Query of GET …/attempts. */
const accountAttemptsQuerySchema = record({
  ...pageQuery,
  subscription: Type.Optional(
    Type.String({ pattern: subscriptionIdPattern, description: 'Only those for this subscription.' }),
  ),
  ...filters,
});

/** Delivery of an event to one subscription. */
export const eventDeliverySchema = record(
  {
    subscription: subscriptionId,
    description: nullable(Type.String(), { description: 'Of the subscription.' }),
    url: Type.String({ description: 'Of the subscription now; its origin alone for a read-only token.' }),
    enabled: Type.Boolean({
      description: 'Whether the subscription is enabled now; what it waits for is not sent before it is.',
    }),
    state: oneOf(['delivered', 'waiting', 'given_up', 'not_selected'], {
      description:
        '`waiting`: it was not sent yet, or is tried again. `given_up`: it is a dead letter, or may have been one that made way (`quota.dropped` of the account). `not_selected`: the subscription does not ask for it, did not in its time, or began after it.',
    }),
    attempts: nullable(Type.Integer(), {
      description: 'Number of attempts so far; null if they are no longer kept.',
    }),
    lastOutcome: nullable(oneOf(lastOutcomes), {
      description: 'Outcome of the last attempt; null if there was none or it is no longer kept.',
      enum: [...lastOutcomes, null],
    }),
    lastStatusCode: statusCode,
    lastReason: nullable(Type.String(), {
      description: 'The `reason` of the last attempt; null if it has none or is no longer kept.',
    }),
    deliveredAt: timeOrNull(
      'When it was acknowledged; null before that, and if that attempt is no longer kept.',
    ),
    nextAttemptAt: timeOrNull('When it is tried next; null if nothing is planned.'),
    lastAttempt: nullable(Type.String(), {
      description: 'Id of the last attempt that is kept; null without one.',
    }),
  },
  { $id: 'EventDelivery' },
);

/** Response of GET …/events/{event}/deliveries. */
const eventDeliveryListSchema = listOf(
  Type.Unsafe({ $ref: 'EventDelivery#' }),
  'One item for each subscription, the oldest first.',
);

/** Request and responses of GET /v1/accounts/{account}/subscriptions/{id}/attempts. */
export const listAttempts = {
  operationId: 'listAttempts',
  summary: 'List attempts to deliver, newest first',
  description: 'Test calls are among them. A read-only token sees them without responses.',
  params: subscriptionParams,
  querystring: attemptsQuerySchema,
  response: { 200: attemptListSchema },
};

/** Request and responses of GET /v1/accounts/{account}/attempts. */
export const listAccountAttempts = {
  operationId: 'listAccountAttempts',
  summary: 'List attempts of all subscriptions, newest first',
  description: 'Filters are combined.',
  params: Type.Object(accountParams),
  querystring: accountAttemptsQuerySchema,
  response: { 200: attemptListSchema },
};

/** Request and responses of GET /v1/accounts/{account}/attempts/{attempt}. */
export const getAttempt = {
  operationId: 'getAttempt',
  summary: 'Read an attempt with its request and its response',
  description:
    'The request is written once more from the event, as long as that is in the log. Values of custom headers are masked.',
  params: Type.Object({ ...accountParams, attempt: attemptId }),
  response: {
    200: answer('AttemptDetail', 'The attempt, and those of the same event for the same subscription.'),
  },
};

/** Request and responses of GET /v1/accounts/{account}/events/{event}/deliveries. */
export const listDeliveries = {
  operationId: 'listDeliveries',
  summary: 'Who has an event, and who not yet',
  description: 'One item for each subscription of the account, also for those that do not select the event.',
  params: eventParams,
  querystring: record({ ...pageQuery, ...eventQuerySchema }),
  response: { 200: eventDeliveryListSchema },
};

/** Request and responses of GET /v1/accounts/{account}/subscriptions/{id}/dead-letters. */
export const listDeadLetters = {
  operationId: 'listDeadLetters',
  summary: 'List events that were given up, newest first',
  description:
    'An event is given up when its attempts are used up, when it was trimmed before delivery, or when it cannot be read. POST …/replay delivers it again.',
  params: subscriptionParams,
  querystring: record(pageQuery),
  response: { 200: deadLetterListSchema },
};

/** Request and responses of POST /v1/accounts/{account}/subscriptions/{id}/test. */
export const testSubscription = {
  operationId: 'testSubscription',
  summary: 'Send one ping now and return its outcome',
  description:
    'Works for disabled subscriptions too. It is in the list of attempts and counts as no failure and no success; if it is delivered, what waits for a failing endpoint is tried at once, as by POST …/resume. An endpoint that has yet to be verified gets none.',
  params: subscriptionParams,
  response: { 200: pingAnswerSchema, 409: conflict },
};

/** Request and responses of POST /v1/accounts/{account}/subscriptions/{id}/verify. */
export const verifySubscription = {
  operationId: 'verifySubscription',
  summary: 'Ask the endpoint now whether it wants the callbacks',
  description:
    'As `verification` of the subscription says. Once the endpoint agrees, events that wait are delivered. Works for disabled subscriptions too and does not enable them. An endpoint that was verified stays so, whatever it answers.',
  params: subscriptionParams,
  response: { 200: verifyAnswerSchema, 409: conflict },
};
