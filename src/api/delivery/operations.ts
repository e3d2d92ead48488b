import { replaysKept } from '../../delivery/replay/replay-store.ts';
import { bodyProblems, pageQuery, problems, record } from '../shared/schema.ts';
import {
  attemptListSchema,
  deadLetterListSchema,
  pingAnswerSchema,
  replayInputSchema,
  replayParams,
  replaySchema,
  replayStartedSchema,
  subscriptionReplayParams,
} from './schema.ts';
import { subscriptionParams } from '../subscriptions/schema.ts';

/** Request and responses of GET /v1/accounts/{account}/subscriptions/{id}/attempts. */
export const listAttempts = {
  tags: ['Delivery'],
  operationId: 'listAttempts',
  summary: 'List attempts to deliver, newest first',
  params: subscriptionParams,
  querystring: record(pageQuery),
  response: { 200: attemptListSchema, ...problems(422) },
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

/** Request and responses of POST /v1/accounts/{account}/subscriptions/{id}/replay. */
export const replayEvents = {
  tags: ['Delivery'],
  operationId: 'replayEvents',
  summary: 'Deliver events again, under their own ids',
  description:
    'Without conditions everything still in the log that the subscription asks for is delivered again. The same request asked again ' +
    'before it has finished is the same replay, so it may be repeated when the answer was lost. `before` must be later than `after`. Progress is under ' +
    `…/replays/{id}, below the subscription as well as below the account; of each subscription the latest ${replaysKept} are kept.`,
  params: subscriptionParams,
  body: replayInputSchema,
  response: { 202: replayStartedSchema, ...problems(...bodyProblems, 409, 429) },
};

/** Request and responses of GET /v1/accounts/{account}/subscriptions/{id}/replays/{replay}. */
export const getSubscriptionReplay = {
  tags: ['Delivery'],
  operationId: 'getSubscriptionReplay',
  summary: 'How far a replay has got',
  params: subscriptionReplayParams,
  response: { 200: replaySchema, ...problems() },
};

/** Request and responses of GET /v1/accounts/{account}/replays/{replay}. */
export const getReplay = {
  tags: ['Delivery'],
  operationId: 'getReplay',
  summary: 'How far a replay has got',
  params: replayParams,
  response: { 200: replaySchema, ...problems() },
};
