import { subscriptionIdPattern } from '../shared/patterns.ts';
import { Type } from 'typebox';
import { instantSchema } from '../../json/instant.ts';
import {
  accountParams,
  listOf,
  nullable,
  oneOf,
  pageQuery,
  record,
  time,
  timeOrNull,
} from '../shared/schema.ts';
import { outcomeKinds } from '../../callbacks/outcome.ts';
import { durationMs, event, outcome, statusCode } from './schema.ts';

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
  response: nullable(Type.String(), {
    description:
      'The first 1 KiB of the response as text; null if there was none, and for a read-only token: responses often repeat the path or the headers of the request.',
  }),
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
export const attemptListSchema = listOf(
  Type.Unsafe({ $ref: 'Attempt#' }),
  'Attempts, newest first; at least the latest 1 000 are kept. With filters a page may hold fewer than `limit`, or none, and still have a next one.',
);

const filters = {
  eventId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'Only attempts to deliver this event.' }),
  ),
  filingId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: 'Only those of events of this filing.' }),
  ),
  outcome: Type.Optional(
    oneOf(Object.keys(outcomeKinds), {
      description: 'Only those with this outcome.',
      examples: ['http_error'],
    }),
  ),
  after: Type.Optional(instantSchema('Only those that ended at this time or later.')),
  before: Type.Optional(instantSchema('Only those that ended earlier than this time.')),
};

/** Query of GET …/subscriptions/{id}/attempts. */
export const attemptsQuerySchema = record({ ...pageQuery, ...filters });

/** Query of GET …/attempts. */
export const accountAttemptsQuerySchema = record({
  ...pageQuery,
  subscription: Type.Optional(
    Type.String({ pattern: subscriptionIdPattern, description: 'Only those for this subscription.' }),
  ),
  ...filters,
});

/** Path of an attempt. */
export const attemptParams = Type.Object({ ...accountParams, attempt: attemptId });

/** Path of what belongs to an account alone. */
export const ofAccountParams = Type.Object(accountParams);

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
    lastOutcome: nullable(oneOf([...Object.keys(outcomeKinds), 'expired', 'unreadable']), {
      description: 'Outcome of the last attempt; null if there was none or it is no longer kept.',
      enum: [...Object.keys(outcomeKinds), 'expired', 'unreadable', null],
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
export const eventDeliveryListSchema = listOf(
  Type.Unsafe({ $ref: 'EventDelivery#' }),
  'One item for each subscription, the oldest first.',
);
