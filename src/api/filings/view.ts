import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Static } from 'typebox';
import type { ListedFiling } from '../../filings/lists/filing-list-store.ts';
import { csvLine } from '../shared/csv.ts';
import { headersOnly } from '../shared/paging.ts';
import type { filingSchema } from './schema.ts';

/** A filing as the API shows it; pure. */
export function filingView({ id, state, details, seen }: ListedFiling): Static<typeof filingSchema> {
  return {
    filingId: id,
    status: state.status,
    since: new Date(state.since).toISOString(),
    completedAt: state.completedAt,
    rejectionReason: state.rejectionReason,
    sequence: state.sequence,
    removed: state.removed,
    policyNumber: details?.policyNumber ?? null,
    insuredsName: details?.insuredsName ?? null,
    stateAbbr: details?.stateAbbr ?? null,
    filingType: details?.filingType ?? null,
    premium: details?.premium ?? null,
    seen: seen === null ? null : { by: seen.by, note: seen.note, at: new Date(seen.at).toISOString() },
  };
}

const csvType = 'text/csv; charset=utf-8; header=present';

/** The columns of a table of filings, in their order, without those that have to be asked for. */
export const csvColumns = [
  'filingId',
  'status',
  'since',
  'insuredsName',
  'policyNumber',
  'stateAbbr',
  'filingType',
  'premium',
  'rejectionReason',
  'completedAt',
  'sequence',
] as const;

/** The columns that have to be asked for. */
export const csvExtraColumns = ['account', 'seenBy', 'seenNote', 'seenAt'] as const;

/** A column of a table of filings. */
export type CsvColumn = (typeof csvColumns)[number] | (typeof csvExtraColumns)[number];

/** A stretch of the list that a table shows. */
interface CsvPage {
  readonly filings: readonly (ListedFiling & { readonly account: string })[];
  /** The `after` of the next one; null at the end. */
  readonly next: string | null;
}

/**
 * Answers a list of filings as a table for a spreadsheet: CSV, header first, read page by page as fast as the
 * client takes it. HEAD gets the headers.
 */
export function sendTable(
  method: string,
  reply: FastifyReply,
  { name, columns }: { readonly name: string; readonly columns: readonly CsvColumn[] },
  read: (after: string | null) => Promise<CsvPage>,
): FastifyReply {
  void reply.header('content-disposition', `attachment; filename="${name}.csv"`);
  if (method === 'HEAD') return headersOnly(reply, csvType);
  void reply.type(csvType);
  return reply.send(Readable.from(filingsCsv(read, columns)));
}

async function* filingsCsv(
  read: (after: string | null) => Promise<CsvPage>,
  columns: readonly CsvColumn[],
): AsyncGenerator<string> {
  // The header goes out with the first page, so that a failure of the store is reported before anything is
  // sent.
  let head = csvLine(columns);
  let after: string | null = null;
  do {
    // Each page begins where the one before ended.
    const page: CsvPage = await read(after);
    yield head + page.filings.map((filing) => line(filing, columns)).join('');
    head = '';
    after = page.next;
  } while (after !== null);
}

function line(filing: ListedFiling & { readonly account: string }, columns: readonly CsvColumn[]): string {
  const { seen, ...shown } = filingView(filing);
  const seenCells = { seenBy: seen?.by ?? null, seenNote: seen?.note ?? null, seenAt: seen?.at ?? null };
  const cells = { ...shown, ...seenCells, account: filing.account };
  return csvLine(columns.map((column) => cells[column]));
}
