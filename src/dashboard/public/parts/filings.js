import { html } from '../html.js';
import { apiPath, useList } from '../data/api.js';
import { useFaults } from '../data/daemon.js';
import { href, withQuery } from '../router.js';
import { dollars, number, spaced } from './format.js';
import { Age, Badge, FilingLink, Text, useNow, When, whenRead } from './parts.js';
import { StillTable } from './tables.js';
import { ToldTo } from './told.js';
import { SeenBy } from './triage.js';

/** @import { Filing, FilingPage, Rejection } from '../../api-types.ts' */
/** @import { Knowledge } from './account-parts.js' */
/** @import { List } from '../data/api.js' */
/** @import { Row } from './tables.js' */

const refreshMs = 5000;
const completed = 'COMPLETED';

/**
 * A filing of a list; a rejection of the board has not every field, and its account.
 * @typedef {Pick<Rejection, keyof Rejection & keyof Filing> & Partial<Filing & Rejection>} Listed
 */

/** @type {Readonly<Record<string, (filing: Listed, account: string, onChanged: () => void) => any>>} */
const cells = {
  Age: (filing) => html`<${FilingAge} filing=${filing} />`,
  Insured: ({ filingId, insuredsName, answeredBy }, account) => {
    const link = html`<${FilingLink} account=${account} filingId=${filingId} name=${insuredsName} />`;
    return answeredBy === null ? link : html`<s>${link}</s>`;
  },
  Policy: ({ policyNumber }) => html`<${Text} value=${policyNumber} />`,
  State: ({ stateAbbr }) => html`<${Text} value=${stateAbbr} />`,
  Type: ({ filingType }) => html`<${Text} value=${filingType && spaced(filingType)} />`,
  Premium: ({ premium }) => html`<${Text} value=${dollars(premium)} />`,
  Status: ({ status }) => html`<${Badge} word=${status} />`,
  Due: ({ dueAt }) => html`<${Due} at=${dueAt} />`,
  Since: ({ since }) => html`<${When} at=${since} />`,
  Completed: ({ completedAt = null }) => html`<${When} at=${completedAt} never="–" />`,
  Reason: ({ rejectionReason }) =>
    html`<span class="clamp reason"><${Text} value=${rejectionReason} /></span>`,
  Account: (_, account) => html`<a href=${href('accounts', account)}><${Text} value=${account} /></a>`,
  'Answered by': ({ answeredBy }, account) =>
    html`<${FilingLink} account=${account} filingId=${answeredBy} />`,
  Told: (filing) => html`<${ToldTo} filing=${filing} />`,
  'Seen by': (filing, account, onChanged) =>
    html`<${SeenBy} account=${account} filing=${filing} onChanged=${onChanged} />`,
};

/**
 * How long a filing has been in its status. Of one that was so at its first read it says so, and when it was
 * filed.
 * @param {{ filing: Pick<Listed, 'since' | 'sinceIsFirstRead' | 'createdAt'> }} props
 */
export function FilingAge({ filing: { since, sinceIsFirstRead, createdAt } }) {
  const filed = createdAt === null || Number.isNaN(Date.parse(createdAt)) ? null : createdAt;
  return html`<span
    ><${Age} since=${since} atLeast=${sinceIsFirstRead} />${
      sinceIsFirstRead &&
      html`<span class="quiet"
        >, so when first read${filed !== null && html`; filed <${When} at=${filed} />`}</span
      >`
    }</span
  >`;
}

/**
 * When a filing is due, in words once that is past.
 * @param {{ at: string | null }} props
 */
export function Due({ at }) {
  const now = useNow();
  if (at === null) return html`<span class="none">–</span>`;
  return Date.parse(at) > now
    ? html`<span>due <${When} at=${at} /></span>`
    : html`<span class="age bad">overdue by <${Age} since=${at} tone="bad" /></span>`;
}

/**
 * The columns of filings in one status, or in all; pure. Filings that wait show their age.
 * @param {string | null} status
 */
export function columnsOf(status) {
  if (status === null) return ['Insured', 'Policy', 'State', 'Type', 'Premium', 'Status', 'Since'];
  if (status === completed) return ['Insured', 'Policy', 'State', 'Completed'];
  const open = ['Age', 'Insured', 'Policy', 'State', 'Premium'];
  return status === 'REJECTED' ? [...open, 'Reason', 'Told'] : [...open, 'Type'];
}

/** Columns of figures. */
export const numbers = ['Premium'];

/**
 * A row of these columns, and the same as a card.
 * @param {readonly string[]} columns
 * @param {string} account
 * @param {Listed} filing
 * @param {() => void} [onChanged] called after a person took note of it
 * @returns {Row}
 */
