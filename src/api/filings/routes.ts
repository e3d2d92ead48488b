import type { FastifyRequest } from 'fastify';
import { isKnownStatus } from '../../partner/filing-statuses.ts';
import { exportMs, type Dear } from '../access/dear-requests.ts';
import type { ApiDeps, Api } from '../deps.ts';
import { eventsJson } from '../events/json.ts';
import { scanNewestEvents } from '../events/scan.ts';
import { wantsCsv } from '../shared/csv.ts';
import { decodeCursor, encodeCursor, headersOnly } from '../shared/paging.ts';
import { filingNotFound, Problem } from '../shared/problem.ts';
import { pageLimit } from '../shared/schema.ts';
import { getFiling, listFilings, markSeen, parseColumns, unmarkSeen } from './schema.ts';
import { chooseList, cursorKindOf, listPage, type ListQuery } from './search.ts';
import { filingView, sendTable } from './view.ts';

const eventsMax = 100;
// Number of filings that a table reads at once.
const tableFilings = 100;

/** The filings of an account as the daemon last saw them, and notes of people on its rejections. */
export function addFilingRoutes(app: Api, deps: ApiDeps): void {
  const { filings, log, sections, seen, now } = deps;
  app.get(
    '/accounts/:account/filings',
    { config: { dear: kindOfList }, schema: listFilings, handlerTimeout: exportMs },
    async (request, reply) => {
      const { method, query, headers } = request;
      const { account } = request.params;
      const { limit = pageLimit, cursor } = query;
      const choice = chooseList(query, await statusesShown(deps, account, query));
      void reply.header('vary', 'accept');
      if (wantsCsv(headers.accept))
        return sendTable(
          method,
          reply,
          { name: 'filings', columns: parseColumns(query.columns) },
          async (after) => {
            const page = await listPage(deps, account, choice, after, tableFilings);
            if (page.searched?.service === 'unavailable') throw tableLacks(page.searched.detail);
            return { filings: page.filings.map((filing) => ({ ...filing, account })), next: page.next };
          },
        );
      const kind = cursorKindOf(choice);
      const after = decodeCursor(kind, cursor);
      if (method === 'HEAD') return headersOnly(reply);
      const page = await listPage(deps, account, choice, after, limit);
      return {
        items: page.filings.map(filingView),
        nextCursor: page.next === null ? null : encodeCursor(kind, page.next),
        ...(query.q === undefined || page.searched === undefined ? {} : { searched: page.searched }),
      };
    },
  );

  app.get(
    '/accounts/:account/filings/:filingId',
    { schema: getFiling },
    async ({ params: { account, filingId } }, reply) => {
      const filing = await filings.get(account, filingId);
      if (filing === null) throw filingNotFound();
      const filter = { types: null, filingId };
      const found = await scanNewestEvents({ log, sections }, account, null, filter, eventsMax);
      void reply.type('application/json; charset=utf-8');
      const head = Buffer.from(`${JSON.stringify(filingView(filing)).slice(0, -1)},"events":[`);
      const events = eventsJson(found.entries.toReversed());
      return reply.send(Buffer.concat([head, ...events, Buffer.from(']}')]));
    },
  );

  const path = '/accounts/:account/filings/:filingId/seen';
  app.put(path, { schema: markSeen }, async ({ params: { account, filingId }, body }) => {
    const mark = { by: body.by.trim(), note: body.note?.trim() ?? null, at: now() };
    const marked = await seen.mark(account, filingId, mark);
    if (marked === 'full')
      throw new Problem(
        'account_quota_exceeded',
        'Too many rejections are marked as seen; take some marks away.',
      );
    const filing = await filings.get(account, filingId);
    if (filing === null || marked === 'gone') throw filingNotFound();
    if (marked === 'not_rejected')
      throw new Problem(
        'filing_not_rejected',
        'Only a filing that is REJECTED now can be marked as seen; GET the filing shows its status.',
      );
    return filingView(filing);
  });

  app.delete(path, { schema: unmarkSeen }, async ({ params: { account, filingId } }, reply) => {
    if ((await filings.get(account, filingId)) === null) throw filingNotFound();
    await seen.unmark(account, filingId);
    return reply.code(204).send(null);
  });
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

// A page says what it lacks, and a table has no place for that.
function tableLacks(why: string | null): Problem {
  const detail = `${why ?? 'The service cannot be asked.'} The table would lack COMPLETED filings; name the other statuses in status for one without them.`;
  return new Problem('partner_unavailable', detail, { headers: { 'retry-after': '5' } });
}
