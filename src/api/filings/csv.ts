import type { ListedFiling } from '../../filings/filing-list-store.ts';
import { csvLine } from '../shared/csv.ts';
import { filingView } from './view.ts';

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
export interface CsvPage {
  readonly filings: readonly (ListedFiling & { readonly account: string })[];
  /** The `after` of the next one; null at the end. */
  readonly next: string | null;
}

/** A list of filings as CSV, header first, read page by page as fast as the client reads it. */
export async function* filingsCsv(
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
