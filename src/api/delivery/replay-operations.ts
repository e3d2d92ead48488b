import { replaysKept } from '../../delivery/replay/replay-store.ts';
import { answer, bodyProblems, pageQuery, problems, record } from '../shared/schema.ts';
import { subscriptionParams } from '../subscriptions/schema.ts';
import {
  replayInputSchema,
  replayListSchema,
  replayParams,
  replayQuerySchema,
  replayStartedSchema,
  subscriptionReplayParams,
} from './replay-schema.ts';

/** Request and responses of POST /v1/accounts/{account}/subscriptions/{id}/replay. */
export const replayEvents = {
  tags: ['Delivery'],
  operationId: 'replayEvents',
  summary: 'Deliver events again, under their own ids',
  description:
    'Without conditions everything still in the log that the subscription asks for is delivered again. The same request asked again ' +
    'before it has finished is the same replay, so it may be repeated when the answer was lost. Progress is under ' +
    `…/replays/{id}, below the subscription as well as below the account; of each subscription the latest ${replaysKept} are kept.`,
  params: subscriptionParams,
  querystring: replayQuerySchema,
  body: replayInputSchema,
  response: {
    200: answer('ReplayCount', 'Only counted, with `dryRun=true`.'),
    202: replayStartedSchema,
    ...problems(...bodyProblems, 409, 429),
  },
};

/** Request and responses of GET /v1/accounts/{account}/subscriptions/{id}/replays/{replay}. */
export const getSubscriptionReplay = {
  tags: ['Delivery'],
  operationId: 'getSubscriptionReplay',
  summary: 'How far a replay has got',
  description: 'The counts follow the attempts of the replay. Fifty replays of a subscription are kept.',
  params: subscriptionReplayParams,
  response: { 200: answer('Replay', 'The progress of the replay.'), ...problems() },
};

/** Request and responses of GET /v1/accounts/{account}/replays/{replay}. */
export const getReplay = {
  tags: ['Delivery'],
  operationId: 'getReplay',
  summary: 'How far a replay has got',
  description: 'The counts follow the attempts of the replay. Fifty replays of a subscription are kept.',
  params: replayParams,
  response: { 200: answer('Replay', 'The progress of the replay.'), ...problems() },
};

/** Request and responses of GET /v1/accounts/{account}/subscriptions/{id}/replays. */
export const listReplays = {
  tags: ['Delivery'],
  operationId: 'listReplays',
  summary: 'List replays, newest first',
  description: 'Running and ended replays with their conditions and their progress.',
  params: subscriptionParams,
  querystring: record(pageQuery),
  response: { 200: replayListSchema, ...problems(422) },
};

const cancelled = {
  tags: ['Delivery'],
  summary: 'Cancel a replay',
  description:
    'Callbacks in flight may still arrive; nothing is sent for it after that. A replay that has ended stays as it is.',
  response: { 204: { type: 'null', description: 'It has ended.' }, ...problems(403) },
};

/** Request and responses of DELETE /v1/accounts/{account}/subscriptions/{id}/replays/{replay}. */
export const cancelSubscriptionReplay = {
  ...cancelled,
  operationId: 'cancelSubscriptionReplay',
  params: subscriptionReplayParams,
};

/** Request and responses of DELETE /v1/accounts/{account}/replays/{replay}. */
export const cancelReplay = { ...cancelled, operationId: 'cancelReplay', params: replayParams };
