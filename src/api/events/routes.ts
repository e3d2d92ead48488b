import type { FastifyRequest } from 'fastify';
import type { EventLog, LogEntry } from '../../events/event-log.ts';
import { logBeginning } from '../../events/timeline.ts';
import type { Api } from '../server/api-instance.ts';
import { pageLimit } from '../shared/schema.ts';
import type { ApiDeps } from '../deps.ts';
import { checkpointCursor, decodeCheckpoint, eventJson } from './json.ts';
import { scanEvents, scanNewestEvents } from './scan.ts';
import type { EventFilter } from './scan.ts';
import { listEvents } from './schema.ts';
import { parseTypes } from './schema.ts';

/** The log of an account's events. */
export function addEventRoutes(app: Api, { log }: ApiDeps): void {
  app.get(
    '/accounts/:account/events',
    { config: { dear: { kind: 'scans', when: isFiltered } }, schema: listEvents },
    async ({ params: { account }, query: { limit = pageLimit, cursor, types, filingId, order } }, reply) => {
      const filter = { types: parseTypes(types), filingId: filingId ?? null };
      const list = order === 'newest' ? listNewest : listOldest;
      const { entries, nextCursor, resumeCursor } = await list(log, account, cursor, filter, limit);
      const tail = JSON.stringify({ nextCursor, resumeCursor }).slice(1);
      void reply.type('application/json; charset=utf-8');
      return `{"items":[${entries.map(eventJson).join(',')}],${tail}`;
    },
  );
}

// A filter may pass over thousands of events for each one that it finds.
function isFiltered({ query }: FastifyRequest): boolean {
  const { types, filingId } = query as { readonly types?: string; readonly filingId?: string };
  return types !== undefined || filingId !== undefined;
}

type List = (
  log: EventLog,
  account: string,
  cursor: string | undefined,
  filter: EventFilter,
  limit: number,
) => Promise<{ entries: readonly LogEntry[]; nextCursor: string | null; resumeCursor: string }>;

const listOldest: List = async (log, account, cursor, filter, limit) => {
  const after = decodeCheckpoint('events', cursor) ?? logBeginning;
  const { entries, position, more } = await scanEvents(log, account, after, filter, limit);
  const resumeCursor = checkpointCursor(position);
  return { entries, nextCursor: more ? resumeCursor : null, resumeCursor };
};

const listNewest: List = async (log, account, cursor, filter, limit) => {
  const head = await log.head(account);
  const before = decodeCheckpoint('newest-events', cursor);
  const { entries, position, more } = await scanNewestEvents(log, account, before, filter, limit);
  const nextCursor = more ? checkpointCursor(position, 'newest-events') : null;
  return { entries, nextCursor, resumeCursor: checkpointCursor(head) };
};
