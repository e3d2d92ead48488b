import { apiOptions, createApiClient, query, type ApiClient } from '../../daemon/api-client.ts';
import { exitCodes } from '../../cli-error.ts';
import { atMost, type Command, type Input } from '../../command.ts';
import { formatFields, formatTable, type Column } from '../../table.ts';
import { countFrom } from './count-from.ts';

interface ShownFiling {
  readonly filingId: string;
  readonly status: string;
  readonly policyNumber: string | null;
  readonly insuredsName: string | null;
  readonly stateAbbr: string | null;
  readonly rejectionReason: string | null;
  readonly since: string | null;
}

interface Page {
  readonly items: readonly ShownFiling[];
  readonly nextCursor: string | null;
  readonly searched?: { readonly service: string; readonly detail: string | null };
}

const columns: readonly Column<ShownFiling>[] = [
  { heading: 'FILING', text: ({ filingId }) => filingId },
  { heading: 'STATUS', text: ({ status }) => status },
  { heading: 'SINCE', text: ({ since }) => since },
  { heading: 'STATE', text: ({ stateAbbr }) => stateAbbr },
  { heading: 'POLICY', text: ({ policyNumber }) => policyNumber },
  { heading: 'INSURED', text: ({ insuredsName }) => insuredsName },
  { heading: 'REASON', text: ({ rejectionReason }) => rejectionReason },
];

const unsorted = 'COMPLETED';

/** `filings`: the filings of an account as last seen, searched and filtered; or one of them. */
export const filings: Command = {
  name: 'filings',
  summary: 'find filings by policy number, insured, status and state, or show one',
  usage: '[ID]',
  options: {
    q: { value: 'TEXT', text: 'part of the policy number, of the name of the insured, or the id' },
    status: {
      value: 'STATUS',
      text: 'only these, e.g. REJECTED; without it, --q and --state all but COMPLETED',
    },
    state: { value: 'STATE', text: 'only filings of this state, e.g. TX' },
    oldest: { text: 'oldest first instead of newest first' },
    limit: { value: 'NUMBER', text: 'at most this many, up to 100 (default: 50)' },
    cursor: { value: 'CURSOR', text: 'the next page, as an earlier run printed it' },
    json: { text: 'JSON instead of a table' },
    ...apiOptions,
  },
  examples: [
    'filing-webhooks filings --q SL-2024-0117',
    'filing-webhooks filings --status REJECTED --state TX --oldest',
  ],
  async run(input, context) {
    atMost(input, 1);
    const client = createApiClient(input, context);
    const asJson = input.flag('json');
    const [id] = input.positionals;
    if (id !== undefined) {
      const found = await client.get<Record<string, unknown>>(`/filings/${encodeURIComponent(id)}`);
      context.out(asJson ? JSON.stringify(found, null, 2) : formatFields(found));
      return exitCodes.ok;
    }
    const [limit, cursor] = [countFrom(input, 'limit', 50), input.text('cursor')];
    const choice = await choiceOf(client, input);
    const page = await client.get<Page>(`/filings${query({ ...choice, limit, cursor })}`);
    if (asJson) context.out(JSON.stringify(page, null, 2));
    else if (page.items.length > 0) context.out(formatTable(columns, page.items));
    else context.note('No filing matches.');
    const unsure = page.searched?.service === 'unavailable' ? page.searched.detail : null;
    if (unsure !== null) context.note(unsure);
    if (page.nextCursor !== null) context.note(`There are more: --cursor ${page.nextCursor}`);
    return exitCodes.ok;
  },
};

// Filings that are COMPLETED have no order of time: without a filter the others are listed.
async function choiceOf(client: ApiClient, input: Input): Promise<Record<string, string | null>> {
  const [q, state, status] = [input.text('q'), input.text('state'), input.text('status')];
  const order = input.flag('oldest') ? 'oldest' : 'newest';
  if (q !== null || state !== null) return { q, state, status, order };
  if (status !== null) {
    const words = status.split(',').map((word) => word.trim().toUpperCase());
    return { status, order: words.includes(unsorted) && !input.flag('oldest') ? null : order };
  }
  const { counts } = await client.get<{ counts: Readonly<Record<string, number | null>> }>('');
  // A comma would divide a status in two.
  const open = Object.keys(counts).filter((one) => one !== unsorted && !one.includes(','));
  return { status: open.join(','), order };
}
