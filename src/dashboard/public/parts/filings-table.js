import { apiPath } from '../data/api-client.js';
import { dollars, spaced } from './format.js';
import { html } from './html.js';
import { Badge, Failure, FilingLink, Loading, Text, When } from './parts.js';
import { Table } from './table.js';
import { useList } from '../data/use-resource.js';

/** @import { Filing } from '../data/api-types.d.ts' */
/** @import { List } from '../data/use-resource.js' */

const refreshMs = 5000;

/**
 * The filings that need action: every rejected filing with its reason and age, newest first.
 * @param {{ account: string }} props
 */
export function RejectionsTable({ account }) {
  return html`<${FilingList}
    account=${account}
    status="REJECTED"
    order="newest"
    limit=${10}
    caption="Rejected filings"
    columns=${['Insured', 'Policy', 'State', 'Reason', 'Rejected']}
    cells=${(/** @type {Filing} */ filing) => [
      html`<${FilingLink} account=${account} filingId=${filing.filingId} name=${filing.insuredsName} />`,
      html`<${Text} value=${filing.policyNumber} />`,
      html`<${Text} value=${filing.stateAbbr} />`,
      html`<span class="clamp"><${Text} value=${filing.rejectionReason} /></span>`,
      html`<${When} at=${filing.since} />`,
    ]}
    empty="Nothing is rejected. Nobody has to do anything."
  />`;
}

/** @typedef {[name: string, cell: (filing: Filing, account: string) => unknown]} Column */

/** @type {Column} */
const idColumn = [
  'Filing',
  ({ filingId }, account) => html`<${FilingLink} account=${account} filingId=${filingId} />`,
];
/** @type {Column} */
const sinceColumn = ['Since', ({ since }) => html`<${When} at=${since} />`];

/** @type {Column[]} */
const everyColumn = [
  idColumn,
  ['Insured', ({ insuredsName }) => html`<${Text} value=${insuredsName} />`],
  ['Policy', ({ policyNumber }) => html`<${Text} value=${policyNumber} />`],
  ['State', ({ stateAbbr }) => html`<${Text} value=${stateAbbr} />`],
  ['Type', ({ filingType }) => html`<${Text} value=${filingType === null ? null : spaced(filingType)} />`],
  ['Premium', ({ premium }) => html`<${Text} value=${dollars(premium)} />`],
  ['Status', ({ status }) => html`<${Badge} word=${status} />`],
  sinceColumn,
];

// The daemon keeps no other fields of COMPLETED filings.
/** @type {Column[]} */
const completedColumns = [
  idColumn,
  ['Completed', ({ completedAt }) => html`<${When} at=${completedAt} never="–" />`],
  sinceColumn,
];

/**
 * Filings in one status, or all.
 * @param {{ account: string, status: string | null }} props
 */
export function FilingsTable({ account, status }) {
  const shown = status === 'COMPLETED' ? completedColumns : everyColumn;
  return html`${
      (status === null || status === 'COMPLETED') &&
      html`<p class="quiet">
        Insured and policy of a completed filing are on its own page, from its last event.
      </p>`
    }
    <${FilingList}
      account=${account}
      status=${status}
      order="id"
      limit=${50}
      caption="Filings"
      columns=${shown.map(([name]) => name)}
      cells=${(/** @type {Filing} */ filing) => shown.map(([, cell]) => cell(filing, account))}
      empty="No filing is in this status."
    />`;
}

/**
 * @param {{ account: string, status: string | null, order: 'id' | 'newest', limit: number, caption: string,
 * columns: string[], cells: (filing: Filing) => unknown[], empty: string }} props
 */
function FilingList({ account, status, order, limit, caption, columns, cells, empty }) {
  const query = status === null ? '' : `&status=${encodeURIComponent(status.toWellFormed())}`;
  const path = `${apiPath('accounts', account, 'filings')}?limit=${limit}&order=${order}${query}`;
  /** @type {List<Filing>} */
  const { data, error, showMore } = useList(path, refreshMs);
  if (data === null)
    return error === null
      ? html`<${Loading} what="filings" />`
      : html`<${Failure} error=${error} what="read the filings" />`;
  const rows = data.items.map((filing) => ({ key: filing.filingId, cells: cells(filing) }));
  return html`<${Failure} error=${error} what="read the filings again" />
    <${Table}
      caption=${caption}
      columns=${columns}
      rows=${rows}
      empty=${empty}
      more=${data.more}
      onMore=${showMore}
    />`;
}
