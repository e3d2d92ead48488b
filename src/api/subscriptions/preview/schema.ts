import { Type } from 'typebox';
import { accountParams, record } from '../../shared/schema.ts';
import { eventTypesSchema, statesSchema, statusesSchema } from '../schema.ts';
import { filterSchema } from '../../../subscriptions/options/filter.ts';

/** Maximum number of events that a preview looks at. */
const previewedMax = 10_000;

/** Number of events that it looks at unless the request says otherwise. */
export const previewedDefault = 1_000;

/** Body of POST …/subscriptions/preview. */
const previewInputSchema = record({
  eventTypes: Type.Optional(eventTypesSchema),
  states: Type.Optional(statesSchema),
  statuses: Type.Optional(statusesSchema),
  filter: Type.Optional(filterSchema),
  last: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: previewedMax,
      default: previewedDefault,
      description: 'Number of events of the log to look at, the latest ones.',
    }),
  ),
});

/** Response; the handler writes its bytes, so samples stay as they were stored. */
const previewSchema = Type.Unsafe<Buffer>(
  record(
    {
      matched: Type.Integer({ description: 'Number of these events that the settings select.' }),
      of: Type.Integer({
        description:
          'Number of events that were looked at: fewer than `last` where the log has fewer, or where their bodies have more than 32 MiB.',
      }),
      undecided: Type.Integer({
        description:
          'Number of these events on which `filter` cannot decide. A subscription gets them besides those that match.',
      }),
      samples: Type.Array(Type.Unsafe({ $ref: 'LoggedEvent#' }), {
        description: 'Up to five of the events that match, the latest first.',
      }),
    },
    { description: 'What a subscription with these settings would have got.' },
  ),
);

/** Request and responses of POST /v1/accounts/{account}/subscriptions/preview. */
export const previewSubscription = {
  operationId: 'previewSubscription',
  summary: 'What a subscription would have got of the latest events',
  description:
    'Tries settings on the log. Nothing is stored and nothing is sent, so read-only tokens may do it.',
  params: Type.Object(accountParams),
  body: previewInputSchema,
  response: { 200: previewSchema },
};
