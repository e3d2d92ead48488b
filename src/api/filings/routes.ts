import { Readable } from 'node:stream';
import { markAnswer } from '../../http/answer-kind.ts';
import { isIndexed } from '../../partner/filing-statuses.ts';
import type { EventLog } from '../../events/event-log.ts';
import type { Api } from '../server/api-instance.ts';
import { exportMs } from '../connections/answer-deadlines.ts';
import { pageLimit } from '../shared/schema.ts';
import { decodeCursor, encodeCursor } from '../shared/cursor.ts';
import type { CursorKind } from '../shared/cursor.ts';
import type { ApiDeps } from '../deps.ts';
import { wantsCsv } from '../shared/csv.ts';
import { eventJson } from '../events/json.ts';
import { scanNewestEvents } from '../events/scan.ts';
import { filingView } from './view.ts';
import { filingsCsv } from './csv.ts';
import { listFilings, getFiling } from './schema.ts';
import { invalidRequest, Problem } from '../shared/problem.ts';

const eventsMax = 100;

/** The filings of an account as the daemon last saw them. */
export function addFilingRoutes(app: Api, { filings, log }: ApiDeps): void {
  app.get(
    '/accounts/:account/filings',
    { schema: listFilings, handlerTimeout: exportMs },
    async ({ params: { account }, query, headers }, reply) => {
      const { limit = pageLimit, cursor, status = null } = query;
      void reply.header('vary', 'accept');
      if (wantsCsv(headers.accept)) {
        void reply.type('text/csv; charset=utf-8; header=present');
        void reply.header('content-disposition', 'attachment; filename="filings.csv"');
        markAnswer(reply.raw, 'export');
        return reply.send(Readable.from(filingsCsv(filings, account, status)));
      }
      const newestOf = query.order === 'newest' ? statusOfNewest(status) : null;
      const kind: CursorKind = newestOf === null ? `filings:${status ?? ''}` : `newest-filings:${newestOf}`;
      const after = decodeCursor(kind, cursor);
      const page =
        newestOf === null
          ? await filings.list(account, status, after, limit)
          : await filings.listNewest(account, newestOf, after, limit);
      return {
        items: page.filings.map(filingView),
        nextCursor: page.next === null ? null : encodeCursor(kind, page.next),
      };
    },
  );

  app.get(
    '/accounts/:account/filings/:filingId',
    { schema: getFiling },
    async ({ params: { account, filingId } }, reply) => {
      const filing = await filings.get(account, filingId);
      if (filing === null) throw new Problem('filing_not_found', 'No poll of this account has seen it.');
      const events = await latestEvents(log, account, filingId);
      void reply.type('application/json; charset=utf-8');
      return `${JSON.stringify(filingView(filing)).slice(0, -1)},"events":[${events.join(',')}]}`;
    },
  );
}

// Lists of other statuses are too long to be sorted for each page.
function statusOfNewest(status: string | null): string {
  if (status !== null && isIndexed(status)) return status;
  throw invalidRequest([{ path: 'order', message: 'newest goes with a status other than COMPLETED' }]);
}

async function latestEvents(log: EventLog, account: string, filingId: string): Promise<string[]> {
  const { entries } = await scanNewestEvents(log, account, null, { types: null, filingId }, eventsMax);
  return entries.map(eventJson).toReversed();
}
