import { answer, pageQuery, problems, record } from '../shared/schema.ts';
import {
  accountAttemptsQuerySchema,
  attemptListSchema,
  attemptParams,
  attemptsQuerySchema,
  eventDeliveryListSchema,
  ofAccountParams,
} from './attempt-schema.ts';
import { deadLetterListSchema, pingAnswerSchema, verifyAnswerSchema } from './schema.ts';
import { eventParams, eventQuerySchema } from '../events/schema.ts';
import { subscriptionParams } from '../subscriptions/schema.ts';

/** Request and responses of GET /v1/accounts/{account}/subscriptions/{id}/attempts. */
export const listAttempts = {
  tags: ['Delivery'],
  operationId: 'listAttempts',
  summary: 'List attempts to deliver, newest first',
  description: 'Test calls are among them. A read-only token sees them without responses.',
  params: subscriptionParams,
  querystring: attemptsQuerySchema,
  response: { 200: attemptListSchema, ...problems(422) },
};

/** Request and responses of GET /v1/accounts/{account}/attempts. */
export const listAccountAttempts = {
  tags: ['Delivery'],
  operationId: 'listAccountAttempts',
  summary: 'List attempts of all subscriptions, newest first',
  description:
    'Filters are combined. With a filter a page may hold fewer attempts than `limit`, or none, and still have a next one.',
  params: ofAccountParams,
  querystring: accountAttemptsQuerySchema,
  response: { 200: attemptListSchema, ...problems(422) },
};

/** Request and responses of GET /v1/accounts/{account}/attempts/{attempt}. */
export const getAttempt = {
  tags: ['Delivery'],
  operationId: 'getAttempt',
  summary: 'Read an attempt with its request and its response',
  description:
    'The request is written once more from the event, as long as that is in the log. Values of custom headers are masked.',
  params: attemptParams,
  response: {
    200: answer('AttemptDetail', 'The attempt, and those of the same event for the same subscription.'),
    ...problems(),
  },
};

/** Request and responses of GET /v1/accounts/{account}/events/{event}/deliveries. */
export const listDeliveries = {
  tags: ['Delivery'],
  operationId: 'listDeliveries',
  summary: 'Who has an event, and who not yet',
  description: 'One item for each subscription of the account, also for those that do not select the event.',
  params: eventParams,
  querystring: record({ ...pageQuery, ...eventQuerySchema }),
  response: { 200: eventDeliveryListSchema, ...problems(422) },
};

/** Request and responses of GET /v1/accounts/{account}/subscriptions/{id}/dead-letters. */
export const listDeadLetters = {
  tags: ['Delivery'],
  operationId: 'listDeadLetters',
  summary: 'List events that were given up, newest first',
  description:
    'An event is given up when its attempts are used up, when it was trimmed before delivery, or when it cannot be read. POST …/replay delivers it again.',
  params: subscriptionParams,
  querystring: record(pageQuery),
  response: { 200: deadLetterListSchema, ...problems(422) },
};

/** Request and responses of POST /v1/accounts/{account}/subscriptions/{id}/test. */
export const testSubscription = {
  tags: ['Delivery'],
  operationId: 'testSubscription',
  summary: 'Send one ping now and return its outcome',
  description:
    'Works for disabled subscriptions too. It is in the list of attempts and counts as no failure and no success; if it is delivered, what waits for a failing endpoint is tried at once, as by POST …/resume. An endpoint that has yet to be verified gets none.',
  params: subscriptionParams,
  response: { 200: pingAnswerSchema, ...problems(403, 409, 429) },
};

/** Request and responses of POST /v1/accounts/{account}/subscriptions/{id}/verify. */
export const verifySubscription = {
  tags: ['Delivery'],
  operationId: 'verifySubscription',
  summary: 'Ask the endpoint now whether it wants the callbacks',
  description:
    'As `verification` of the subscription says. Once the endpoint agrees, events that wait are delivered. Works for disabled subscriptions too and does not enable them. An endpoint that was verified stays so, whatever it answers.',
  params: subscriptionParams,
  response: { 200: verifyAnswerSchema, ...problems(403, 409, 429) },
};
