import { Type } from 'typebox';
import { previewEvents } from '../../subscriptions/content-filter/preview.ts';
import { filterSchema } from '../../subscriptions/options/filter.ts';
import { ownerOf } from '../access/own-subscriptions.ts';
import type { ApiDeps, Api } from '../deps.ts';
import { sendJson } from '../events/json.ts';
import { createInputCheck } from './input.ts';
import { eventSchema } from '../document/event-schemas.ts';
import { eventTypesSchema, statesSchema, statusesSchema } from './schema.ts';
import { arrayOf, described, inAccount, integer, operation, optional, record } from '../shared/schema.ts';

// Milliseconds that a preview may take; ten thousand ordinary events take less than one second.
const previewMs = 30_000;

/** The preview of a subscription on the log. */
export function addPreviewRoute(app: Api, deps: ApiDeps): void {
  app.post(
    '/subscriptions/preview',
    { ...previewSubscription, preHandler: createInputCheck(deps) },
    async (request, reply) => {
      const { account } = request.params;
      const { eventTypes = ['filing.*'], states = null, statuses = null, filter = null, last } = request.body;
      const { samples, ...counts } = await previewEvents(
        deps,
        account,
        { eventTypes, states, statuses, filter, confined: ownerOf(request) !== null },
        last ?? previewedDefault,
      );
      return sendJson(reply, counts, 'samples', samples);
    },
  );
}

/** Maximum number of events that a preview looks at. */
const previewedMax = 10_000;

/** Number of events that it looks at unless the request says otherwise. */
const previewedDefault = 1_000;

/** Body of POST …/subscriptions/preview. */
const previewInputSchema = record(
  optional({
    eventTypes: eventTypesSchema,
    states: statesSchema,
    statuses: statusesSchema,
    filter: filterSchema,
    last: Type.Integer({
      minimum: 1,
      maximum: previewedMax,
      default: previewedDefault,
      description: 'Number of events of the log to look at, the latest ones.',
    }),
  }),
);

/** Response; the handler writes its bytes, so samples stay as they were stored. */
const previewSchema = Type.Unsafe<Buffer>(
  described('What a subscription with these settings would have got.', {
    matched: integer('Number of these events that the settings select.'),
    of: integer(
      'Number of events that were looked at: fewer than `last` where the log has fewer, or where their bodies have more than 32 MiB.',
    ),
    undecided: integer(
      'Number of these events on which `filter` cannot decide. A subscription gets them besides those that match.',
    ),
    samples: arrayOf(eventSchema, {
      description: 'Up to five of the events that match, the latest first.',
    }),
  }),
);

const previewSubscription = operation({
  attachValidation: true,
  config: { bodyOptional: true, dear: 'scans', onlyReads: true },
  handlerTimeout: previewMs,
  operationId: 'previewSubscription',
  summary: 'What a subscription would have got of the latest events',
  description:
    'Tries settings on the log. Nothing is stored and nothing is sent, so read-only tokens may do it.',
  params: inAccount,
  body: previewInputSchema,
  response: { 200: previewSchema },
});
