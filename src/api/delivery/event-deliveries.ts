import { whileItLasts } from '../../subscriptions/options/expires-at.ts';
import { hideUrlPath } from '../../subscriptions/options/url.ts';
import { seesReceivers } from '../access/auth.ts';
import { ownerOf } from '../access/own-subscriptions.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { eventParams, eventQuery, requireEvent } from '../events/events.ts';
import { attemptId, lastOutcomes, callFields, subscriptionId } from './attempts.ts';
import * as s from '../shared/schema.ts';
import { decodeCursor, sendPage } from '../shared/paging.ts';

/** The deliveries of an event, one for each subscription. */
export function addEventDeliveryRoute(app: Api, deps: ApiDeps): void {
  const { subscriptions, readDelivery, now } = deps;
  app.get('/events/:event/deliveries', listDeliveries, async (request, reply) => {
    const { account, event } = request.params;
    const { cursor, filingId } = request.query;
    decodeCursor('deliveries', cursor); // before the log is searched
    const entry = await requireEvent(deps, request, account, event, filingId);
    return sendPage(request, reply, 'deliveries', async (after, limit) => {
      const { records, next } = await subscriptions.list(account, after, limit, ownerOf(request));
      const items = [];
      for (const record of records) {
        const { id, url, description } = record.subscription;
        // One after the other: each may read thousands of records.
        const found = await readDelivery(account, record, entry);
        const { lastAttempt } = found;
        items.push(
          s.show(eventDeliverySchema, {
            ...found,
            subscription: id,
            description,
            url: seesReceivers(request) ? url : hideUrlPath(url),
            enabled: whileItLasts(record.delivery, record.subscription, now()).enabled,
            lastStatusCode: lastAttempt?.statusCode ?? null,
            lastReason: lastAttempt?.reason ?? null,
            lastAttempt: lastAttempt === null ? null : attemptId(lastAttempt.id, id),
          }),
        );
      }
      return { items, next };
    });
  });
}

/** Delivery of an event to one subscription. */
export const eventDeliverySchema = s.shared('EventDelivery', {
  subscription: subscriptionId,
  description: s.stringOrNull('Of the subscription.'),
  url: s.string('Of the subscription now; its origin alone for a read-only token.'),
  enabled: s.boolean('Whether the subscription is enabled now; what it waits for is not sent before it is.'),
  state: s.oneOf(['delivered', 'waiting', 'given_up', 'not_selected'], {
    description:
      '`waiting`: it was not sent yet, or is tried again. `given_up`: it is a dead letter, or may have been one that made way (`quota.dropped` of the account). `not_selected`: the subscription does not ask for it, did not in its time, or began after it.',
  }),
  attempts: s.integerOrNull('Number of attempts so far; null if they are no longer kept.'),
  lastOutcome: s.nullable(s.oneOf(lastOutcomes), {
    description: 'Outcome of the last attempt; null if there was none or it is no longer kept.',
    enum: [...lastOutcomes, null],
  }),
  lastStatusCode: callFields.statusCode,
  lastReason: s.stringOrNull('The `reason` of the last attempt; null if it has none or is no longer kept.'),
  deliveredAt: s.timeOrNull(
    'When it was acknowledged; null before that, and if that attempt is no longer kept.',
  ),
  nextAttemptAt: s.timeOrNull('When it is tried next; null if nothing is planned.'),
  lastAttempt: s.stringOrNull('Id of the last attempt that is kept; null without one.'),
});

const listDeliveries = s.operation({
  config: { dear: 'scans' },
  operationId: 'listDeliveries',
  summary: 'Who has an event, and who not yet',
  description: 'One item for each subscription of the account, also for those that do not select the event.',
  params: eventParams,
  querystring: s.record({ ...s.pageQuery, ...eventQuery }),
  response: {
    200: s.listOf(eventDeliverySchema, 'One item for each subscription, the oldest first.'),
  },
});
