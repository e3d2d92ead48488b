import type { Api } from './api-instance.ts';
import { pageLimit } from './common-schema.ts';
import { decodeCursor } from './cursor.ts';
import type { ApiDeps } from './deps.ts';
import { eventJson, positionCursor } from './event-json.ts';
import { scanEvents } from './event-scan.ts';
import { listEvents } from './events-operations.ts';
import { parseTypes } from './events-schema.ts';

/** The log of an account's events. */
export function addEventRoutes(app: Api, { log }: ApiDeps): void {
  app.get(
    '/accounts/:account/events',
    { schema: listEvents },
    async ({ params: { account }, query: { limit = pageLimit, cursor, types, filingId } }, reply) => {
      const after = Number(decodeCursor('events', cursor) ?? 0);
      const filter = { types: parseTypes(types), filingId: filingId ?? null };
      const { entries, position, more } = await scanEvents(log, account, after, filter, limit);
      const resume = positionCursor(position);
      const tail = JSON.stringify({ nextCursor: more ? resume : null, resumeCursor: resume }).slice(1);
      void reply.type('application/json; charset=utf-8');
      return `{"items":[${entries.map(eventJson).join(',')}],${tail}`;
    },
  );
}
