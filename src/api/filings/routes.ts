import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { markAnswer } from '../../http/answer-kind.ts';
import { isIndexed } from '../../partner/filing-statuses.ts';
import type { LogEntry } from '../../events/event-log.ts';
import type { Dear } from '../access/dear-requests.ts';
import type { Api } from '../server/api-instance.ts';
import { exportMs } from '../connections/answer-deadlines.ts';
import { pageLimit } from '../shared/schema.ts';
import { decodeCursor, encodeCursor } from '../shared/cursor.ts';
import type { CursorKind } from '../shared/cursor.ts';
import type { ApiDeps } from '../deps.ts';
import { chargeRows } from '../access/cost.ts';
import { wantsCsv } from '../shared/csv.ts';
import { headersOnly } from '../shared/headers-only.ts';
import { eventsJson } from '../events/json.ts';
import { scanNewestEvents, type ScannedLog } from '../events/scan.ts';
import { filingView } from './view.ts';
import { filingsCsv } from './csv.ts';
import { listFilings, getFiling } from './schema.ts';
import { invalidRequest, Problem } from '../shared/problem.ts';

const csvType = 'text/csv; charset=utf-8; header=present';
const eventsMax = 100;

/** The filings of an account as the daemon last saw them. */
export function addFilingRoutes(app: Api, { filings, log, sections }: ApiDeps): void {
  app.get(
    '/accounts/:account/filings',
    { config: { dear: kindOfList }, schema: listFilings, handlerTimeout: exportMs },
    async (request, reply) => {
      const { method, query, headers } = request;
      const { account } = request.params;
      const { limit = pageLimit, cursor, status = null } = query;
      void reply.header('vary', 'accept');
      if (wantsCsv(headers.accept)) {
        void reply.header('content-disposition', 'attachment; filename="filings.csv"');
        if (method === 'HEAD') return headersOnly(reply, csvType);
        void reply.type(csvType);
        markAnswer(reply.raw, 'export');
        const charge = (rows: number) => chargeRows(request, rows);
        return reply.send(Readable.from(filingsCsv(filings, account, status, charge)));
      }
      const newestOf = query.order === 'newest' ? statusOfNewest(status) : null;
      const kind: CursorKind = newestOf === null ? `filings:${status ?? ''}` : `newest-filings:${newestOf}`;
      const after = decodeCursor(kind, cursor);
      if (method === 'HEAD') return headersOnly(reply);
      const page =
        newestOf === null
          ? await filings.list(account, status, after, limit)
          : await filings.listNewest(account, newestOf, after, limit);
      chargeRows(request, page.read);
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
      const events = await latestEvents({ log, sections }, account, filingId);
      void reply.type('application/json; charset=utf-8');
      const head = Buffer.from(`${JSON.stringify(filingView(filing)).slice(0, -1)},"events":[`);
      return reply.send(Buffer.concat([head, ...eventsJson(events), Buffer.from(']}')]));
    },
  );
}

// An export reads the whole list.
function kindOfList({ method, headers }: FastifyRequest): Dear | null {
  return method !== 'HEAD' && wantsCsv(headers.accept) ? 'exports' : null;
}

// Lists of other statuses are too long to be sorted for each page.
function statusOfNewest(status: string | null): string {
  if (status !== null && isIndexed(status)) return status;
  throw invalidRequest([{ path: 'order', message: 'newest goes with a status other than COMPLETED' }]);
}

async function latestEvents(searched: ScannedLog, account: string, filingId: string): Promise<LogEntry[]> {
  const { entries } = await scanNewestEvents(searched, account, null, { types: null, filingId }, eventsMax);
  return entries.toReversed();
}
