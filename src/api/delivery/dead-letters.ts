import type { Api, ApiDeps } from '../deps.ts';
import { requireSubscription } from '../subscriptions/find.ts';
import { subscriptionParams } from '../subscriptions/schema.ts';
import { event, lastOutcomes } from './attempts.ts';
import * as s from '../shared/schema.ts';
import { sendPage } from '../shared/paging.ts';

/** The events that were given up for a subscription. */
export function addDeadLetterRoute(app: Api, deps: ApiDeps): void {
  app.get('/subscriptions/:id/dead-letters', listDeadLetters, async (request, reply) => {
    const { account, id } = request.params;
    await requireSubscription(deps, account, id);
    return sendPage(request, reply, 'dead-letters', async (before, limit) => {
      const { items, next } = await deps.journal.list(account, id, 'dead', before, limit);
      const shown = items.map((one) => s.show(deadLetterSchema, { ...one, filingId: one.filingId || null }));
      return { items: shown, next };
    });
  });
}

/** An event that was given up for a subscription. */
export const deadLetterSchema = s.shared('DeadLetter', {
  ...event,
  attempts: s.integer('Number of attempts.'),
  lastOutcome: s.oneOf(lastOutcomes, {
    description:
      'Outcome of the last attempt; `expired` if the event was trimmed from the log for its age before delivery. Then its id and type may be empty.',
    examples: ['http_error'],
  }),
  events: s.integer(
    'Number of events that it stands for: more than one if a stretch of the log has `expired`.',
  ),
  at: s.time('When it was given up.'),
});

const listDeadLetters = s.operation({
  operationId: 'listDeadLetters',
  summary: 'List events that were given up, newest first',
  description:
    'An event is given up when its attempts are used up, when it was trimmed before delivery, or when it cannot be read. POST …/replay delivers it again.',
  params: subscriptionParams,
  querystring: s.record(s.pageQuery),
  response: {
    200: s.listOf(
      deadLetterSchema,
      'Events that were given up, newest first. POST …/replay with deadLettersOnly delivers them again.',
    ),
  },
});
