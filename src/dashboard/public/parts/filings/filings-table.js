import { apiPath } from '../../data/api-client.js';
import { useFaults } from '../../data/pulse.js';
import { useList } from '../../data/use-resource.js';
import { withQuery } from '../../router.js';
import { number } from '../format.js';
import { html } from '../html.js';
import { Age, Failure, FilingLink, Loading, Text } from '../parts.js';
import { queryOf } from './filing-choice.js';
import { keyOf, rowOf, columnsOf, numbers } from './filing-columns.js';
import { Searched } from './searched.js';
import { StillTable } from './still-rows.js';

/** @import { Filing } from '../../../api-types.ts' */
/** @import { FilingChoice } from './filing-choice.js' */
/** @import { Knowledge } from '../../data/figures/knowledge.js' */
/** @import { List } from '../../data/use-resource.js' */

const refreshMs = 5000;

/**
 * The latest rejections of an account. That there are none is an all-clear only while the account is current.
 * @param {{ account: string, knowledge: Knowledge }} props
 */
export function RejectionsTable({ account, knowledge }) {
  const path = `${apiPath('accounts', account, 'filings')}?limit=10&order=newest&status=REJECTED`;
  const faults = useFaults();
  /** @type {List<Filing>} */
  const { data, error, showMore } = useList(path, refreshMs);
  if (data === null) return html`<${Waiting} error=${error} />`;
  return html`<${Failure} error=${error} what="read the filings again" />
    <${StillTable}
      subject=${path}
      items=${data.items}
      keyOf=${keyOf}
      rowOf=${(/** @type {Filing} */ filing) => rejectionRow(account, filing)}
      caption="Rejected filings"
      columns=${['Age', 'Insured', 'Policy', 'State', 'Reason']}
      empty=${allClear(faults.length === 0 ? knowledge : 'old')}
      more=${data.more}
      onMore=${showMore}
    />`;
}

/** @type {(account: string, filing: Filing) => any} */
function rejectionRow(account, filing) {
  const age = html`<${Age} since=${filing.since} />`;
  const link = html`<${FilingLink}
    account=${account}
    filingId=${filing.filingId}
    name=${filing.insuredsName}
  />`;
  const policy = html`<${Text} value=${filing.policyNumber} />`;
  const state = html`<${Text} value=${filing.stateAbbr} />`;
  const reason = html`<span class="clamp reason"><${Text} value=${filing.rejectionReason} /></span>`;
  return {
    cells: [age, link, policy, state, reason],
    card: html`<div class="card-line"><span class="clamp">${link}</span> ${age}</div>
      <div class="card-quiet">${policy} · ${state}</div>
      ${reason}`,
  };
}

/** @type {(knowledge: Knowledge) => string} */
function allClear(knowledge) {
  if (knowledge === 'current') return 'Nothing is rejected. Nobody has to do anything.';
  if (knowledge === 'unknown')
    return 'Not known yet: the filings of this account were never read as a whole.';
  return 'None was rejected at the last complete poll. What happened since is not known.';
}

/**
 * Filings that match, newest or oldest first; the completed ones alone by their id.
 * @param {{ account: string, choice: FilingChoice }} props
 */
export function FilingsTable({ account, choice }) {
  const { status, q } = choice;
  const path = withQuery(`${apiPath('accounts', account, 'filings')}?limit=50`, queryOf(choice));
  /** @type {List<Filing>} */
  const { data, error, showMore } = useList(path, refreshMs);
  if (data === null) return html`<${Waiting} error=${error} />`;
  const columns = columnsOf(status);
  return html`<${Failure} error=${error} what="read the filings again" />
    <${Searched} searched=${data.first.searched ?? null} />
    <${StillTable}
      subject=${path}
      items=${data.items}
      keyOf=${keyOf}
      rowOf=${(/** @type {Filing} */ filing) => rowOf(columns, account, filing)}
      caption="Filings"
      columns=${columns.map(([name]) => name)}
      numbers=${numbers}
      empty=${q === null && choice.state === null ? 'No filing is in this status.' : 'No filing matches.'}
      more=${data.more}
      onMore=${showMore}
    />
    ${data.items.length > 0 && html`<p class="quiet">${number(data.items.length)}${data.more ? ' shown so far' : ' in all'}.</p>`}`;
}

/** @param {{ error: import('../../data/api-client.js').ApiError | null }} props */
function Waiting({ error }) {
  return error === null
    ? html`<${Loading} what="the filings" />`
    : html`<${Failure} error=${error} what="read the filings" />`;
}
