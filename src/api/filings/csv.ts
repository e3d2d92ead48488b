import type { Static } from 'typebox';
import type { FilingListStore, FilingPage } from '../../filings/filing-list-store.ts';
import { csvLine } from '../shared/csv.ts';
import { filingView } from './view.ts';
import type { filingSchema } from './schema.ts';

const columns = [
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
] as const satisfies readonly (keyof Static<typeof filingSchema>)[];

const pageFilings = 100;

/** A list of filings as CSV, header first, read page by page as fast as the client reads it. */
export async function* filingsCsv(
  filings: Pick<FilingListStore, 'list'>,
  account: string,
  status: string | null,
): AsyncGenerator<string> {
  // The header goes out with the first page, so that a failure of the store is reported before anything is
  // sent.
  let head = csvLine(columns);
  let after: string | null = null;
  do {
    // Each page begins where the one before ended.
    const page: FilingPage = await filings.list(account, status, after, pageFilings);
    yield head + page.filings.map((filing) => line(filingView(filing))).join('');
    head = '';
    after = page.next;
  } while (after !== null);
}

function line(filing: Static<typeof filingSchema>): string {
  return csvLine(columns.map((column) => filing[column]));
}
