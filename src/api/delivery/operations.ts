import { answer, pageQuery, problems, record } from '../shared/schema.ts';
import {
  accountAttemptsQuerySchema,
  attemptListSchema,
  attemptParams,
  attemptsQuerySchema,
  eventDeliveryListSchema,
  ofAccountParams,
} from './attempt-schema.ts';
import { deadLetterListSchema, pingAnswerSchema } from './schema.ts';
import { eventParams, eventQuerySchema } from '../events/schema.ts';
import { subscriptionParams } from '../subscriptions/schema.ts';

/** Request and responses of GET /v1/accounts/{account}/subscriptions/{id}/attempts. */
export const listAttempts = {
  tags: ['Delivery'],
  operationId: 'listAttempts',
  summary: 'List attempts to deliver, newest first',
  params: subscriptionParams,
  querystring: attemptsQuerySchema,
  response: { 200: attemptListSchema, ...problems(422) },
};

/** Request and responses of GET /v1/accounts/{account}/attempts. */
export const listAccountAttempts = {
  tags: ['Delivery'],
  operationId: 'listAccountAttempts',
  summary: 'List attempts of all subscriptions, newest first',
  params: ofAccountParams,
  querystring: accountAttemptsQuerySchema,
  response: { 200: attemptListSchema, ...problems(422) },
};

/** Request and responses of GET /v1/accounts/{account}/attempts/{attempt}. */
export const getAttempt = {
  tags: ['Delivery'],
  operationId: 'getAttempt',
  summary: 'Read an attempt with its request and its response',
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
  params: eventParams,
  querystring: record({ ...pageQuery, ...eventQuerySchema }),
  response: { 200: eventDeliveryListSchema, ...problems(422) },
};

/** Request and responses of GET /v1/accounts/{account}/subscriptions/{id}/dead-letters. */
export const listDeadLetters = {
  tags: ['Delivery'],
  operationId: 'listDeadLetters',
  summary: 'List events that were given up, newest first',
  params: subscriptionParams,
  querystring: record(pageQuery),
  response: { 200: deadLetterListSchema, ...problems(422) },
};

/** Request and responses of POST /v1/accounts/{account}/subscriptions/{id}/test. */
export const testSubscription = {
  tags: ['Delivery'],
  operationId: 'testSubscription',
  summary: 'Send one ping now and return its outcome',
  description: 'Works for disabled subscriptions too, changes nothing, and is not in the list of attempts.',
  params: subscriptionParams,
  response: { 200: pingAnswerSchema, ...problems(403, 429) },
};
