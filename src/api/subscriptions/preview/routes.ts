import { previewEvents } from '../../../subscriptions/content-filter/preview.ts';
import type { ApiDeps } from '../../deps.ts';
import { eventsJson } from '../../events/json.ts';
import type { Api } from '../../server/api-instance.ts';
import { ownerOf } from '../../tokens/own-subscriptions.ts';
import { createInputCheck } from '../input.ts';
import { previewedDefault, previewSubscription } from './schema.ts';

// Milliseconds that a preview may take; ten thousand ordinary events take less than one second.
const previewMs = 30_000;

/** The preview of a subscription on the log. */
export function addPreviewRoute(app: Api, deps: ApiDeps): void {
  app.post(
    '/accounts/:account/subscriptions/preview',
    {
      attachValidation: true,
      config: { bodyOptional: true, dear: 'scans', onlyReads: true },
      handlerTimeout: previewMs,
      preHandler: createInputCheck(deps),
      schema: previewSubscription,
    },
    async (request, reply) => {
      const { account } = request.params;
      const { eventTypes = ['filing.*'], states = null, statuses = null, filter = null, last } = request.body;
      const { samples, ...counts } = await previewEvents(
        deps,
        account,
        { eventTypes, states, statuses, filter, confined: ownerOf(request) !== null },
        last ?? previewedDefault,
      );
      void reply.type('application/json; charset=utf-8');
      const head = JSON.stringify(counts).slice(0, -1);
      return reply.send(
        Buffer.concat([Buffer.from(`${head},"samples":[`), ...eventsJson(samples), Buffer.from(']}')]),
      );
    },
  );
}
