import { Type } from 'typebox';
import { whileItLasts } from '../../subscriptions/options/expires-at.ts';
import { orProblem, replayId } from '../delivery/replays.ts';
import type { Api, ApiDeps } from '../deps.ts';
import * as s from '../shared/schema.ts';
import { notFound, Problem } from '../shared/problem.ts';
import { requireSubscription, requireVerified } from '../subscriptions/find.ts';
import { filingParams } from './filings.ts';

/** Sends a filing as it is to chosen subscriptions. */
export function addSendRoute(app: Api, deps: ApiDeps): void {
  const { filings, replayer, now } = deps;
  app.post('/filings/:filingId/send', sendFiling, async (request, reply) => {
    const { account, filingId } = request.params;
    const filing = await filings.get(account, filingId);
    if (filing === null || filing.state.removed) throw notFound('filing_not_found');
    const { subscriptions } = request.body;
    // All of them are looked at before anything is sent.
    for (const id of subscriptions) {
      const { subscription, delivery } = await requireSubscription(deps, account, id);
      requireVerified(subscription);
      if (!whileItLasts(delivery, subscription, now()).enabled)
        throw new Problem(
          'subscription_disabled',
          `Enable the subscription ${id} with PATCH, "enabled": true, or leave it out.`,
        );
    }
    const items = [];
    for (const id of subscriptions) {
      const replay = await orProblem(replayer.snapshot(account, id, filingId));
      items.push({ subscription: id, replay: replayId(replay, id) });
    }
    void reply.code(202);
    return { items };
  });
}

/** Body of POST …/send. */
const sendInputSchema = s.shared('SendInput', {
  subscriptions: Type.Array(s.string('Id of a subscription.'), {
    minItems: 1,
    maxItems: 20,
    uniqueItems: true,
    description: 'Each gets the filing whatever it asks for; all have to be enabled.',
    examples: [['sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506']],
  }),
});

/** Response of POST …/send. */
const sentSchema = s.described('It is sent as soon as nothing else waits for the endpoint.', {
  items: s.arrayOf(
    s.record({
      subscription: s.string('Id of the subscription.'),
      replay: s.string('Id of the replay that sends it; GET …/replays/{id} shows how far it is.'),
    }),
    { description: 'In the order of the request.' },
  ),
});

const sendFiling = s.operation({
  operationId: 'sendFiling',
  summary: 'Send a filing as it is to chosen subscriptions',
  description:
    'Each gets one `filing.snapshot` of it, with the retries and the order of all its events. Nobody is told of what was so at the first read, for example of a rejection: ' +
    'this tells those that are to know. Asked again before it was sent, it is sent once.',
  params: filingParams,
  body: sendInputSchema,
  response: { 202: s.answer(sentSchema, 'Begun.'), 409: s.conflict },
});
