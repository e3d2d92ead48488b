import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { isKnownStatus } from '../../partner/filing-statuses.ts';
import { unknownWord } from '../../words/near-name.ts';
import { type Dear, exportMs } from '../access/dear-requests.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { sendJson } from '../events/json.ts';
import { scanNewestEvents } from '../events/scan.ts';
import type { LogEntry } from '../../events/event-log.ts';
import { createAddTold, showFiling } from './told.ts';
import { chooseList, cursorKindOf, isFiltered, listPage, type ListQuery } from './search.ts';
import { type CsvColumn, csvColumns, csvExtraColumns, sendTable, wantsCsv } from './table.ts';
import { filingFields, filingSchema, filingView } from './view.ts';
import { eventSchema } from '../document/event-schemas.ts';
import { notedQuery, withDueDates } from './choices.ts';
import * as s from '../shared/schema.ts';
import { sendPage } from '../shared/paging.ts';
import { linePattern, statusPattern } from '../shared/patterns.ts';
import { Problem } from '../shared/problem.ts';

const eventsMax = 100;
// Number of filings that a table reads at once.
const tableFilings = 100;

/** The filings of an account as the daemon last saw them. */
export function addFilingRoutes(app: Api, deps: ApiDeps): void {
  const { log, sections } = deps;
  app.get('/filings', listFilings, async (request, reply) => {
    const { query } = request;
    const { account } = request.params;
    const choice = chooseList(query, await statusesShown(deps, account, query));
    const columns = parseColumns(query.columns);
    const table = { name: 'filings', columns };
    const addTold = createAddTold(deps, request);
    const read = async (after: string | null, limit: number) => {
      const page = await listPage(deps, account, choice, after, limit);
      const filings = page.filings.map((filing) => ({ ...filing, account, told: null }));
      return { ...page, filings: await withDueDates(deps, filings) };
    };
    const inTable = sendTable(request, reply, table, async (after) => {
      const { filings, next, searched } = await read(after, tableFilings);
      if (searched?.service === 'unavailable') throw tableLacks(searched.detail);
      return { filings: columns.includes('told') ? await addTold(account, filings) : filings, next };
    });
    if (inTable !== null) return inTable;
    return sendPage(request, reply, cursorKindOf(choice), async (after, limit) => {
      const { filings, next, searched } = await read(after, limit);
      const items = (await addTold(account, filings)).map(filingView);
      return { items, next, ...(query.q === undefined || searched === undefined ? {} : { searched }) };
    });
  });

  app.get('/filings/:filingId', getFiling, async (request, reply) => {
    const { account, filingId } = request.params;
    const shown = await showFiling(deps, request, account, filingId);
    const filter = { types: null, filingId };
    const found = await scanNewestEvents({ log, sections }, account, null, filter, eventsMax);
    const fields = { ...shown, ...filedWith(found.entries) };
    return sendJson(reply, fields, 'events', found.entries.toReversed());
  });
}

// An export reads the whole list, a search may look through all filings, the latest completions are looked up
// in the log.
function kindOfList({ headers, query }: FastifyRequest): Dear | null {
  if (wantsCsv(headers.accept)) return 'exports';
  const { status, order } = query as ListQuery;
  const isOfLog = order !== undefined && /^COMPLETED$/i.test(status ?? '');
  return isFiltered(query as ListQuery) || isOfLog ? 'scans' : null;
}

// The statuses that the account has had; empty if the request does not depend on them.
async function statusesShown(
  { snapshot }: ApiDeps,
  account: string,
  query: ListQuery,
): Promise<readonly string[]> {
  const { status, order } = query;
  const isPlain = !isFiltered(query) && (status === undefined ? order === undefined : isKnownStatus(status));
  return isPlain ? [] : Object.keys(await snapshot.counts(account));
}

// A page says what it lacks, and a table has no place for that.
function tableLacks(why: string | null): Problem {
  const detail = `${why ?? 'The service cannot be asked.'} The table would lack COMPLETED filings; name the other statuses in status for one without them.`;
  return new Problem('partner_unavailable', detail, { headers: { 'retry-after': '5' } });
}

type Document = Readonly<Record<string, unknown>>;

/** The owner of a filing and the names of its documents; null if unknown. */
export interface FiledWith {
  readonly userId: string | null;
  readonly documents: readonly string[] | null;
}

/**
 * The owner and the documents of the filing, from the first of these events that contains it; null if none
 * does or it does not name them; pure. The daemon keeps neither.
 */
function filedWith(newestFirst: readonly Pick<LogEntry, 'body'>[]): FiledWith {
  for (const { body } of newestFirst) {
    const { data } = JSON.parse(body.toString()) as { readonly data: Document };
    if (!data['filing']) continue;
    const { userId, userFiles } = Object(data['filing']) as Document;
    return {
      userId: typeof userId === 'string' ? userId : null,
      documents: Array.isArray(userFiles) ? userFiles.map(nameOf).filter((name) => name !== '') : null,
    };
  }
  return { userId: null, documents: null };
}

function nameOf(file: unknown): string {
  const { name, fileName } = Object(file) as Document;
  return [name, fileName].find((text) => typeof text === 'string' && text !== '')?.toString() ?? '';
}

