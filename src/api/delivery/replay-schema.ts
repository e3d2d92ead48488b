import { Type } from 'typebox';
import { accountParams, listOf, nullable, oneOf, record, time, timeOrNull } from '../shared/schema.ts';
import { eventIdPattern } from '../shared/patterns.ts';
import { instantSchema } from '../../json/instant.ts';
import { eventTypesSchema } from '../subscriptions/schema.ts';

/** Body of POST …/replay. */
export const replayInputSchema = record({
  after: Type.Optional(
    instantSchema('Events recorded at this time or later; one is recorded a moment after its `timestamp`.'),
  ),
  before: Type.Optional(
    instantSchema('Events recorded earlier than this time, which is later than `after`.'),
  ),
  eventTypes: Type.Optional(eventTypesSchema),
  filingId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: 'Events of this filing.' }),
  ),
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
export const replayQuerySchema = record({
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
export const replayStartedSchema = {
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
export const replayListSchema = listOf(
  Type.Unsafe({ $ref: 'Replay#' }),
  'The latest 50 replays of the subscription, newest first; of more, the oldest that have ended are forgotten.',
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
