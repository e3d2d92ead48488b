import type { WithDue } from './choices.ts';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ListedFiling } from '../../filings/lists/filing-list-store.ts';
import type { WithTold } from './told.ts';
import { filingView } from './view.ts';
import { headersOnly } from '../shared/paging.ts';

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
  'sinceIsFirstRead',
  'carriersName',
  'createdAt',
  'policyEffectiveDate',
  'dueAt',
] as const;

/** The columns that have to be asked for. */
export const csvExtraColumns = [
  'account',
  'seenBy',
  'seenNote',
  'seenAt',
  'assignee',
  'note',
  'answeredBy',
  'answers',
  'told',
] as const;

/** A column of a table of filings. */
export type CsvColumn = (typeof csvColumns)[number] | (typeof csvExtraColumns)[number];

/** A filing of a table. */
type TableFiling = WithDue<WithTold<ListedFiling>> & { readonly account: string };

/** A stretch of the list that a table shows. */
interface CsvPage {
  readonly filings: readonly TableFiling[];
  /** The `after` of the next one; null at the end. */
  readonly next: string | null;
}

/**
 * Sends a list of filings as a table for a spreadsheet if the client prefers that; null if it does not. The
 * table is CSV, header first, read page by page as fast as the client takes it. HEAD gets the headers.
 */
export function sendTable(
  { method, headers }: Pick<FastifyRequest, 'method' | 'headers'>,
  reply: FastifyReply,
  { name, columns }: { readonly name: string; readonly columns: readonly CsvColumn[] },
  read: (after: string | null) => Promise<CsvPage>,
): FastifyReply | null {
  void reply.header('vary', 'accept');
  if (!wantsCsv(headers.accept)) return null;
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
    // Each page continues from the end of the previous one.
    const page: CsvPage = await read(after);
    yield head + page.filings.map((filing) => line(filing, columns)).join('');
    head = '';
    after = page.next;
  } while (after !== null);
}

function line(filing: TableFiling, columns: readonly CsvColumn[]): string {
  const { seen, note, told, ...shown } = filingView(filing);
  const seenCells = { seenBy: seen?.by ?? null, seenNote: seen?.note ?? null, seenAt: seen?.at ?? null };
  const cells = {
    ...shown,
    ...seenCells,
    note: note?.text ?? null,
    told: toldCell(told),
    account: filing.account,
  };
  return csvLine(columns.map((column) => cells[column]));
}

// `nobody`, or each subscription with the time, separated by semicolons.
function toldCell(told: ReturnType<typeof filingView>['told']): string | null {
  if (told?.length === 0) return 'nobody';
  return (
    told?.map(({ subscription, at }) => (at === null ? subscription : `${subscription} ${at}`)).join('; ') ??
    null
  );
}

// Texts that a spreadsheet may take for a formula: they begin with one of these characters, which may be
// full-width or follow blanks (OWASP, CSV Injection).
const formula = /^[\s\0\uFEFF]*[=+\-@＝＋－＠]|^[\t\r\n]/u;

/**
 * One line of CSV (RFC 4180), with its line break; pure. Null is an empty cell. Texts that a spreadsheet
 * would take for a formula get an apostrophe in front, which spreadsheets hide; numbers stay numbers.
 */
export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * Whether a client prefers CSV to JSON by its Accept header (RFC 9110 §12.5.1). The header has to name
 * `text/csv`; pure.
 */
export function wantsCsv(accept: string | undefined): boolean {
  const csv = qualityOf(accept, 'text/csv');
  return csv > 0 && csv >= qualityOf(accept, 'application/json');
}

function csvCell(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = formula.test(value) ? `'${value}` : value;
  return /[",;\r\n\t]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

function qualityOf(accept = '', type: string): number {
  const ranges = accept.split(',').map((range) => range.split(';').map((part) => part.trim().toLowerCase()));
  const parameters = ranges.find(([name]) => name === type)?.slice(1);
  if (parameters === undefined) return 0;
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return quality === undefined ? 1 : Number(quality) || 0;
}
