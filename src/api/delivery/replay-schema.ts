import { Type } from 'typebox';
import { replaysKept } from '../../delivery/replay/replay.ts';
import { instantSchema } from '../../json/instant.ts';
import { eventIdPattern } from '../shared/patterns.ts';
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
import { eventTypesSchema, subscriptionParams } from '../subscriptions/schema.ts';

/** Body of POST …/replay. */
export const replayInputSchema = record({
  after: Type.Optional(
    instantSchema('Events recorded at this time or later; one is recorded a moment after its `timestamp`.'),
  ),
  before: Type.Optional(
    instantSchema('Events recorded earlier than this time, which is later than `after`.'),
  ),
  eventTypes: Type.Optional(eventTypesSchema),
  filingId: filingIdIn('Events of this filing.'),
  deadLettersOnly: Type.Optional(
    Type.Boolean({ default: false, description: 'Only events that were given up.' }),
  ),
  eventIds: Type.Optional(
    Type.Array(Type.String({ pattern: eventIdPattern }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description:
        'Only these events, by their `webhook-id`; each must be in the log. Not together with `deadLettersOnly`.',
      examples: [['evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f']],
    }),
  ),
});

/** Query of POST …/replay. */
const replayQuerySchema = record({
  dryRun: Type.Optional(
    oneOf(['true', 'false'], {
      default: 'false',
      description:
        '`true` starts nothing and answers 200 with the number of events that would be delivered again.',
    }),
  ),
});

/** Response of POST …/replay?dryRun=true. */
export const replayCountSchema = record(
  {
    matched: Type.Integer({
      description: 'Number of events that would be delivered again, counted as for a replay.',
    }),
  },
  { $id: 'ReplayCount' },
);

const replay = {
  id: Type.String({ examples: ['rpl_7d21.sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506'] }),
  matched: Type.Integer({
    description:
      'Number of events that are delivered again. Exact up to half a million events of the log; later ones all count, whether or not they match.',
  }),
};

/** Response of POST …/replay. */
const replayStartedSchema = {
  description: 'Begun.',
  headers: { location: { type: 'string', description: 'Where its progress is.' } },
  content: { 'application/json': { schema: record(replay) } },
};

const noCondition = 'null for no such condition.';

/** Response of GET …/replays/{id}. */
export const replaySchema = record(
  {
    ...replay,
    state: oneOf(['running', 'finished', 'cancelled'], {
      description: '`running` also while it waits for an earlier replay of the subscription.',
    }),
    delivered: Type.Integer({ description: 'Acknowledged so far.' }),
    failed: Type.Integer({ description: 'Given up again.' }),
    createdAt: time('When it was requested.'),
    conditions: record({
      after: timeOrNull(`Events recorded at this time or later; ${noCondition}`),
      before: timeOrNull(`Events recorded earlier than this time; ${noCondition}`),
      eventTypes: nullable(Type.Array(Type.String()), { description: `These types; ${noCondition}` }),
      filingId: nullable(Type.String(), { description: `Events of this filing; ${noCondition}` }),
      deadLettersOnly: Type.Boolean({ description: 'Only events that had been given up.' }),
      eventIds: nullable(Type.Array(Type.String()), { description: `These events; ${noCondition}` }),
      fromState: Type.Boolean({
        description:
          'True for the snapshot of a subscription with `from: "state"`, which delivers filings, not events.',
      }),
    }),
  },
  { $id: 'Replay' },
);

/** Response of GET …/subscriptions/{id}/replays. */
const replayListSchema = listOf(
  Type.Unsafe({ $ref: 'Replay#' }),
  'The latest 50 replays of the subscription, newest first; of more, the oldest that have ended are forgotten.',
);

/** Path of a replay under its account. */
const replayParams = Type.Object({
  ...accountParams,
  replay: Type.String({ description: 'Id of the replay.' }),
});

/** Path of a replay under its subscription. */
const subscriptionReplayParams = Type.Object({
  ...replayParams.properties,
  id: Type.String({ description: 'Id of the subscription.' }),
});

/** Request and responses of POST /v1/accounts/{account}/subscriptions/{id}/replay. */
export const replayEvents = {
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
    409: conflict,
  },
};

const progress = {
  summary: 'How far a replay has got',
  description: 'The counts follow the attempts of the replay. Fifty replays of a subscription are kept.',
  response: { 200: answer('Replay', 'The progress of the replay.') },
};

/** Request and responses of GET /v1/accounts/{account}/subscriptions/{id}/replays/{replay}. */
export const getSubscriptionReplay = {
  ...progress,
  operationId: 'getSubscriptionReplay',
  params: subscriptionReplayParams,
};

/** Request and responses of GET /v1/accounts/{account}/replays/{replay}. */
export const getReplay = { ...progress, operationId: 'getReplay', params: replayParams };

/** Request and responses of GET /v1/accounts/{account}/subscriptions/{id}/replays. */
export const listReplays = {
  operationId: 'listReplays',
  summary: 'List replays, newest first',
  description: 'Running and ended ones.',
  params: subscriptionParams,
  querystring: record(pageQuery),
  response: { 200: replayListSchema },
};

const cancelled = {
  summary: 'Cancel a replay',
  description:
    'Callbacks in flight may still arrive; nothing is sent for it after that. A replay that has ended stays as it is.',
  response: { 204: { type: 'null', description: 'It has ended.' } },
};

/** Request and responses of DELETE /v1/accounts/{account}/subscriptions/{id}/replays/{replay}. */
export const cancelSubscriptionReplay = {
  ...cancelled,
  operationId: 'cancelSubscriptionReplay',
  params: subscriptionReplayParams,
};

/** Request and responses of DELETE /v1/accounts/{account}/replays/{replay}. */
export const cancelReplay = { ...cancelled, operationId: 'cancelReplay', params: replayParams };
