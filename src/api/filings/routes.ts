import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { FilingPage } from '../../filings/filing-list-store.ts';
import { isKnownStatus } from '../../partner/filing-statuses.ts';
import type { LogEntry } from '../../events/event-log.ts';
import { exportMs, type Dear } from '../access/dear-requests.ts';
import type { Api } from '../server/api-instance.ts';
import { Problem } from '../shared/problem.ts';
import { pageLimit } from '../shared/schema.ts';
import { decodeCursor, encodeCursor } from '../shared/cursor.ts';
import type { ApiDeps } from '../deps.ts';
import { wantsCsv } from '../shared/csv.ts';
import { headersOnly } from '../shared/headers-only.ts';
import { eventsJson } from '../events/json.ts';
import { scanNewestEvents, type ScannedLog } from '../events/scan.ts';
import { filingView } from './view.ts';
import { filingsCsv, type CsvColumn } from './csv.ts';
import { chooseList, cursorKindOf, type ListChoice, type ListQuery } from './list-choice.ts';
import { getFiling, listFilings, parseColumns } from './schema.ts';
import { searchFilings, type Searched } from './search.ts';
import { filingNotFound } from '../shared/not-found.ts';

const csvType = 'text/csv; charset=utf-8; header=present';
const eventsMax = 100;
// Number of filings that a table reads at once.
const tableFilings = 100;

/** The filings of an account as the daemon last saw them. */
export function addFilingRoutes(app: Api, deps: ApiDeps): void {
  const { filings, log, sections } = deps;
  app.get(
    '/accounts/:account/filings',
    { config: { dear: kindOfList }, schema: listFilings, handlerTimeout: exportMs },
    async (request, reply) => {
      const { method, query, headers } = request;
      const { account } = request.params;
      const { limit = pageLimit, cursor } = query;
      const choice = chooseList(query, await statusesShown(deps, account, query));
      void reply.header('vary', 'accept');
      if (wantsCsv(headers.accept)) {
        void reply.header('content-disposition', 'attachment; filename="filings.csv"');
        if (method === 'HEAD') return headersOnly(reply, csvType);
        void reply.type(csvType);
        return reply.send(Readable.from(table(deps, account, choice, parseColumns(query.columns))));
      }
      const kind = cursorKindOf(choice);
      const after = decodeCursor(kind, cursor);
      if (method === 'HEAD') return headersOnly(reply);
      const { filings: found, next, searched } = await listPage(deps, account, choice, after, limit);
      return {
        items: found.map(filingView),
        nextCursor: next === null ? null : encodeCursor(kind, next),
        ...(query.q === undefined || searched === undefined ? {} : { searched }),
      };
    },
  );

  app.get(
    '/accounts/:account/filings/:filingId',
    { schema: getFiling },
    async ({ params: { account, filingId } }, reply) => {
      const filing = await filings.get(account, filingId);
      if (filing === null) throw filingNotFound();
      const events = await latestEvents({ log, sections }, account, filingId);
      void reply.type('application/json; charset=utf-8');
      const head = Buffer.from(`${JSON.stringify(filingView(filing)).slice(0, -1)},"events":[`);
      return reply.send(Buffer.concat([head, ...eventsJson(events), Buffer.from(']}')]));
    },
  );
}

// An export reads the whole list, a search may look through all filings.
function kindOfList({ method, headers, query }: FastifyRequest): Dear | null {
  if (method === 'HEAD') return null;
  if (wantsCsv(headers.accept)) return 'exports';
  const { q, state } = query as ListQuery;
  return q === undefined && state === undefined ? null : 'scans';
}

// The statuses that the account has had, where the request depends on them.
async function statusesShown(
  { snapshot }: ApiDeps,
  account: string,
  { status, q, state }: ListQuery,
): Promise<readonly string[]> {
  const isPlain = q === undefined && state === undefined && (status === undefined || isKnownStatus(status));
  return isPlain ? [] : Object.keys(await snapshot.counts(account));
}

async function listPage(
  deps: ApiDeps,
  account: string,
  choice: ListChoice,
  after: string | null,
  limit: number,
): Promise<FilingPage & { readonly searched?: Searched }> {
  switch (choice.kind) {
    case 'plain':
      return deps.filings.list(account, choice.status, after, limit);
    case 'newest':
      return deps.filings.listNewest(account, choice.status, after, limit);
    case 'search':
      return searchFilings(deps, account, choice, after, limit);
  }
}

function table(
  deps: ApiDeps,
  account: string,
  choice: ListChoice,
  columns: readonly CsvColumn[],
): AsyncGenerator<string> {
  return filingsCsv(async (after) => {
    const { filings, next, searched } = await listPage(deps, account, choice, after, tableFilings);
    if (searched?.service === 'unavailable') throw tableLacks(searched.detail);
    return { filings: filings.map((filing) => ({ ...filing, account })), next };
  }, columns);
}

// A page says what it lacks, and a table has no place for that.
function tableLacks(why: string | null): Problem {
  const detail = `${why ?? 'The service cannot be asked.'} The table would lack COMPLETED filings; name the other statuses in status for one without them.`;
  return new Problem('partner_unavailable', detail, { headers: { 'retry-after': '5' } });
}

async function latestEvents(searched: ScannedLog, account: string, filingId: string): Promise<LogEntry[]> {
  const { entries } = await scanNewestEvents(searched, account, null, { types: null, filingId }, eventsMax);
  return entries.toReversed();
}
