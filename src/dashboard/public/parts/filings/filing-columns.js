import { dollars, spaced } from '../format.js';
import { html } from '../html.js';
import { Age, Badge, FilingLink, Text, When } from '../parts.js';

/** @import { Filing } from '../../../api-types.ts' */

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
