import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { OutlinedEntry } from '../../events/event-log.ts';
import { positionBefore } from '../../events/search/position-at.ts';
import { logBeginning } from '../../events/timeline.ts';
import { instantMs, instantSchema } from '../../json/instant.ts';
import type { Dear } from '../access/dear-requests.ts';
import { ownerOf, seesType, typesSeen } from '../access/own-subscriptions.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { checkpointCursor, decodeCheckpoint, sendJson } from './json.ts';
import { type LogStretch, scanEvents, type ScannedLog, scanNewestEvents } from './scan.ts';
import { eventId, eventSchema } from '../document/event-schemas.ts';
import * as s from '../shared/schema.ts';
import { headersOnly, pageLimit } from '../shared/paging.ts';
import { parseTypes, typesPattern } from '../shared/patterns.ts';
import { notFound, Problem } from '../shared/problem.ts';

/** The log of an account's events. */
export function addEventRoutes(app: Api, deps: ApiDeps): void {
  const { log, sections } = deps;

  app.get('/events', listEvents, async (request, reply) => {
    const { account } = request.params;
    const { limit = pageLimit, cursor, types, filingId = null, order } = request.query;
    const kind = order === 'newest' ? 'newest-events' : 'events';
    const from = decodeCheckpoint(kind, cursor);
    if (request.method === 'HEAD') return headersOnly(reply);
    const between = await stretchOf(log, account, request.query);
    const filter = { types: typesSeen(request, parseTypes(types)), filingId, between };
    const head = order === 'newest' ? await log.head(account) : null;
    const scan = head === null ? scanEvents : scanNewestEvents;
    const { entries, position, more } = await scan({ log, sections }, account, from, filter, limit);
    const cursors = {
      nextCursor: more ? checkpointCursor(position, kind) : null,
      resumeCursor: checkpointCursor(head ?? position),
    };
    return sendJson(reply, cursors, 'items', entries);
  });

  app.get('/events/:event', getEvent, async (request, reply) => {
    const { account, event } = request.params;
    const found = await requireEvent(deps, request, account, event, request.query.filingId);
    const [entry] = await log.load(account, [found]);
    if (entry == null) throw notFound('event_not_found');
    void reply.type('application/json; charset=utf-8');
    return reply.send(entry.body);
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
  const { types } = request.query as { readonly types?: string };
  return types !== undefined || ownerOf(request) !== null ? 'scans' : null;
}

/** An event that the caller may see. Throws the problem 404, which says how far the log was searched. */
export async function requireEvent(
  { findEvents }: Pick<ApiDeps, 'findEvents'>,
  request: FastifyRequest,
  account: string,
  id: string,
  filingId: string | undefined,
): Promise<OutlinedEntry> {
  const isSeen = (type: string) => seesType(request, type);
  const { entries, complete } = await findEvents(account, [id], filingId ?? null, isSeen);
  const entry = entries.get(id);
  if (entry !== undefined) return entry;
  if (filingId === undefined && complete) throw notFound('event_not_found');
  throw new Problem('event_not_found', filingId === undefined ? notAmongNewest : notOfFiling);
}

const notAmongNewest =
  'The newest half a million events of the log have no such id; add ?filingId= with the filing of the event to find an older one.';
const notOfFiling =
  'The log has no event of the filing in filingId with this id; leave filingId out to search the events of all filings.';

/** The filters of a list or a stream of events. */
export const eventFilters = {
  types: Type.Optional(
    Type.String({
      maxLength: 2048,
      pattern: typesPattern,
      description: 'Only these types: exact names or `prefix.*`, with commas between.',
      examples: ['filing.completed,filing.rejected'],
    }),
  ),
  filingId: s.filingIdIn('Only events of this filing.'),
};

const eventsQuerySchema = s.record(
  s.optional({
    ...s.pageQuery,
    ...eventFilters,
    after: instantSchema(
      'Only events recorded at this time or later; one is recorded a moment after its `timestamp`.',
    ),
    before: instantSchema('Only events recorded earlier than this time.'),
    order: s.oneOf(['oldest', 'newest'], {
      default: 'oldest',
      description: '`newest`: the latest first, with `nextCursor` for older ones.',
    }),
  }),
);

/** Path of an event. */
export const eventParams = Type.Object({
  ...s.accountParams,
  event: eventId,
});

/** Query of what is about one event. */
export const eventQuery = {
  filingId: s.filingIdIn(
    'The filing of the event, if that is known: it is found at once then. Without it the newest half a million events are searched.',
  ),
};

/** Response of GET …/events; the handler writes its bytes, so events stay as they were stored. */
const eventListSchema = Type.Unsafe<Buffer>(
  s.described(
    'Events, oldest first unless `order` says otherwise. Events older than EVENT_RETENTION_MS may be gone.',
    {
      items: s.arrayOf(eventSchema),
      nextCursor: s.stringOrNull(
        'For the next page; null at the end of the list. With filters a page may hold fewer events than `limit`, or none, and still have a next one.',
      ),
      resumeCursor: s.string(
        'After all events that were examined, also at the end of the log (with `order=newest`: after the newest event). Pass it later, to the list from the oldest or to the stream, for the events since then.',
      ),
    },
  ),
);

const listEvents = s.operation({
  config: { dear: kindOfList },
  operationId: 'listEvents',
  summary: 'List events',
  description: 'The same events as the callbacks, whether or not a subscription wants them.',
  params: s.inAccount,
  querystring: eventsQuerySchema,
  response: { 200: eventListSchema },
});

const getEvent = s.operation({
  config: { dear: 'scans' },
  operationId: 'getEvent',
  summary: 'Read an event',
  description: 'As in the list of events.',
  params: eventParams,
  querystring: s.record(eventQuery),
  response: { 200: s.answer(eventSchema, 'The event, byte for byte as its callbacks have it.') },
});
