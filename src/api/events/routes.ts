import type { FastifyRequest } from 'fastify';
import type { OutlinedEntry } from '../../events/event-log.ts';
import { positionBefore } from '../../events/search/position-at.ts';
import { logBeginning } from '../../events/timeline.ts';
import { instantMs } from '../../json/instant.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import { parseDeliveryState } from '../../subscriptions/delivery-state.ts';
import { whileItLasts } from '../../subscriptions/options/expires-at.ts';
import { seesReceivers } from '../access/auth.ts';
import type { Dear } from '../access/dear-requests.ts';
import { attemptId } from '../delivery/attempt-routes.ts';
import { listDeliveries } from '../delivery/schema.ts';
import type { ApiDeps, Api } from '../deps.ts';
import { decodeCursor, encodeCursor, headersOnly } from '../shared/paging.ts';
import { eventNotFound } from '../shared/problem.ts';
import { parseTypes } from '../shared/patterns.ts';
import { pageLimit } from '../shared/schema.ts';
import { hideUrlPath } from '../../subscriptions/options/url.ts';
import { ownerOf, seesType, typesSeen } from '../access/own-subscriptions.ts';
import { checkpointCursor, decodeCheckpoint, eventsJson } from './json.ts';
import { type LogStretch, scanEvents, type ScannedLog, scanNewestEvents } from './scan.ts';
import { getEvent, listEvents } from './schema.ts';

/** The log of an account's events. */
export function addEventRoutes(app: Api, { log, sections }: ApiDeps): void {
  const options = { config: { dear: kindOfList }, schema: listEvents } as const;
  app.get('/accounts/:account/events', options, async (request, reply) => {
    const { account } = request.params;
    const { limit = pageLimit, cursor, types, filingId, order } = request.query;
    const kind = order === 'newest' ? 'newest-events' : 'events';
    const from = decodeCheckpoint(kind, cursor);
    if (request.method === 'HEAD') return headersOnly(reply);
    const between = await stretchOf(log, account, request.query);
    const filter = { types: typesSeen(request, parseTypes(types)), filingId: filingId ?? null, between };
    const head = order === 'newest' ? await log.head(account) : null;
    const scan = head === null ? scanEvents : scanNewestEvents;
    const { entries, position, more } = await scan({ log, sections }, account, from, filter, limit);
    const nextCursor = more ? checkpointCursor(position, kind) : null;
    const resumeCursor = checkpointCursor(head ?? position);
    const tail = JSON.stringify({ nextCursor, resumeCursor }).slice(1);
    void reply.type('application/json; charset=utf-8');
    return reply.send(
      Buffer.concat([Buffer.from('{"items":['), ...eventsJson(entries), Buffer.from(`],${tail}`)]),
    );
  });
}

// The positions of the time that a request asks for.
async function stretchOf(
  log: ScannedLog['log'],
  account: string,
  query: { readonly after?: string | undefined; readonly before?: string | undefined },
): Promise<LogStretch> {
  const [after, before] = [instantMs(query.after), instantMs(query.before)];
  const from = after === null ? null : await positionBefore(log, account, after);
  const to = before === null ? null : await positionBefore(log, account, before);
  return { after: from ?? logBeginning, upTo: to };
}

// A search by type may pass over thousands of events for each one that it finds. Some are kept from tokens.
function kindOfList(request: FastifyRequest): Dear | null {
  if (request.method === 'HEAD') return null;
  const { types } = request.query as { readonly types?: string };
  return types !== undefined || ownerOf(request) !== null ? 'scans' : null;
}

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
