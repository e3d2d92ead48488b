import type { OutlinedEntry } from '../../events/event-log.ts';
import { parseDeliveryState } from '../../subscriptions/delivery-state.ts';
import { whileItLasts } from '../../subscriptions/options/expires-at.ts';
import { seesReceivers } from '../access/auth.ts';
import { attemptId } from '../delivery/attempt-view.ts';
import { listDeliveries } from '../delivery/operations.ts';
import type { ApiDeps } from '../deps.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import type { Api } from '../server/api-instance.ts';
import { decodeCursor, encodeCursor } from '../shared/cursor.ts';
import { headersOnly } from '../shared/headers-only.ts';
import { eventNotFound } from '../shared/not-found.ts';
import { ownerOf, seesType } from '../tokens/own-subscriptions.ts';
import { hideUrlPath } from '../../subscriptions/options/url.ts';
import { eventsJson } from './json.ts';
import { getEvent } from './schema.ts';
import type { FastifyRequest } from 'fastify';

// Default number of subscriptions per page: each of them is looked at.
const deliveriesLimit = 20;

/** The routes about one event of the log. */
export function addEventRoute(app: Api, deps: ApiDeps): void {
  const { log, subscriptions, readDelivery } = deps;

  async function requireEvent(
    request: FastifyRequest,
    account: string,
    id: string,
    filingId: string | undefined,
  ): Promise<OutlinedEntry> {
    const isSeen = (type: string) => seesType(request, type);
    const { entries, complete } = await deps.findEvents(account, [id], filingId ?? null, isSeen);
    const entry = entries.get(id);
    if (entry === undefined)
      throw eventNotFound(filingId !== undefined ? 'filing' : complete ? 'whole' : 'newest');
    return entry;
  }

  app.get(
    '/accounts/:account/events/:event',
    { config: { dear: 'scans' }, schema: getEvent },
    async (request, reply) => {
      const { account, event } = request.params;
      const found = await requireEvent(request, account, event, request.query.filingId);
      const [entry] = await log.load(account, [found]);
      if (entry == null) throw eventNotFound();
      void reply.type('application/json; charset=utf-8');
      return reply.send(Buffer.concat(eventsJson([entry])));
    },
  );

  app.get(
    '/accounts/:account/events/:event/deliveries',
    { config: { dear: 'scans' }, schema: listDeliveries },
    async (request, reply) => {
      const { account, event } = request.params;
      const { limit = deliveriesLimit, cursor, filingId } = request.query;
      const after = decodeCursor('deliveries', cursor);
      const entry = await requireEvent(request, account, event, filingId);
      if (request.method === 'HEAD') return headersOnly(reply);
      const { subscriptions: page, next } = await subscriptions.list(account, after, limit, ownerOf(request));
      const states = await subscriptions.deliveries(
        account,
        page.map(({ subscription: { id } }) => id),
      );
      const items: object[] = [];
      for (const [i, listed] of page.entries()) {
        const { id, description, url } = listed.subscription;
        const record = { ...listed, delivery: states[i] ?? parseDeliveryState({}) };
        // One after the other: each may read thousands of records.
        const found = await readDelivery(account, record, entry);
        items.push({
          subscription: id,
          description,
          url: seesReceivers(request) ? url : hideUrlPath(url),
          enabled: whileItLasts(record.delivery, listed.subscription, deps.now()).enabled,
          state: found.state,
          attempts: found.attempts,
          lastOutcome: found.lastOutcome,
          lastStatusCode: found.lastAttempt?.statusCode ?? null,
          lastReason: found.lastAttempt?.reason ?? null,
          deliveredAt: isoOrNull(found.deliveredAt ?? 0),
          nextAttemptAt: isoOrNull(found.nextAttemptAt ?? 0),
          lastAttempt: found.lastAttempt === null ? null : attemptId(found.lastAttempt.id, id),
        });
      }
      return { items, nextCursor: next === null ? null : encodeCursor('deliveries', next) };
    },
  );
}
