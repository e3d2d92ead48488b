import type { FastifyRequest } from 'fastify';
import type { LogEntry } from '../../events/event-log.ts';
import { logBeginning, type Checkpoint } from '../../events/timeline.ts';
import { positionBefore } from '../../events/search/position-at.ts';
import type { Dear } from '../access/dear-requests.ts';
import type { Api } from '../server/api-instance.ts';
import { instantMs } from '../../json/instant.ts';
import { headersOnly } from '../shared/headers-only.ts';
import { pageLimit } from '../shared/schema.ts';
import type { ApiDeps } from '../deps.ts';
import { ownerOf, typesSeen } from '../tokens/own-subscriptions.ts';
import { checkpointCursor, decodeCheckpoint, eventsJson } from './json.ts';
import { scanEvents, scanNewestEvents } from './scan.ts';
import type { EventFilter, LogStretch, ScannedLog } from './scan.ts';
import { listEvents } from './schema.ts';
import { parseTypes } from '../shared/patterns.ts';

/** The log of an account's events. */
export function addEventRoutes(app: Api, { log, sections }: ApiDeps): void {
  const options = { config: { dear: kindOfList }, schema: listEvents } as const;
  app.get('/accounts/:account/events', options, async (request, reply) => {
    const { account } = request.params;
    const { limit = pageLimit, cursor, types, filingId, order } = request.query;
    const from = decodeCheckpoint(order === 'newest' ? 'newest-events' : 'events', cursor);
    if (request.method === 'HEAD') return headersOnly(reply);
    const { between } = await stretchOf(log, account, request.query);
    const filter = { types: typesSeen(request, parseTypes(types)), filingId: filingId ?? null, between };
    const list = order === 'newest' ? listNewest : listOldest;
    const { entries, nextCursor, resumeCursor } = await list({ log, sections }, account, from, filter, limit);
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
): Promise<{ between: LogStretch; read: number }> {
  const [after, before] = [instantMs(query.after), instantMs(query.before)];
  const from = after === null ? null : await positionBefore(log, account, after);
  const to = before === null ? null : await positionBefore(log, account, before);
  return {
    between: { after: from?.checkpoint ?? logBeginning, upTo: to?.checkpoint ?? null },
    read: (from?.read ?? 0) + (to?.read ?? 0),
  };
}

// A search by type may pass over thousands of events for each one that it finds. Some are kept from tokens.
function kindOfList(request: FastifyRequest): Dear | null {
  if (request.method === 'HEAD') return null;
  const { types } = request.query as { readonly types?: string };
  return types !== undefined || ownerOf(request) !== null ? 'scans' : null;
}

type List = (
  searched: ScannedLog,
  account: string,
  from: Checkpoint | null,
  filter: EventFilter,
  limit: number,
) => Promise<{ entries: readonly LogEntry[]; nextCursor: string | null; resumeCursor: string; read: number }>;

const listOldest: List = async (searched, account, from, filter, limit) => {
  const { entries, position, more, read } = await scanEvents(
    searched,
    account,
    from ?? logBeginning,
    filter,
    limit,
  );
  const resumeCursor = checkpointCursor(position);
  return { entries, nextCursor: more ? resumeCursor : null, resumeCursor, read };
};

const listNewest: List = async (searched, account, from, filter, limit) => {
  const head = await searched.log.head(account);
  const { entries, position, more, read } = await scanNewestEvents(searched, account, from, filter, limit);
  const nextCursor = more ? checkpointCursor(position, 'newest-events') : null;
  return { entries, nextCursor, resumeCursor: checkpointCursor(head), read };
};