export function rowOf(columns, account, filing, onChanged = () => {}) {
  const show = (/** @type {string} */ column) => cells[column]?.(filing, account, onChanged);
  const has = (/** @type {string} */ column) => columns.includes(column);
  const time = ['Completed', 'Age'].find(has) ?? 'Since';
  return {
    key: `${account}\n${filing.filingId}`,
    cells: columns.map(show),
    card: html`<div class="card-line"><span class="clamp">${show('Insured')}</span> ${show(time)}</div>
      <div class="quiet">
        ${filing.policyNumber !== null && html`${show('Policy')} · `}${show('State')}
        ${has('Status') && html` ${show('Status')}`} ${has('Account') && html` · ${show('Account')}`}
      </div>
      ${has('Due') && filing.dueAt !== null && html`<div>${show('Due')}</div>`}
      ${filing.rejectionReason !== null && show('Reason')}
      ${has('Told') && html`<div><span class="quiet">Told:</span> ${show('Told')}</div>`}
      ${has('Seen by') && show('Seen by')}
      ${has('Answered by') && html`<div>Answered by ${show('Answered by')}</div>`}`,
  };
}

/**
 * The latest rejections of an account. That there are none is an all-clear only while the account is current.
 * @param {{ account: string, knowledge: Knowledge }} props
 */
export function RejectionsTable({ account, knowledge }) {
  const path = withQuery('v1/rejections', { account, limit: '10', order: 'newest' });
  const isAway = useFaults().length > 0;
  return html`<${FilingsList}
    account=${account}
    path=${path}
    columns=${['Age', 'Insured', 'Policy', 'State', 'Reason', 'Told']}
    caption="Rejected filings"
    empty=${allClear(isAway ? 'old' : knowledge)}
  />`;
}

/** @type {(knowledge: Knowledge) => string} */
function allClear(knowledge) {
  if (knowledge === 'current') return 'Nothing is rejected. Nobody has to do anything.';
  if (knowledge === 'unknown')
    return 'Not known yet: the filings of this account were never read as a whole.';
  return 'None was rejected at the last complete poll. What happened since is not known.';
}

/**
 * Which filings are wanted.
 * @typedef {object} FilingChoice
 * @property {string | null} status null: those that are not completed, or all of a search
 * @property {string | null} state
 * @property {string | null} q words of a search
 * @property {'newest' | 'oldest' | 'due' | 'any'} order
 * @property {readonly string[]} statuses every status that the account has had
 */

/**
 * Filings that match, newest or oldest first; the completed ones alone newest first or in no order.
 * @param {{ account: string, choice: FilingChoice }} props
 */
export function FilingsTable({ account, choice }) {
  const { status, state, q, order } = choice;
  const isOfLog = !isSorted(choice) && order !== 'any';
  const none = q === null && state === null ? 'No filing is in this status.' : 'No filing matches.';
  return html`<${FilingsList}
    account=${account}
    path=${withQuery(`${apiPath('accounts', account, 'filings')}?limit=50`, queryOf(choice))}
    columns=${columnsOf(status)}
    caption="Filings"
    empty=${isOfLog ? 'The log has no completed filing. Choose the order All to see those of before.' : none}
    isCounted
  />`;
}

/**
 * Whether the order and the state have an effect on a choice; pure. Completed filings come newest first or in
 * no order, and their states are known only in a search.
 * @param {Pick<FilingChoice, 'status' | 'q'>} choice
 */
export const isSorted = ({ status, q }) => q !== null || status !== completed;

/** @type {(choice: FilingChoice) => Record<string, string | null>} */
function queryOf({ status, state, q, order, statuses }) {
  if (!isSorted({ status, q })) return order === 'any' ? { status } : { status, order: 'newest' };
  const sorted = order === 'any' ? 'newest' : order;
  if (q !== null) return { q, status, state, order: sorted };
  // A comma would divide a status in two.
  const open = statuses.filter((one) => one !== completed && !one.includes(','));
  return { status: status ?? open.join(','), state, order: sorted };
}

/**
 * @param {{ account: string, path: string, columns: string[], caption: string, empty: string, isCounted?:
 * boolean }} props
 */
function FilingsList({ account, path, isCounted = false, ...table }) {
  /** @type {List<Filing>} */
  const list = useList(path, refreshMs);
  const show = (/** @type {NonNullable<typeof list.data>} */ { items, more, first }) =>
    html`<${Searched} page=${first} />
      <${StillTable}
        subject=${path}
        rows=${items.map((filing) => rowOf(table.columns, account, filing))}
        numbers=${numbers}
        more=${more}
        onMore=${list.showMore}
        ...${table}
      />
      ${
        isCounted &&
        items.length > 0 &&
        html`<p class="quiet">${number(items.length)}${more ? ' shown so far' : ' in all'}.</p>`
      }`;
  return whenRead(list, 'the filings', show);
}

/**
 * States which places a search covered, if that needs saying.
 * @param {{ page: FilingPage }} props
 */
export function Searched({ page: { searched } }) {
  if (!searched?.detail) return null;
  return html`<p class=${searched.service === 'unavailable' ? 'notice warn' : 'quiet'} role="status">
    <${Text} value=${searched.detail} />
  </p>`;
}
