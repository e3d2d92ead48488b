import { dollars } from '../format.js';
import { html } from '../html.js';
import { Age, FilingLink, Text } from '../parts.js';
import { href } from '../../router.js';
import { SeenBy } from './seen.js';
import { StillTable } from './still-rows.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Rejection } from '../../../api-types.ts' */

/**
 * Rejected filings with reason, age, and who took note of them.
 * @param {{ subject: string, items: Rejection[], showsAccount: boolean, empty: ComponentChildren, more:
 * boolean, onMore: () => void, onChanged: () => void }} props
 */
export function RejectionRows({ subject, items, showsAccount, empty, more, onMore, onChanged }) {
  const columns = ['Age', 'Insured', 'Policy', 'State', 'Premium', 'Reason'];
  return html`<${StillTable}
    subject=${subject}
    items=${items}
    keyOf=${(/** @type {Rejection} */ { account, filingId }) => `${account}\n${filingId}`}
    rowOf=${(/** @type {Rejection} */ one) => rowOf(one, showsAccount, onChanged)}
    caption="Rejected filings"
    columns=${[...columns, ...(showsAccount ? ['Account'] : []), 'Seen by']}
    numbers=${['Premium']}
    empty=${empty}
    more=${more}
    onMore=${onMore}
  />`;
}

/** @type {(one: Rejection, showsAccount: boolean, onChanged: () => void) => any} */
function rowOf(one, showsAccount, onChanged) {
  const { account, filingId, insuredsName, policyNumber, stateAbbr, premium, rejectionReason, since, seen } =
    one;
  const age = html`<${Age} since=${since} />`;
  const link = html`<${FilingLink} account=${account} filingId=${filingId} name=${insuredsName} />`;
  const policy = html`<${Text} value=${policyNumber} />`;
  const state = html`<${Text} value=${stateAbbr} />`;
  const reason = html`<span class="clamp reason"><${Text} value=${rejectionReason} /></span>`;
  const place = html`<a href=${href('accounts', account)}><${Text} value=${account} /></a>`;
  const seenBy = html`<${SeenBy}
    account=${account}
    filingId=${filingId}
    name=${insuredsName}
    seen=${seen}
    onChanged=${onChanged}
  />`;
  return {
    cells: [
      age,
      link,
      policy,
      state,
      html`<${Text} value=${dollars(premium)} />`,
      reason,
      ...(showsAccount ? [place] : []),
      seenBy,
    ],
    card: html`<div class="card-line"><span class="clamp">${link}</span> ${age}</div>
      <div class="card-quiet">${policy} · ${state}${showsAccount && html` · ${place}`}</div>
      ${reason}${seenBy}`,
  };
}