/** Query of GET …/filings. */
export const filingsQuerySchema = s.record(
  s.optional({
    ...s.pageQuery,
    q: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: linePattern,
      description:
        "Only filings of which policy number, insured's name or id have each of these words as a part, in any case and any form of Unicode. `searched` says whether the " +
        'partner service was asked for COMPLETED filings, whose details are not kept.',
      examples: ['acme SL-2031'],
    }),
    state: s.stateSchema({
      description:
        'Only filings of this state, by its abbreviation in any case. Of COMPLETED filings it is known only in a search with `q`.',
      examples: ['TX'],
    }),
    ...notedQuery,
    status: Type.String({
      minLength: 1,
      maxLength: 640,
      pattern: statusPattern,
      description:
        'Only filings in this status, in any case, or in several with commas between: those of the partner service, and any other that this account has shown.',
      examples: ['PENDING', 'REJECTED,UNPAID'],
    }),
    order: s.oneOf(['newest', 'oldest', 'due'], {
      description:
        '`newest`: the filings that reached their status last come first; `oldest`: those that are in it for longest, where rejections with `sinceIsFirstRead` count since their `createdAt`; `due`: those that are due first, and last those without a due date. COMPLETED filings follow behind the others, in no order. ' +
        'The default is `newest` with several statuses, `state`, `seen`, `assignee` or `q`; other lists have no order. COMPLETED alone goes with `newest` alone: ' +
        'those that were completed since the log begins (EVENT_RETENTION_MS), with their details.',
    }),
    columns: s.checked(
      Type.String({
        maxLength: 256,
        description: `Columns of the table, with commas between; only with \`Accept: text/csv\`. These are not there by default: ${csvExtraColumns.join(', ')}.`,
        examples: ['account,filingId,insuredsName,rejectionReason,since'],
      }),
      columnsProblem,
    ),
  }),
);

/** The columns in a list that the schema has accepted; those of every table without one. */
function parseColumns(text: string | undefined): readonly CsvColumn[] {
  return text === undefined ? csvColumns : (text.split(',') as CsvColumn[]);
}

function columnsProblem(text: string): string | null {
  const known: readonly string[] = [...csvColumns, ...csvExtraColumns];
  const wrong = text.split(',').find((name) => !known.includes(name));
  return wrong === undefined ? null : unknownWord(wrong, 'column', known);
}

/** Path of a filing. */
export const filingParams = Type.Object({
  ...s.accountParams,
  filingId: s.string('Id of the filing at the partner service.', { examples: ['f_123'] }),
});

const ofEvent = 'By the newest of `events` that has the filing; null if none has.';

// The fields of `filedWith` in a response.
const filedWithFields = {
  userId: s.stringOrNull(`Who filed it. ${ofEvent}`, { examples: ['user_42'] }),
  documents: s.nullable(Type.Array(Type.String({ examples: ['Signed affidavit'] })), {
    description: `The names of its documents (\`userFiles\`). ${ofEvent}`,
  }),
};

/**
 * Response of GET …/filings/{filingId}; the handler writes its bytes, so that events stay as they were
 * stored.
 */
const filingWithEventsSchema = Type.Unsafe<Buffer>(
  s.described('The filing and its events.', {
    ...filingFields,
    ...filedWithFields,
    events: s.arrayOf(eventSchema, {
      description:
        'Its latest events still in the log, at most 100, oldest first; GET …/events?filingId= gives all.',
    }),
  }),
);

/** Response of GET …/filings. */
export const filingListSchema = s.listWith(
  filingSchema,
  'Filings without removed ones. A page may be shorter than `limit` and still have a next one. In lists of COMPLETED and of all ' +
    'filings, one that changes meanwhile may appear twice.',
  s.optional({
    searched: s.described('Only with `q`.', {
      service: s.oneOf(['asked', 'not_needed', 'unavailable'], {
        description:
          'Whether the partner service was asked for this page. `unavailable`: COMPLETED filings may be missing.',
      }),
      detail: s.stringOrNull('What there is to say about it.'),
    }),
  }),
);

/** Request and responses of GET /v1/accounts/{account}/filings. */
const listFilings = s.operation({
  config: { dear: kindOfList },
  handlerTimeout: exportMs,
  operationId: 'listFilings',
  summary: 'List filings as last seen',
  description:
    'With `Accept: text/csv` the whole list for a spreadsheet (RFC 4180, UTF-8); `limit` and `cursor` have no effect. With `q` it holds at ' +
    'most the first thousand COMPLETED filings that the partner service finds; where that cannot be asked, the answer is 503 or ends early. Texts that a ' +
    'spreadsheet would take for a formula have an apostrophe in front.',
  params: s.inAccount,
  querystring: filingsQuerySchema,
  response: { 200: s.pageOrTable(filingListSchema, 'filing') },
});

const getFiling = s.operation({
  operationId: 'getFiling',
  summary: 'A filing as last seen, and its events',
  description: 'The latest events that the log still holds.',
  params: filingParams,
  response: { 200: filingWithEventsSchema },
});
