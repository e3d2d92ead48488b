import { apiPath } from '../data/api-client.js';
import { useFaults } from '../data/pulse.js';
import { useList } from '../data/use-resource.js';
import { withQuery } from '../router.js';
import { number, dollars, spaced } from './format.js';
import { html } from '../html.js';
import { Age, Failure, FilingLink, Loading, Text, Badge, When } from './parts.js';
import { StillTable } from './table.js';

/** @import { Filing } from '../../api-types.ts' */
/** @import { Knowledge } from '../data/knowledge.js' */
/** @import { List } from '../data/use-resource.js' */

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

/** @param {{ error: import('../data/api-client.js').ApiError | null }} props */
function Waiting({ error }) {
  return error === null
    ? html`<${Loading} what="the filings" />`
    : html`<${Failure} error=${error} what="read the filings" />`;
}

const completedStatus = 'COMPLETED';

/**
 * Which filings are wanted.
 * @typedef {object} FilingChoice
 * @property {string | null} status null: those that are not completedStatus, or all of a search
 * @property {string | null} state
 * @property {string | null} q words of a search
 * @property {'newest' | 'oldest'} order
 * @property {readonly string[]} statuses every status that the account has had
 */

/**
 * What is asked of `GET …/filings` for a choice; pure. Completed filings have no order of time, and their
 * states are known only in a search.
 * @param {FilingChoice} choice
 * @returns {Record<string, string | null>}
 */
export function queryOf({ status, state, q, order, statuses }) {
  if (q !== null) return { q, status, state, order };
  if (status === completedStatus) return { status };
  // A comma would divide a status in two.
  const open = statuses.filter((one) => one !== completedStatus && !one.includes(','));
  return { status: status ?? open.join(','), state, order };
}

/**
 * Whether the order and the state have an effect on a choice; pure.
 * @param {Pick<FilingChoice, 'status' | 'q'>} choice
 */
export const isSorted = ({ status, q }) => q !== null || status !== completedStatus;

/** @typedef {[name: string, cell: (filing: Filing, account: string) => unknown]} Column */

/** @type {Column} */
const insured = [
  'Insured',
  ({ filingId, insuredsName }, account) =>
    html`<${FilingLink} account=${account} filingId=${filingId} name=${insuredsName} />`,
];
/** @type {Column} */
const policy = ['Policy', ({ policyNumber }) => html`<${Text} value=${policyNumber} />`];
/** @type {Column} */
const state = ['State', ({ stateAbbr }) => html`<${Text} value=${stateAbbr} />`];
/** @type {Column} */
const type = [
  'Type',
  ({ filingType }) => html`<${Text} value=${filingType === null ? null : spaced(filingType)} />`,
];
/** @type {Column} */
const premium = ['Premium', ({ premium: amount }) => html`<${Text} value=${dollars(amount)} />`];
/** @type {Column} */
const status = ['Status', ({ status: word }) => html`<${Badge} word=${word} />`];
/** @type {Column} */
const since = ['Since', ({ since: at }) => html`<${When} at=${at} />`];
/** @type {Column} */
const age = ['Age', ({ since: at }) => html`<${Age} since=${at} />`];
/** @type {Column} */
const completed = ['Completed', ({ completedAt }) => html`<${When} at=${completedAt} never="–" />`];
/** @type {Column} */
const reason = [
  'Reason',
  ({ rejectionReason }) => html`<span class="clamp reason"><${Text} value=${rejectionReason} /></span>`,
];

/** Columns of figures. */
export const numbers = ['Premium'];

/**
 * The columns of filings in one status, or in all; pure. Filings that wait show their age.
 * @param {string | null} only
 * @returns {Column[]}
 */
export function columnsOf(only) {
  switch (only) {
    case null:
      return [insured, policy, state, type, premium, status, since];
    case 'COMPLETED':
      return [insured, policy, state, completed];
    case 'REJECTED':
      return [age, insured, policy, state, premium, reason];
    default:
      return [age, insured, policy, state, type, premium];
  }
}

/** @param {{ filingId: string }} filing */
export const keyOf = ({ filingId }) => filingId;

/**
 * A row of these columns, and the same as a card.
 * @param {Column[]} columns
 * @param {string} account
 * @param {Filing} filing
 */
export function rowOf(columns, account, filing) {
  const time = columns.includes(completed) ? completed : columns.includes(age) ? age : since;
  const show = (/** @type {Column} */ [, cell]) => cell(filing, account);
  return {
    cells: columns.map(show),
    card: html`<div class="card-line"><span class="clamp">${show(insured)}</span> ${show(time)}</div>
      <div class="card-quiet">
        ${filing.policyNumber !== null && html`${show(policy)} · `}${show(state)}
        ${columns.includes(status) && html` ${show(status)}`}
      </div>
      ${filing.rejectionReason !== null && show(reason)}`,
  };
}

/**
 * Whether the partner service was asked too, in words.
 * @typedef {{ service: 'asked' | 'not_needed' | 'unavailable', detail: string | null }} SearchedState
 */

/**
 * The sentence about the places that a search looked through, where it is needed.
 * @param {{ searched: SearchedState | null }} props
 */
export function Searched({ searched }) {
  if (searched === null || searched.detail === null) return null;
  return html`<p class=${searched.service === 'unavailable' ? 'notice warn' : 'quiet'} role="status">
    <${Text} value=${searched.detail} />
  </p>`;
}
